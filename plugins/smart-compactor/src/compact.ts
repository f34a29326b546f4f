/**
 * Replaces old messages by a digest. Rules only: the same window always gives the same.
 *
 * @module
 */
import { type Config, PluginError } from "../../../src/sdk/mod.ts";
import {
  byteLength,
  type Digest,
  digestOf,
  isEmptyDigest,
  mergeDigests,
  readDigest,
  writeDigest,
} from "../../shared/digest.ts";
import { textOf, type WireMessage } from "../../shared/message_text.ts";

/** Params of `pre_compact` and `post_compact`. */
export interface CompactParams {
  /** Asked to compact, or to look on. */
  readonly role?: string;
  /** Messages that may be dropped, or were. */
  readonly messages_being_compacted?: readonly WireMessage[];
  /** The rest. */
  readonly messages_remaining?: readonly WireMessage[];
  /** The strategy that is used, or was, without this plugin. */
  readonly strategy?: string;
}

/** A new window, in the shape the host expects of a compactor. */
export interface CompactorResult {
  /** Says that the plugin answers as what it was asked as. */
  readonly role: "compactor";
  /** The whole new window. */
  readonly messages: readonly WireMessage[];
  /** Ids of the messages that the digest stands for. */
  readonly superseded: readonly string[];
  /** For the audit trail. */
  readonly summary: string;
}

/** How the plugin works for one agent. */
export interface Settings {
  /** Most bytes of a digest. */
  readonly digestBytes: number;
  /** Most entries of a section. */
  readonly maxItems: number;
  /** Whether the digest says what was asked for. */
  readonly keepRequests: boolean;
}

const NAME = "smart-compactor";
const BYTES_PER_TOKEN = 4;
/** Room for the fields that the host adds to a compactor's message: an id and the plugin's name. */
const ADOPTION_BYTES = 100;

/** Returns the settings a config means. Throws, for a person, when a value makes no sense. */
export function settingsOf(config: Config): Settings {
  const { digest_tokens: tokens = 600, max_items: maxItems = 20, keep_requests: keepRequests = true } = config;
  if (!Number.isInteger(tokens) || tokens < 50) throw new RangeError("digest_tokens is no whole number from 50");
  if (!Number.isInteger(maxItems) || maxItems < 1) throw new RangeError("max_items is no whole number from 1");
  return { digestBytes: tokens * BYTES_PER_TOKEN, maxItems, keepRequests: keepRequests !== false };
}

/**
 * Returns the window with a digest in place of all that may go. What stays, stays untouched and in order: nobody says
 * where between them a message that may go has stood, so none of those is kept as it was.
 *
 * @throws {PluginError} -32006 when a digest would be no gain; the host then does what it does without a compactor.
 */
export function compactWindow(params: CompactParams, settings: Settings): CompactorResult {
  const { messages_being_compacted: old = [], messages_remaining: remaining = [] } = params;
  const ids = old.flatMap(({ id }) => typeof id === "string" ? [id] : []);
  if (old.length < 2 || ids.length < old.length) throw notApplicable("there are not two messages that may go");
  const { count, digest } = gather(old, remaining);
  const chars = sum(old, (message) => lengthOf(message.content));
  const bytes = sum(old, (message) => byteLength(JSON.stringify(message)));
  const content = write(digest, count, settings);
  // As the host counts: the text as JSON, and a token less, however each message is rounded.
  const taken = byteLength(JSON.stringify(content)) + ADOPTION_BYTES + BYTES_PER_TOKEN;
  if (content.length >= chars || taken > bytes) {
    throw notApplicable("a digest would be no shorter than the messages");
  }
  const place = placeIn(remaining);
  const added = { role: "user", content };
  return {
    role: "compactor",
    messages: [...remaining.slice(0, place), added, ...remaining.slice(place)],
    superseded: ids,
    summary: `Replaced ${ids.length} messages by a digest: ${counts(digest)}`,
  };
}

/** Returns an observer's answer before a compaction: each decision and open question that may be lost. */
export function retained(params: CompactParams): { retain: string[] } | null {
  const { messages_being_compacted: gone = [], messages_remaining: remaining = [] } = params;
  const { decided, open } = digestOf(gone, remaining);
  const retain = [...decided, ...open];
  return retain.length > 0 ? { retain } : null;
}

/** Returns the digest of dropped messages, which an observer injects after another strategy dropped them. */
export function reminder(params: CompactParams, settings: Settings): { inject: string } | null {
  const { messages_being_compacted: gone = [], messages_remaining: remaining = [], strategy } = params;
  if (strategy === "compactor" || gone.length === 0) return null;
  const { count, digest } = gather(gone, remaining);
  return isEmptyDigest(digest) ? null : { inject: write(digest, count, settings) };
}

/** The digest of messages, with the digests among them read back: how many messages it stands for, and what it says. */
function gather(
  messages: readonly WireMessage[],
  follow: readonly WireMessage[],
): { count: number; digest: Digest } {
  let count = 0;
  let before: Digest = { asked: [], decided: [], files: [], open: [] };
  const plain = messages.filter((message) => {
    const written = digestIn(message);
    count += written?.count ?? 1;
    if (written) before = mergeDigests(before, written.digest);
    return written === null;
  });
  return { count, digest: mergeDigests(before, digestOf(plain, follow)) };
}

const HEAD = /^Digest of (\d{1,9}) earlier messages, in place of them:/m;

/** The digest this plugin wrote into a message, as compactor or between the marks of an injection; else null. */
function digestIn(message: WireMessage): { count: number; digest: Digest } | null {
  if (!String(message.added_by ?? "").split(", ").includes(NAME)) return null;
  const text = textOf(message);
  const head = HEAD.exec(text);
  if (!head) return null;
  return { count: Number(head[1]), digest: readDigest(text.slice(head.index).split("</plugin:")[0]!) };
}

function write(digest: Digest, count: number, { digestBytes, maxItems, keepRequests }: Settings): string {
  const head = `Digest of ${count} earlier messages, in place of them:`;
  const room = { maxBytes: digestBytes - byteLength(head) - 2, maxItems };
  const body = writeDigest(keepRequests ? digest : { ...digest, asked: [] }, room);
  return body === "" ? `${head} nothing was decided, asked or named.` : `${head}\n\n${body}`;
}

/** Behind the system messages at the start, unless one of them has a part in a tool call; then before all. */
function placeIn(remaining: readonly WireMessage[]): number {
  const first = remaining.findIndex(({ role }) => role !== "system" && role !== "developer");
  const place = first < 0 ? remaining.length : first;
  const isPlain = (message: WireMessage): boolean =>
    typeof message.content === "string" && !("tool_calls" in message) && !("tool_call_id" in message);
  return remaining.slice(0, place).every(isPlain) ? place : 0;
}

function counts({ decided, open, files, asked }: Digest): string {
  const parts = [[decided, "decision"], [open, "open question"], [files, "file"], [asked, "request"]] as const;
  return parts.map(([entries, name]) => `${entries.length} ${name}${entries.length === 1 ? "" : "s"}`).join(", ");
}

function lengthOf(content: unknown): number {
  return typeof content === "string" ? content.length : (JSON.stringify(content) ?? "").length;
}

const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);

function notApplicable(why: string): PluginError {
  return new PluginError(`Nothing to compact: ${why}`, { code: -32006 });
}
