/**
 * An answer in JSON in the words of an agent → the portable shape, by the table of keys of its dialect.
 *
 * @module
 */
import { HostError } from "../../../core/errors/host_error.ts";
import { isMap, mapOf } from "../../../core/values/plain_data.ts";
import { shown } from "../../../core/values/shown_value.ts";
import { dialectEvent, DIALECTS, eventOf, toolNames } from "../../files/dialects/all.ts";
import type { AnswerKeys, DialectEvent } from "../../files/dialects/types.ts";
import { nativeEvent } from "../../files/event_names.ts";
import type { FileHook } from "../../files/types.ts";
import type { HookEvent, HookResponse } from "../../engine/types.ts";
import { inEffect, joined } from "./effects.ts";

/** An answer while it is read. */
interface Reading {
  readonly hook: FileHook;
  readonly moment: DialectEvent;
  readonly keys: AnswerKeys;
  /** The keys of the answer itself. */
  readonly said: Readonly<Record<string, unknown>>;
  /** Those of its nested part laid over them. */
  readonly both: Readonly<Record<string, unknown>>;
}

/** `stop` ends the agent's work, `end` lets the turn end. */
type Decision = { readonly is: "deny" | "ask" | "stop" | "end"; readonly reason: string } | null;

/**
 * Returns the answer in an object, or null when it says nothing.
 *
 * @throws {HostError} `hook.answer_invalid` where the dialect takes no such answer.
 */
export function nativeAnswer(said: Record<string, unknown>, hook: FileHook, event?: HookEvent): HookResponse | null {
  const { reading, misplaced } = readingOf(said, hook);
  if (reading === null) return { action: "passThrough", warnings: misplaced };
  const { keys, moment } = reading;
  const decision = decisionIn(reading);
  const warnings = [...textsAt(reading.both, keys.shown), ...misplaced];
  const context = moment.may.includes("context") ? textsAt(reading.both, keys.context) : [];
  if (decision?.is === "end") return noticed([...warnings, decision.reason]);
  const goOn = goOnText(reading, context);
  const more = {
    ...(warnings.length > 0 && { warnings }),
    ...(context.length > 0 && !moment.contextGoesOn && { additionalContext: context }),
  };
  if (decision?.is === "stop") return { action: "block", reason: decision.reason, ...more };
  if (decision?.is === "deny") return joined(inEffect(moment.deny ?? moment.exit2, decision.reason, hook), more);
  if (goOn !== null) return { action: "block", reason: goOn, ...more };
  const changes = changesIn(reading, event);
  if (decision?.is === "ask") return asked(reading, decision.reason, { ...changes, ...more });
  if (changes) return { action: "modify", ...changes, ...more };
  if (more.additionalContext) return { action: "injectContext", ...more };
  return noticed(warnings);
}

/** Returns the texts of an answer for the model and the user, without its decision and its changes. */
export function textsIn(
  said: Record<string, unknown>,
  hook: FileHook,
): Required<Pick<HookResponse, "additionalContext" | "warnings">> {
  const { reading, misplaced } = readingOf(said, hook);
  if (reading === null) return { additionalContext: [], warnings: misplaced };
  const { keys, moment, both } = reading;
  return {
    additionalContext: moment.may.includes("context") ? textsAt(both, keys.context) : [],
    warnings: [...textsAt(both, keys.shown), ...misplaced],
  };
}

/** Returns an answer as far as it is for the hook's moment, and a warning for each part that is not; null: none is. */
function readingOf(
  said: Record<string, unknown>,
  hook: FileHook,
): { readonly reading: Reading | null; readonly misplaced: string[] } {
  const { answers: keys, title } = DIALECTS[hook.dialect];
  const unknown = keys.known === undefined ? undefined : Object.keys(said).find((key) => !keys.known!.includes(key));
  if (unknown !== undefined) throw invalid(hook, `${title} takes no answer with the key ${shown(unknown)}`);
  if (!isMeant(said["hookEventName"], hook)) {
    return { reading: null, misplaced: [misplacedText(hook, said["hookEventName"])] };
  }
  const nested = keys.nested === undefined ? {} : mapOf(said, keys.nested);
  const misplaced = isMeant(nested["hookEventName"], hook) ? [] : [misplacedText(hook, nested["hookEventName"])];
  const both = misplaced.length > 0 ? said : { ...said, ...nested };
  return { reading: { hook, moment: eventOf(hook), keys, said, both }, misplaced };
}

function noticed(warnings: readonly string[]): HookResponse | null {
  const texts = warnings.filter((text) => text !== "");
  return texts.length > 0 ? { action: "passThrough", warnings: texts } : null;
}

