/**
 * Checks a compactor's result, which decides what the model will see: each claim of the plugin is checked before any of
 * it is used, and messages of the conversation are taken from the host's own copy.
 *
 * @module
 */
import type { Dropped } from "./drop_oldest.ts";
import { type CountTokens, type IdentifiedMessage, type Message, sizeOf } from "./messages.ts";
import { isToolTraffic, toolGroups } from "./tool_groups.ts";

/** Faults of a compactor's result. */
export type CompactorFault =
  | "no_result"
  /** It is no object, or one of its fields has the wrong type. */
  | "malformed_result"
  /** Its role is not `compactor`. */
  | "wrong_role"
  /** A message in it is no message. */
  | "malformed_message"
  /** It holds more messages than there were. */
  | "too_many_messages"
  /** A message has an id that no message of the window has. */
  | "invented_id"
  /** A message is there twice. */
  | "repeated_message"
  /** A message is not what it was. */
  | "altered_message"
  | "reordered_messages"
  /** A message that always stays is missing or altered. */
  | "compactor_dropped_always_keep"
  /** `superseded` names a message that was not up for compaction. */
  | "foreign_superseded"
  /** `superseded` names a message that is still there. */
  | "superseded_kept"
  /** A message is gone and `superseded` does not say so. */
  | "vanished_message"
  /** A tool call is parted from its results. */
  | "split_tool_call"
  | "empty_window"
  /** By tokens, not by messages. */
  | "not_smaller";

/** The window that a compactor was asked about. */
export interface CompactorQuestion {
  readonly original: readonly IdentifiedMessage[];
  /** Ids of the messages that were up for compaction. */
  readonly beingCompacted: ReadonlySet<string>;
  /** Ids of the messages that always stay. */
  readonly alwaysKeep: ReadonlySet<string>;
  readonly countTokens: CountTokens;
  /** Gives an id to a message that the compactor added. */
  readonly adopt: (added: Message) => IdentifiedMessage;
}

/** A result that may be used. */
export interface GoodCompaction extends Dropped {
  readonly ok: true;
  /** The compactor's own account, cut at 4,000 characters, or null. */
  readonly summary: string | null;
}

/** A result that may not be used. */
export interface BadCompaction {
  readonly ok: false;
  readonly reason: CompactorFault;
  /** The fault as a sentence for people. */
  readonly detail: string;
  /** Ids of missing or altered messages that always stay; only when that is the reason. */
  readonly droppedAlwaysKeep?: string[];
}

const MAX_SUMMARY = 4000;

/** Checks a compactor's result and returns the new window, or the first thing that is wrong. */
export function verifyCompactorResult(result: unknown, question: CompactorQuestion): GoodCompaction | BadCompaction {
  const shape = resultShape(result);
  if (!isShape(shape)) return shape;
  const placed = placeMessages(shape.messages, question);
  if (!isPlacement(placed)) return placed;
  const fault = keepFault(placed, question) ??
    supersededFault(shape.superseded, placed, question) ??
    groupFault(placed, question);
  if (fault) return fault;
  const { original, countTokens, adopt } = question;
  const messages = placed.window.map((entry) => typeof entry === "number" ? original[entry]! : adopt(entry));
  const superseded = original.filter((_, index) => !placed.kept.has(index)).map(({ id }) => id);
  const [before, after] = [sizeOf(original, countTokens), sizeOf(messages, countTokens)];
  if (after.tokens >= before.tokens && question.beingCompacted.size > 0) {
    return bad("not_smaller", `It has ${after.tokens} tokens, after ${before.tokens}`);
  }
  return { ok: true, messages, superseded, summary: shape.summary };
}

interface ResultShape {
  readonly messages: readonly unknown[];
  readonly superseded: readonly string[];
  readonly summary: string | null;
}

const isShape = (shape: ResultShape | BadCompaction): shape is ResultShape => !("ok" in shape);

function resultShape(result: unknown): ResultShape | BadCompaction {
  if (result === null || result === undefined) return bad("no_result", "It returned nothing");
  if (typeof result !== "object" || Array.isArray(result)) return bad("malformed_result", "It is not an object");
  const { role, messages, superseded, summary = null } = result as Record<string, unknown>;
  if (role !== "compactor") return bad("wrong_role", `Its role is ${shown(role)}, not "compactor"`);
  if (!Array.isArray(messages)) return bad("malformed_result", 'Its "messages" is not a list');
  if (!Array.isArray(superseded) || !superseded.every((id) => typeof id === "string")) {
    return bad("malformed_result", 'Its "superseded" is not a list of ids');
  }
  if (summary !== null && typeof summary !== "string") return bad("malformed_result", 'Its "summary" is not a text');
  const cut = summary !== null && summary.length > MAX_SUMMARY ? `${summary.slice(0, MAX_SUMMARY)}… (cut)` : summary;
  return { messages, superseded, summary: cut };
}

/** The new window, with the messages of the conversation as indices. */
interface Placement {
  readonly window: (number | Message)[];
  readonly kept: Set<number>;
}

const isPlacement = (placed: Placement | BadCompaction): placed is Placement => !("ok" in placed);

