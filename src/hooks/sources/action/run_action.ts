/**
 * Hooks that are no commands: requests to a web server, tools of MCP servers, questions to a model of the embedder. Each
 * gets the event that a command would get on stdin, and its answer is read as a command's would be.
 *
 * @module
 */
import { HostError, messageOf } from "../../../core/errors/host_error.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import { eventOf } from "../../files/dialects/all.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";
import type { HookEvent, HookResponse } from "../../engine/types.ts";
import { inEffect } from "../command/effects.ts";
import { hookAnswer } from "../command/hook_output.ts";
import type { CallHookTool } from "../mcp/mcp_hooks.ts";
import { filledInput, filledPrompt } from "./fill_in.ts";
import { type PostEvent, readPosted } from "./post_event.ts";

/** A question of a hook to a model: whether the event is in order. */
export interface HookPrompt {
  /** `agent` questions may be answered with tools, over several turns. */
  readonly type: "prompt" | "agent";
  /** The question, with the event filled in as JSON. */
  readonly prompt: string;
  /** The model that the file asks for. */
  readonly model?: string;
  /** The event as a command would get it. */
  readonly event: Readonly<Record<string, unknown>>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The answer of the embedder's model. */
export interface HookVerdict {
  /** Whether the event is in order. */
  readonly ok: boolean;
  /** Why the step is not to go on. */
  readonly reason?: string;
  /** Whether the agent cannot do better, and is not to go on for this. */
  readonly impossible?: boolean;
}

/** The means of actions. A type without its means does not run, and is left out when files are loaded. */
export interface ActionMeans {
  readonly post: PostEvent;
  readonly callTool: CallHookTool;
  readonly onPrompt?: (question: HookPrompt) => Promise<HookVerdict>;
}

/** One run of the action of one hook. */
export interface ActionRun {
  readonly hook: LoadedHook;
  readonly event: HookEvent;
  /** The event in the words of the hook's dialect, as JSON. */
  readonly input: string;
  readonly signal: AbortSignal;
}

/**
 * Runs the action of a hook.
 *
 * @throws {HostError} `hook.command_failed`, `hook.answer_invalid`
 */
export async function runAction(run: ActionRun, means: ActionMeans): Promise<HookResponse | null> {
  const { hook, event, input, signal } = run;
  const { action } = hook;
  if (action === undefined) throw failed(hook, "it has nothing to do");
  const told = JSON.parse(input) as Record<string, unknown>;
  if (action.type === "http") {
    const said = readPosted(
      await means.post(action, input, signal).catch((error) => Promise.reject(failed(hook, messageOf(error), error))),
    );
    if ("problem" in said) throw failed(hook, said.problem);
    return hookAnswer(hook, ended(said.text), event);
  }
  if (action.type === "mcp_tool") {
    const args = filledInput(action.input, told);
    if ("missing" in args) throw failed(hook, `the event has no field "${args.missing}"`);
    const text = await means.callTool(action.server, action.tool, args.input, signal);
    return hookAnswer(hook, ended(text), event);
  }
  const { type, prompt, model, continueOnBlock } = action;
  if (means.onPrompt === undefined) throw failed(hook, "nobody answers questions to a model here");
  const question = {
    type,
    prompt: filledPrompt(prompt, input),
    event: told,
    signal,
    ...(model !== undefined && { model }),
  };
  const verdict: unknown = await means.onPrompt(question);
  if (!isMap(verdict) || typeof verdict["ok"] !== "boolean") throw failed(hook, "the model's answer has no ok");
  return judged(hook, verdict as unknown as HookVerdict, continueOnBlock);
}

/** Returns what a model's no does: at the end of a turn the agent goes on; after a call it hears why, or stops. */
function judged(
  hook: LoadedHook,
  { ok, reason = "", impossible }: HookVerdict,
  continueOnBlock: boolean,
): HookResponse | null {
  const moment = eventOf(hook);
  if (ok || (impossible === true && (moment.turnEnd || hook.hook === "SubagentStop"))) return null;
  const stops = hook.hook === "PostToolUse" && !continueOnBlock;
  return inEffect(stops ? "block" : moment.exit2, reason, hook);
}

const ended = (stdout: string) => ({ exit: { code: 0, signal: null }, ended: "exit" as const, stdout, stderr: "" });

function failed({ id, file, line }: LoadedHook, why: string, cause?: unknown): HostError {
  const data = { id, file, line };
  return new HostError("hook.command_failed", `${id} (${file}:${line}): ${why}`, {
    data,
    ...(cause !== undefined && { cause }),
  });
}