/** Whether an answer is for this moment, by the name it gives; none is for any. */
function isMeant(name: unknown, hook: FileHook): boolean {
  if (typeof name !== "string" || name === hook.nativeName) return true;
  const meant = dialectEvent(hook.dialect, name)?.hook ?? nativeEvent(name)?.hook;
  // Hooks of an agent's end and start are often one script with those of its subagents.
  if (hook.hook === "SubagentStop" && name === "Stop") return true;
  return meant === undefined || meant === hook.hook || (hook.hook === "SubagentStart" && meant === "SessionStart");
}

const misplacedText = ({ id, nativeName }: FileHook, name: unknown): string =>
  `The answer of ${id} is for ${shown(name)}, and not for ${nativeName}: that part is left out`;

/** Returns whether the hook says no or asks, and why. Any word for no counts more than an ask. */
function decisionIn({ hook, moment, keys, said, both }: Reading): Decision {
  const why = (names: readonly string[]): string => {
    const given = names.map((key) => both[key]).find((text) => typeof text === "string" && text.trim() !== "");
    return typeof given === "string" ? given : `The hook ${hook.id} gave no reason`;
  };
  const { stop = "block" } = moment;
  if (keys.stopReason && said["continue"] === false && stop !== "ignore") {
    if (stop === "block") return { is: "stop", reason: why(keys.stopReason) };
    return { is: "end", reason: textsAt(both, keys.stopReason)[0] ?? "" };
  }
  for (const { key, fails = [] } of keys.decisions) {
    if (fails.includes(both[key])) throw invalid(hook, `${shown(both[key])} is no ${key} of its agent`);
  }
  const no = keys.decisions.find(({ key, deny }) => deny.includes(both[key]));
  if (no) return { is: "deny", reason: why(no.reason) };
  const question = keys.decisions.find(({ key, ask = [] }) => ask.includes(both[key]));
  if (!question) return null;
  return { is: moment.askDenies ? "deny" : "ask", reason: why(question.reason) };
}

/** Returns the text with which a hook makes the agent go on at the end of a turn, or null. */
function goOnText({ moment, keys, both }: Reading, context: readonly string[]): string | null {
  if (!moment.turnEnd && moment.hook !== "SubagentStop") return null;
  const [text = null] = textsAt(both, keys.goOn ?? []);
  return text ?? (moment.contextGoesOn && context.length > 0 ? context.join("\n") : null);
}

/** An ask that its agent would not hear at this moment is shown, and asks nobody. */
function asked({ hook, moment }: Reading, reason: string, more: Partial<HookResponse>): HookResponse {
  if (moment.may.includes("ask") || moment.hook !== "PreToolUse") return { action: "ask", reason, ...more };
  const warnings = [...(more.warnings ?? []), `${hook.id} asks, which its agent does not hear here: ${reason}`];
  const { modifiedInput, additionalContext } = more;
  if (modifiedInput !== undefined) return { ...more, action: "modify", warnings };
  return { action: additionalContext ? "injectContext" : "passThrough", ...more, warnings };
}

function changesIn(
  { hook, moment, keys, both }: Reading,
  event: HookEvent | undefined,
): Pick<HookResponse, "modifiedInput" | "modifiedOutput"> | null {
  const input = moment.may.includes("input") ? firstAt(both, keys.input) : undefined;
  if (input !== undefined) {
    const isMerged = keys.inputMerges && isMap(input) && isMap(event?.input);
    return { modifiedInput: isMerged ? { ...event?.input as object, ...input } : input };
  }
  const isMcp = event?.tool === undefined || toolNames(event.tool.name, hook).mcp !== null;
  const outputs = isMcp ? keys.output : keys.output.filter((key) => !/mcp/i.test(key));
  const output = moment.may.includes("output") ? firstAt(both, outputs) : undefined;
  return output === undefined ? null : { modifiedOutput: output };
}

/** Returns the first value that stands under one of these paths. */
function firstAt(data: Readonly<Record<string, unknown>>, paths: readonly string[]): unknown {
  for (const path of paths) {
    let value: unknown = data;
    for (const key of path.split(".")) value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function textsAt(data: Readonly<Record<string, unknown>>, keys: readonly string[]): string[] {
  const values = keys.flatMap((key) => data[key] ?? []);
  return [...new Set(values.filter((text): text is string => typeof text === "string" && text.trim() !== ""))];
}

function invalid({ id, file, line }: FileHook, why: string): HostError {
  return new HostError("hook.answer_invalid", `${id} (${file}:${line}): ${why}`, { data: { id, file, line } });
}
