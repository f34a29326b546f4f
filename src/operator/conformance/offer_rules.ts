/**
 * Rules of what a plugin offers: methods, tools, hooks, and what it sends of its own accord.
 *
 * @module
 */
import { messageOf } from "../../core/errors/host_error.ts";
import { completeParams } from "../../hooks/sources/plugin/lifecycle.ts";
import { compileSchema } from "../../core/schema/compile_schema.ts";
import { readPluginAnswer } from "../../hooks/sources/plugin/plugin_hooks.ts";
import { type Answer, STEP_MS } from "./conversation.ts";
import { ailment, codeOf, failed, from, ok, type RuleTable, said, skipped, type Verdict } from "./rule.ts";
import type { Stage } from "./stage.ts";
import { sampleValue } from "./sample_value.ts";

const CONTEXT = {
  operator_id: "conformance",
  project_id: "conformance",
  agent_path: "primary",
  session_id: "ses_conformance",
  request_id: "req_conformance",
};
const NO_AGENT = { ...CONTEXT, project_id: null, agent_path: null, session_id: null };
const TRACED = { ...CONTEXT, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", a_later_field: 1 };
const CALL_MS = 30_000;
/** Longest that a call, the ping after it and a fresh start before it may take together. */
const CALL_STEPS_MS = CALL_MS + 3 * STEP_MS;
/** Codes that say "I did not understand the call", where the call was fine. */
const MISUNDERSTOOD = [-32700, -32600, -32601];

/** Rules about methods, tools and hooks. */
export const OFFER_RULES: RuleTable = {
  "methods": {
    ...from("K-013", "calls"),
    expected: "Answers every method its manifest declares",
    hint: "Answer declared methods with a result, or with an error of your own such as -32602",
    deadlineMs: ({ methods }) => CALL_STEPS_MS * (1 + methods.length),
    attempt: (stage) => callEach(stage, stage.manifest.methods.map((method) => [method, {}, NO_AGENT])),
  },
  "tools": {
    ...from("K-015", "calls"),
    expected: "Answers every tool with arguments its schema allows",
    hint: "A tool is the method <plugin>.<tool>; its arguments are the params",
    deadlineMs: ({ tools }) => CALL_STEPS_MS * (1 + tools.length),
    async attempt(stage) {
      const calls: Call[] = [];
      for (const { wireName, args, fits } of await toolSamples(stage)) if (fits) calls.push([wireName, args, CONTEXT]);
      return await callEach(stage, calls);
    },
  },
  "tools.arguments": {
    ...from("K-017", "what-a-plugin-owes-the-host"),
    expected: "Survives arguments that its schema forbids",
    hint: "Answer them with -32602, and go on",
    needs: ["tools"],
    deadlineMs: ({ tools }) => CALL_STEPS_MS * (1 + tools.length),
    async attempt(stage) {
      const forbidden = { "": [] };
      const calls: Call[] = [];
      for (const { name, parameters_schema: schema } of stage.manifest.tools) {
        const isForbidden = (await compileSchema(schema)).issues(forbidden).length > 0;
        if (isForbidden) calls.push([`${stage.manifest.name}.${name}`, forbidden, CONTEXT]);
      }
      return await callEach(stage, calls);
    },
  },
  "context": {
    ...from("K-015", "calls"),
    expected: "Takes a context without an agent, and one with fields it does not know",
    hint: "Read the fields of _context that you need; the others may be null, missing or new",
    needs: ["methods", "tools"],
    deadlineMs: () => 3 * CALL_STEPS_MS,
    async attempt(stage) {
      const [tool] = (await toolSamples(stage)).filter(({ fits }) => fits);
      const method = tool?.wireName ?? stage.manifest.methods[0];
      if (method === undefined) return skipped("It has neither tool nor method");
      const args = tool?.args ?? {};
      return await callEach(stage, [[method, args, NO_AGENT], [method, args, TRACED]]);
    },
  },
  "hooks": {
    ...from("K-018", "calls"),
    expected: "Answers every hook it subscribes to, in the shape of that hook",
    hint: "Answer null, or what the hook's schema says: see the generated hook reference",
    deadlineMs: ({ hooks }) => CALL_STEPS_MS * (1 + hooks.length),
    async attempt(stage) {
      const talk = await stage.running();
      for (const hook of stage.manifest.hooks) {
        const given = completeParams(hook, {}, { ...CONTEXT, nowMs: 0 });
        const params = { ...given, _context: CONTEXT };
        const answer = await talk.ask(`kaged.hook.${hook}`, params, { timeoutMs: CALL_MS });
        const problem = hookProblem(hook, answer);
        if (problem !== null) return failed(`${hook}: ${problem}`);
      }
      const { hooks } = stage.manifest;
      return hooks.length === 0 ? skipped("It subscribes to none") : ok(hooks.join(", "));
    },
  },
  "concurrent": {
    ...from("K-013", "what-a-plugin-owes-the-host"),
    expected: "Answers ten requests at once, each under its own id",
    hint: "Read on while you work, or answer one after another; leave none out",
    needs: ["tools"],
    async attempt(stage) {
      const talk = await stage.running();
      const [tool] = (await toolSamples(stage)).filter(({ fits }) => fits);
      const asked = Array.from({ length: 10 }, (_, index) => {
        const isPing = !tool || index % 2 === 1;
        const id = 1_000 + index;
        return isPing
          ? talk.ask("ping", {}, { id, timeoutMs: CALL_MS })
          : talk.ask(tool.wireName, { ...tool.args, _context: CONTEXT }, { id, timeoutMs: CALL_MS });
      });
      const missing = (await Promise.all(asked)).filter((answer) => answer.missing !== undefined);
      return missing.length === 0 ? ok("10 answers") : failed(`${missing.length} missing: ${missing[0]?.missing}`);
    },
  },
};

type Call = readonly [method: string, params: Readonly<Record<string, unknown>>, context: unknown];

/** Makes calls one after another; any understood answer will do, errors of its own among them. */
async function callEach(stage: Stage, calls: readonly Call[]): Promise<Verdict> {
  const refused: string[] = [];
  for (const [method, params, context] of calls) {
    const talk = await stage.running();
    const answer = await talk.ask(method, { ...params, _context: context }, { timeoutMs: CALL_MS });
    const code = codeOf(answer);
    if (answer.missing !== undefined || MISUNDERSTOOD.includes(code ?? 0)) return failed(`${method}: ${said(answer)}`);
    if (code !== undefined) refused.push(`${method} with ${code}`);
    const problem = await ailment(talk);
    if (problem !== null) return failed(`${method}: ${problem}`);
  }
  if (calls.length === 0) return skipped("There is none to call");
  const names = [...new Set(calls.map(([method]) => method))].join(", ");
  return ok(refused.length === 0 ? names : `${names}; refused ${[...new Set(refused)].join(", ")}`);
}

interface ToolSample {
  readonly wireName: string;
  readonly args: Record<string, unknown>;
  /** Whether the tool's own schema allows them. */
  readonly fits: boolean;
}

async function toolSamples({ manifest }: Stage): Promise<ToolSample[]> {
  return await Promise.all(manifest.tools.map(async ({ name, parameters_schema: schema }) => {
    const args = sampleValue(schema) as Record<string, unknown>;
    return {
      wireName: `${manifest.name}.${name}`,
      args,
      fits: (await compileSchema(schema)).issues(args).length === 0,
    };
  }));
}

function hookProblem(hook: string, answer: Answer): string | null {
  if (answer.missing !== undefined || answer.response.error !== undefined) return said(answer);
  try {
    readPluginAnswer(hook, "the plugin", answer.response.result);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