function placeMessages(messages: readonly unknown[], question: CompactorQuestion): Placement | BadCompaction {
  const { original, alwaysKeep } = question;
  if (messages.length > original.length) {
    return bad("too_many_messages", `It has ${messages.length} messages, after ${original.length}`);
  }
  const indices = new Map(original.map(({ id }, index) => [id, index]));
  const placed: Placement = { window: [], kept: new Set() };
  let last = -1;
  for (const [at, message] of messages.entries()) {
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      return bad("malformed_message", `Message ${at} is not an object`);
    }
    const { id = null, ...rest } = message as Record<string, unknown>;
    if (id === null) {
      const fault = addedMessageFault(rest);
      if (fault) return bad("malformed_message", `Message ${at} cannot be added: ${fault}`);
      placed.window.push(rest as unknown as Message);
      continue;
    }
    const index = typeof id === "string" ? indices.get(id) : undefined;
    if (index === undefined) return bad("invented_id", `Message ${at} has an id of no message: ${shown(id)}`);
    if (placed.kept.has(index)) return bad("repeated_message", `Message ${shown(id)} is there twice`);
    if (!isSameJson(original[index], message)) {
      if (alwaysKeep.has(id as string)) return droppedAlwaysKeep([id as string], "altered");
      return bad("altered_message", `Message ${shown(id)} is not what it was`);
    }
    if (index < last) return bad("reordered_messages", `Message ${shown(id)} stands after one that followed it`);
    last = index;
    placed.window.push(index);
    placed.kept.add(index);
  }
  return placed;
}

function keepFault({ window, kept }: Placement, { original, alwaysKeep }: CompactorQuestion): BadCompaction | null {
  const missing = original.filter(({ id }, index) => alwaysKeep.has(id) && !kept.has(index)).map(({ id }) => id);
  if (missing.length > 0) return droppedAlwaysKeep(missing, "missing");
  if (window.length === 0 && original.length > 0) return bad("empty_window", "No message is left");
  return null;
}

function supersededFault(
  superseded: readonly string[],
  { kept }: Placement,
  { original, beingCompacted }: CompactorQuestion,
): BadCompaction | null {
  const named = new Set(superseded);
  for (const id of named) {
    if (!beingCompacted.has(id)) {
      return bad("foreign_superseded", `Its "superseded" names ${shown(id)}, which was not up for compaction`);
    }
  }
  for (const [index, { id }] of original.entries()) {
    if (named.has(id) && kept.has(index)) {
      return bad("superseded_kept", `Message ${shown(id)} is named as superseded and still there`);
    }
    if (!named.has(id) && !kept.has(index)) {
      return bad("vanished_message", `Message ${shown(id)} is gone and not named as superseded`);
    }
  }
  return null;
}

function groupFault({ window, kept }: Placement, { original }: CompactorQuestion): BadCompaction | null {
  const places = new Map(window.map((entry, place) => [entry, place]));
  let addedSoFar = 0;
  const addedBefore = window.map((entry) => typeof entry === "number" ? addedSoFar : addedSoFar++);
  for (const group of toolGroups(original)) {
    const [first, last] = [group[0]!, group.at(-1)!];
    const present = group.filter((index) => kept.has(index)).length;
    if (present === 0) continue;
    if (present < group.length) {
      return bad("split_tool_call", `A tool call and its results are parted at ${shown(original[first]!.id)}`);
    }
    if (addedBefore[places.get(first)!] !== addedBefore[places.get(last)!]) {
      return bad(
        "split_tool_call",
        `A message is added between tool call ${shown(original[first]!.id)} and its result`,
      );
    }
  }
  return null;
}

function droppedAlwaysKeep(ids: string[], fate: "missing" | "altered"): BadCompaction {
  const detail = `${ids.length === 1 ? "A message that always stays is" : "Messages that always stay are"} ${fate}: ${
    ids.slice(0, 5).map(shown).join(", ")
  }`;
  return { ...bad("compactor_dropped_always_keep", detail), droppedAlwaysKeep: ids };
}

function bad(reason: CompactorFault, detail: string): BadCompaction {
  return { ok: false, reason, detail };
}

/** A value of a plugin's choosing, short and on one line. */
function shown(value: unknown): string {
  const text = typeof value === "object" && value !== null ? "an object" : JSON.stringify(value) ?? "missing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/**
 * Whether `received`, which was parsed from JSON, says the same as `sent`. Order of keys does not count; a field of
 * `sent` that JSON leaves out may be missing.
 */
function isSameJson(sent: unknown, received: unknown): boolean {
  return areEqual(sent, received) || areEqual(throughJson(sent), received);
}

function throughJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return value; // It could not be sent either.
  }
}

/** Goes only as deep as both values do, so that a received value cannot lead further than the sent one. */
function areEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) =>
    Object.hasOwn(right, key) &&
    areEqual((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key])
  );
}

const ROLES: ReadonlySet<unknown> = new Set(["system", "user", "assistant"]);
const HOST_FIELDS = ["tool_calls", "tool_call_id", "always_keep", "added_by"] as const;
const MAX_DEPTH = 32;

/** Returns what is wrong with a message without id that a compactor returned, or null. */
function addedMessageFault(message: Readonly<Record<string, unknown>>): string | null {
  if (!isShallow(message)) return `it is nested deeper than ${MAX_DEPTH} levels`;
  if (hasProtoField(message)) return 'it has a field "__proto__"';
  if (!ROLES.has(message["role"])) return "its role is not system, user or assistant";
  const taken = HOST_FIELDS.find((field) => Object.hasOwn(message, field));
  if (taken) return `it has "${taken}", which only a message of the conversation can have`;
  const { content } = message;
  if (content === "" || (Array.isArray(content) && content.length === 0)) return "it is empty";
  if (typeof content !== "string" && !isPartList(content)) return "its content is neither text nor a list of parts";
  return isToolTraffic(message as unknown as Message) ? "it makes or answers a tool call" : null;
}

function isPartList(content: unknown): boolean {
  return Array.isArray(content) &&
    content.every((part) => typeof part === "object" && part !== null && !Array.isArray(part));
}

/** Looks level by level, without recursion: how deep it goes is what is in question. */
function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((each) => Object.values(Object(each)).filter((part) => typeof part === "object" && part));
  }
  return true;
}

function hasProtoField(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoField);
}
