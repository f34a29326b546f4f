/**
 * Steps of a run that the host times and reports: work that an agent hands to another, and calls of a model.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import { isMap } from "../core/values/plain_data.ts";
import { tokensIn } from "../events/tokens_in.ts";
import type { TokenUsage } from "../events/types.ts";
import { agentHooks } from "../hooks/agent/agent_hooks.ts";
import type { AgentContext, AgentSteps, RunResult } from "../jobs/agent.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import type { Host } from "./types.ts";

/** The host around the steps of one run. */
interface StepPorts {
  readonly host: Pick<Host, "hooks" | "emit">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly jobs: JobsClient;
  /** Keeps text of handlers for the next model call of the session. */
  keep(texts: readonly string[]): void;
}

/** The steps of a run, and the tokens that its calls of models used. */
export interface RunSteps extends AgentSteps {
  /** Null while no model was called. */
  usage(): TokenUsage | null;
}

/** Returns the steps of a run. */
export function runSteps(base: AgentContext, ports: StepPorts): RunSteps {
  const { host, clock } = ports;
  const { agentName, conversationId } = base;
  let used: TokenUsage | null = null;

  function called(model: string, usage: Omit<TokenUsage, "totalTokens">, duration: number): void {
    const { promptTokens, completionTokens } = usage;
    used = {
      promptTokens: (used?.promptTokens ?? 0) + promptTokens,
      completionTokens: (used?.completionTokens ?? 0) + completionTokens,
      totalTokens: (used?.totalTokens ?? 0) + promptTokens + completionTokens,
    };
    host.emit("model:call", { agentName, model, ...usage, duration, conversationId });
  }

  return {
    usage: () => used,
    delegate: (agent, input) => delegated(childOf(agentName, agent), input, base, ports),
    async callModel(model, call) {
      const startedMs = clock.monotonic();
      const answer = await call();
      const durationMs = clock.monotonic() - startedMs;
      const usage = isMap(answer) ? answer["totalUsage"] ?? answer["usage"] : null;
      // The usage of a streamed answer is a promise: it is known when the stream has ended.
      if (usage instanceof Promise) {
        void usage.then((said) => called(model, tokensIn(said), clock.monotonic() - startedMs), () => {});
      } else called(model, tokensIn(usage), durationMs);
      return answer;
    },
  };
}

/** A bare name is a subagent of the agent; anything else is a path. */
function childOf(parent: string, agent: string): string {
  return agent.includes(".") || agent === "primary" ? agent : `${parent}.subagents.${agent}`;
}

async function delegated(child: string, task: string, base: AgentContext, ports: StepPorts): Promise<RunResult> {
  const { agentName: parentAgent, conversationId, scopeId, signal, emit } = base;
  const { host, clock, jobs, keep } = ports;
  const name = child.slice(child.lastIndexOf(".") + 1);
  const depth = child.split(".subagents.").length - 1;
  const hooks = agentHooks(host.hooks, { session: conversationId, agent: parentAgent });
  const start = await hooks.onSubagent({ phase: "start", name, depth, input: task });
  keep(start.context);
  if (start.blocked) {
    const { blockedBy: by, reason } = start;
    throw new HostError("tool.blocked", `"${by}" blocked the work of "${child}": ${reason}`, {
      data: { tool: "delegate", agent: child, hook: "SubagentStart", by, reason },
      hint: "Do what the reason says, or ask the owner of the hook",
    });
  }
  const input = typeof start.input === "string" ? start.input : task;
  const startedMs = clock.monotonic();
  const at = { parentAgent, childAgent: child, conversationId };
  host.emit("delegate:start", { ...at, input });
  let output = "";
  try {
    const request = { agentName: child, input, conversationId, ...(scopeId !== undefined && { scopeId }) };
    const result = await jobs.run(request, { signal, emit });
    const durationMs = clock.monotonic() - startedMs;
    const stop = await hooks.onSubagent({ phase: "stop", name, depth, input, output: result.output, durationMs });
    keep(stop.context);
    output = typeof stop.output === "string" ? stop.output : result.output;
    return { ...result, output };
  } finally {
    host.emit("delegate:end", { ...at, output, duration: clock.monotonic() - startedMs });
  }
}
