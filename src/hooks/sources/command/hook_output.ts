/**
 * Exit code and output of a command → an answer in the one portable shape (B-018), by the rules of the hook's dialect.
 * Output that cannot be read is a failure of the hook, never a decision.
 *
 * @module
 */
import { HostError, type HostErrorCode, messageOf } from "../../../core/errors/host_error.ts";
import { endingOf } from "../../../core/values/ending_of.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import { DIALECTS, eventOf } from "../../files/dialects/all.ts";
import type { FileHook } from "../../files/types.ts";
import type { HookEvent, HookResponse } from "../../engine/types.ts";
import { inEffect, joined } from "./effects.ts";
import { nativeAnswer, textsIn } from "./native_answer.ts";
import type { CommandEnd } from "./types.ts";

const BLOCK = 2;
const ACTIONS: readonly unknown[] = ["passThrough", "injectContext", "block", "modify", "ask"];
const MAX_SAID = 2_000;

/**
 * Returns the answer of a command, or null when it had nothing to say. `event` is the one it answers.
 *
 * @throws {HostError} `hook.command_timeout`, `hook.command_failed`, `hook.output_too_large`, `hook.answer_invalid`
 */
export function hookAnswer(hook: FileHook, end: CommandEnd, event?: HookEvent): HookResponse | null {
  const { exit, ended } = end;
  if (ended === "timeout") {
    throw failure("hook.command_timeout", hook, `it took longer than ${hook.timeoutMs / 1000} s and was ended`);
  }
  if (ended === "flood") throw failure("hook.output_too_large", hook, "it printed too much and was ended");
  if (ended === "aborted") throw failure("hook.command_failed", hook, "it was ended: nobody waits for it any more");
  const { exits } = DIALECTS[hook.dialect];
  if (exits.ignored) return null;
  const stdout = textOn(end, hook);
  if (exit.code === 0) return answerIn(hook, stdout, event);
  const isNo = exit.code === BLOCK || (exits.aboveTwo === true && (exit.code ?? 0) > BLOCK);
  const json = exits.jsonAnyCode || (isNo && exits.json2) ? objectIn(stdout) : null;
  if (json !== null && (!isNo || exits.json2 === "instead")) return readObject(json, hook, event);
  if (isNo) return refusal(hook, end, json, event);
  const said = end.stderr.trim().slice(0, MAX_SAID);
  const why = `it ended ${endingOf(exit)}${said === "" ? "" : `: ${said}`}`;
  const { otherExit } = eventOf(hook);
  // A file that says itself what a failure does outranks its agent.
  if (otherExit !== undefined && hook.onFailure === undefined) {
    return inEffect(otherExit, `The check ${hook.id} failed: ${why}`, hook);
  }
  throw failure("hook.command_failed", hook, why);
}

/**
 * Returns the texts of a command that nobody waited for, or null; its decision counts for nothing.
 *
 * @throws {HostError} as {@link hookAnswer}
 */
export function lateAnswer(hook: FileHook, end: CommandEnd, event: HookEvent): HookResponse | null {
  const { later } = DIALECTS[hook.dialect].exits;
  const said = objectIn(textOn(end, hook));
  const isTwo = end.ended === "exit" && end.exit.code === BLOCK;
  if (isTwo && later?.exit2 === "fails") {
    throw failure("hook.command_failed", hook, `it ended ${endingOf(end.exit)} in the background`);
  }
  const answer = hookAnswer(hook, end, event); // It may have failed.
  if (later === undefined) return null;
  const isPortable = said === null || ACTIONS.includes(said["action"]);
  const texts: Pick<HookResponse, "additionalContext" | "warnings"> = !isPortable
    ? textsIn(said, hook)
    : isTwo
    ? {}
    : answer ?? {};
  const [woken = ""] = isTwo && hook.rewakes ? [end.stderr, end.stdout].map(trimmed).filter((text) => text !== "") : [];
  const context = [woken.slice(0, MAX_SAID), ...(texts.additionalContext ?? [])].filter((text) => text !== "");
  return joined(null, { additionalContext: context, ...(texts.warnings && { warnings: texts.warnings }) });
}

const trimmed = (text: string): string => text.trim();

/** Returns the answer in an object that a hook has given: portable, or in the words of its dialect. */
export function readObject(said: Record<string, unknown>, hook: FileHook, event?: HookEvent): HookResponse | null {
  return ACTIONS.includes(said["action"]) ? portableAnswer(said) : nativeAnswer(said, hook, event);
}

/** The output that is read: stdout, or stderr where the dialect takes either; without lines of progress. */
function textOn({ stdout, stderr }: CommandEnd, hook: FileHook): string {
  const { exits, answers } = DIALECTS[hook.dialect];
  const text = stdout.trim() === "" && exits.anyStream ? stderr : stdout;
  const lines = answers.progress
    ? text.split("\n").filter((line) => !/^\s*\{\s*"type"\s*:\s*"progress"/.test(line))
    : [text];
  return lines.join("\n").trim();
}

/** A hook says no by its exit code. JSON beside it may say why, and add to it; it cannot take the no back. */
function refusal(
  hook: FileHook,
  { stdout, stderr }: CommandEnd,
  json: Record<string, unknown> | null,
  event: HookEvent | undefined,
): HookResponse | null {
  const { exit2, exit2Text } = eventOf(hook);
  const { exits } = DIALECTS[hook.dialect];
  const beside = json === null ? null : readObject(json, hook, event);
  const streams = exit2Text === "stdout" ? [stdout] : exits.anyStream ? [stdout, stderr] : [stderr];
  const said = streams.map((text) => text.trim()).find((text) => text !== "")?.slice(0, MAX_SAID) ?? "";
  const text = (beside?.action === "block" ? beside.reason : undefined) ?? said;
  if (text === "" && exits.needsText) {
    throw failure("hook.command_failed", hook, "it ended with exit code 2 and without a word, which blocks nothing");
  }
  return joined(inEffect(exit2, text, hook), beside ?? {});
}

function answerIn(hook: FileHook, stdout: string, event: HookEvent | undefined): HookResponse | null {
  if (stdout === "") return null;
  if (!stdout.startsWith("{")) return plainAnswer(hook, stdout);
  let said: unknown;
  try {
    said = JSON.parse(stdout);
  } catch (error) {
    const why = isSeveral(stdout) ? "it printed more than one JSON object" : `its JSON is broken: ${messageOf(error)}`;
    throw failure("hook.answer_invalid", hook, why);
  }
  return isMap(said) ? readObject(said, hook, event) : null;
}

/** Text on stdout: context, a notice, or nothing, by the moment. */
function plainAnswer(hook: FileHook, text: string): HookResponse | null {
  const { text: effect = "ignore" } = eventOf(hook);
  if (effect === "tell") return { action: "injectContext", additionalContext: [text] };
  if (effect === "show") return { action: "passThrough", warnings: [text] };
  if (effect === "ignore") return null;
  throw failure("hook.answer_invalid", hook, "it printed text, and here its agent takes JSON only");
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const said: unknown = JSON.parse(text);
    return isMap(said) ? said : null;
  } catch {
    return null;
  }
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
