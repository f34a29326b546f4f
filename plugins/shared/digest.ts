/**
 * What is left of a conversation when only its results matter. A digest is text that can be read back, so that digests
 * of a long conversation's parts become one.
 *
 * @module
 */
import { proseOf, sentencesOf, type WireMessage } from "./message_text.ts";
import { decisionsOf, distinct, pathsOf, questionsOf } from "./statements.ts";

/** The sections of a digest, oldest entries first. */
export interface Digest {
  /** What was asked for. */
  readonly asked: readonly string[];
  /** What was decided. */
  readonly decided: readonly string[];
  /** Files that were named. */
  readonly files: readonly string[];
  /** Questions nobody answered. */
  readonly open: readonly string[];
}

type Section = keyof Digest;

/** Title of each section, in the order they are written. */
const TITLES: Readonly<Record<Section, string>> = {
  asked: "Asked",
  decided: "Decided",
  open: "Open questions",
  files: "Files",
};
const SECTIONS = Object.keys(TITLES) as Section[];
/** Which section gives way last when there is not room for all. */
const BY_WEIGHT: readonly Section[] = ["decided", "open", "files", "asked"];

const MAX_LINE = 300;

/** Returns the digest of some messages; what follows them may answer their questions. */
export function digestOf(messages: readonly WireMessage[], follow: readonly WireMessage[] = []): Digest {
  const requests = messages.filter(({ role, added_by }) => role === "user" && added_by === undefined)
    .map((message) => sentencesOf(proseOf(message))[0] ?? "").filter(Boolean);
  return {
    asked: distinct(requests),
    decided: decisionsOf(messages),
    files: pathsOf(messages),
    open: questionsOf(messages, follow),
  };
}

/** Returns one digest of two, the older first. */
export function mergeDigests(older: Digest, newer: Digest): Digest {
  const merged = (section: Section): string[] => distinct([...older[section], ...newer[section]]);
  return { asked: merged("asked"), decided: merged("decided"), files: merged("files"), open: merged("open") };
}

/** Whether there is nothing in it. */
export function isEmptyDigest(digest: Digest): boolean {
  return SECTIONS.every((section) => digest[section].length === 0);
}

/** How much a written digest may hold. */
export interface DigestRoom {
  /** Bytes of the whole text. */
  readonly maxBytes: number;
  /** Entries of one section; the newest stay. */
  readonly maxItems: number;
}

/** Writes a digest, decisions first and newest first as long as there is room, each section in its own order. */
export function writeDigest(digest: Digest, { maxBytes, maxItems }: DigestRoom): string {
  const chosen = new Map<Section, Set<string>>();
  let left = maxBytes;
  for (const section of BY_WEIGHT) {
    for (const entry of digest[section].slice(-maxItems).reverse()) {
      const lines = chosen.get(section);
      const cost = byteLength(entryLine(entry)) + 1 + (lines ? 0 : byteLength(titleLine(section)) + 2);
      if (cost > left) continue;
      left -= cost;
      if (lines) lines.add(entry);
      else chosen.set(section, new Set([entry]));
    }
  }
  const blocks = SECTIONS.filter((section) => chosen.has(section)).map((section) =>
    [titleLine(section), ...digest[section].filter((entry) => chosen.get(section)!.has(entry)).map(entryLine)].join(
      "\n",
    )
  );
  return blocks.join("\n\n");
}

/** Reads a digest back from text; what is no entry of a section is passed over. */
export function readDigest(text: string): Digest {
  const read: Record<Section, string[]> = { asked: [], decided: [], files: [], open: [] };
  let section: Section | null = null;
  for (const line of text.split("\n")) {
    const title = SECTIONS.find((each) => line === titleLine(each));
    if (title) section = title;
    else if (line.startsWith("- ") && section) read[section].push(line.slice(2));
  }
  return read;
}

const titleLine = (section: Section): string => `## ${TITLES[section]}`;

const entryLine = (entry: string): string =>
  `- ${entry.length > MAX_LINE ? `${entry.slice(0, MAX_LINE - 1).toWellFormed()}…` : entry}`;

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
