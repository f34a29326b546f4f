/**
 * Exit code and stdout of a command → an answer in the one portable shape (B-018). Output that cannot
 * be read is a failure of the hook, never a decision.
 *
 * @module
 */
import { HostError, type HostErrorCode, messageOf } from "../../../core/errors/host_error.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import type { FileHook } from "../../files/types.ts";
import type { HookResponse, PortableHookName } from "../../engine/types.ts";
import { hookShape } from "./hook_input.ts";
import type { CommandEnd } from "./types.ts";
import { endingOf } from "../../../core/values/ending_of.ts";

const BLOCK = 2;
const ACTIONS: readonly unknown[] = ["passThrough", "injectContext", "block", "modify"];
const MAX_SAID = 2_000;
/** Moments at which Claude Code takes plain text on stdout for context. */
const PLAIN_CONTEXT: ReadonlySet<PortableHookName> = new Set(["SessionStart", "UserPromptSubmitted"]);

/**
 * Returns the answer of a command, or null when it had nothing to say.
 *
 * @throws {HostError} `hook.command_timeout`, `hook.command_failed`, `hook.output_too_large`, `hook.answer_invalid`
 */
export function hookAnswer(hook: FileHook, end: CommandEnd): HookResponse | null {
  const { exit, stdout, stderr, ended } = end;
  const said = stderr.trim().slice(0, MAX_SAID);
  if (ended === "timeout") {
    throw failure("hook.command_timeout", hook, `it took longer than ${hook.timeoutMs / 1000} s and was ended`);
  }
  if (ended === "flood") throw failure("hook.output_too_large", hook, "it printed too much and was ended");
  if (ended === "aborted") throw failure("hook.command_failed", hook, "it was ended: nobody waits for it any more");
  if (exit.code === BLOCK) return { action: "block", reason: said || `The hook ${hook.id} gave no reason` };
  if (exit.code !== 0) {
    throw failure("hook.command_failed", hook, `it ended ${endingOf(exit)}${said === "" ? "" : `: ${said}`}`);
  }
  return answerIn(hook, stdout.trim());
}

function answerIn(hook: FileHook, stdout: string): HookResponse | null {
  if (stdout === "") return null;
  if (!stdout.startsWith("{")) {
    if (hookShape(hook) !== "claude" || !PLAIN_CONTEXT.has(hook.hook)) return null;
    return { action: "injectContext", additionalContext: [stdout] };
  }
  let said: unknown;
  try {
    said = JSON.parse(stdout);
  } catch (error) {
    const why = isSeveral(stdout) ? "it printed more than one JSON object" : `its JSON is broken: ${messageOf(error)}`;
    throw failure("hook.answer_invalid", hook, why);
  }
  if (!isMap(said)) return null;
  return ACTIONS.includes(said["action"]) ? portableAnswer(said) : nativeAnswer(said, hook);
}

/** The portable envelope (B-006): what does not have its type is left out. */
function portableAnswer(said: Record<string, unknown>): HookResponse {
  const action = said["action"] as HookResponse["action"];
  const { reason, metadata, priority } = said;
  return {
    action,
    ...(typeof priority === "number" && { priority }),
    ...(typeof reason === "string" && { reason }),
    additionalContext: texts(said["additionalContext"]),
    warnings: texts(said["warnings"]),
    ...(action === "modify" && Object.hasOwn(said, "modifiedInput") && { modifiedInput: said["modifiedInput"] }),
    ...(action === "modify" && Object.hasOwn(said, "modifiedOutput") && { modifiedOutput: said["modifiedOutput"] }),
    ...(isMap(metadata) && { metadata }),
  };
}

/** Reads an answer in the words of Claude Code, VS Code and Copilot. */
function nativeAnswer(said: Record<string, unknown>, hook: FileHook): HookResponse | null {
  const specific = isMap(said["hookSpecificOutput"]) ? said["hookSpecificOutput"] : {};
  const both = { ...said, ...specific };
  const warnings = texts(said["systemMessage"]);
  const additionalContext = texts(both["additionalContext"]);
  const more = { ...(warnings.length > 0 && { warnings }), ...(additionalContext.length > 0 && { additionalContext }) };
  const reason = blockReason(said, both, hook);
  if (reason !== null) return { action: "block", reason, ...more };
  for (const key of ["updatedInput", "modifiedArgs", "modifiedPrompt"]) {
    if (Object.hasOwn(both, key)) return { action: "modify", modifiedInput: both[key], ...more };
  }
  for (const key of ["updatedMCPToolOutput", "updatedToolOutput", "modifiedResult"]) {
    if (Object.hasOwn(both, key)) return { action: "modify", modifiedOutput: both[key], ...more };
  }
  if (additionalContext.length > 0) return { action: "injectContext", ...more };
  return warnings.length > 0 ? { action: "passThrough", warnings } : null;
}

function blockReason(
  said: Record<string, unknown>,
  both: Record<string, unknown>,
  hook: FileHook,
): string | null {
  const why = (...keys: string[]): string => {
    const given = keys.map((key) => both[key]).find((text) => typeof text === "string" && text.trim() !== "");
    return typeof given === "string" ? given : `The hook ${hook.id} gave no reason`;
  };
  if (said["continue"] === false) return why("stopReason", "reason");
  if (both["permissionDecision"] === "deny") return why("permissionDecisionReason", "reason");
  // Nobody can be asked in the middle of a run, so an action that needs a person's consent does not happen.
  if (both["permissionDecision"] === "ask") {
    return `It needs a person's yes, and nobody is asked here: ${why("permissionDecisionReason", "reason")}`;
  }
  const { decision } = both;
  return decision === "block" || decision === "deny" ? why("reason", "stopReason") : null;
}

function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((text): text is string => typeof text === "string" && text.trim() !== "");
}

/** Whether an object ends before the text does. */
function isSeveral(text: string): boolean {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === "{") depth++;
    if (token === "}" && --depth === 0) return index < text.length - 1;
  }
  return false;
}

function failure(code: HostErrorCode, hook: FileHook, why: string): HostError {
  const { id, file, line } = hook;
  return new HostError(code, `${id} (${file}:${line}): ${why}`, { data: { id, file, line } });
}
