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
const ACTIONS: readonly unknown[] = ["passThrough", "injectContext", "block", "modify", "ask"];
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
  const modifies = action === "modify" || action === "ask";
  return {
    action,
    ...(typeof priority === "number" && { priority }),
    ...(typeof reason === "string" && { reason }),
    additionalContext: texts(said["additionalContext"]),
    warnings: texts(said["warnings"]),
    ...(modifies && Object.hasOwn(said, "modifiedInput") && { modifiedInput: said["modifiedInput"] }),
    ...(modifies && Object.hasOwn(said, "modifiedOutput") && { modifiedOutput: said["modifiedOutput"] }),
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
  const decision = decisionIn(said, both, hook);
  if (decision?.action === "block") return { ...decision, ...more };
  const changes = changesIn(both);
  if (decision) return { ...decision, ...changes, ...more };
  if (changes) return { action: "modify", ...changes, ...more };
  if (additionalContext.length > 0) return { action: "injectContext", ...more };
  return warnings.length > 0 ? { action: "passThrough", warnings } : null;
}

function changesIn(both: Record<string, unknown>): Pick<HookResponse, "modifiedInput" | "modifiedOutput"> | null {
  for (const key of ["updatedInput", "modifiedArgs", "modifiedPrompt"]) {
    if (Object.hasOwn(both, key)) return { modifiedInput: both[key] };
  }
  for (const key of ["updatedMCPToolOutput", "updatedToolOutput", "modifiedResult"]) {
    if (Object.hasOwn(both, key)) return { modifiedOutput: both[key] };
  }
  return null;
}

/** Returns whether the hook blocks or asks, and why; null when it does neither. Any word for no counts more than an ask. */
function decisionIn(
  said: Record<string, unknown>,
  both: Record<string, unknown>,
  hook: FileHook,
): { readonly action: "block" | "ask"; readonly reason: string } | null {
  const why = (...keys: string[]): string => {
    const given = keys.map((key) => both[key]).find((text) => typeof text === "string" && text.trim() !== "");
    return typeof given === "string" ? given : `The hook ${hook.id} gave no reason`;
  };
  const { permissionDecision, decision } = both;
  if (said["continue"] === false) return { action: "block", reason: why("stopReason", "reason") };
  if (permissionDecision === "deny") return { action: "block", reason: why("permissionDecisionReason", "reason") };
  if (decision === "block" || decision === "deny") return { action: "block", reason: why("reason", "stopReason") };
  const asks = permissionDecision === "ask" || decision === "ask";
  return asks ? { action: "ask", reason: why("permissionDecisionReason", "reason") } : null;
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
