/**
 * The plugin's tools and hooks without the wire, for one agent at a time.
 *
 * @module
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PluginError } from "../../../src/sdk/mod.ts";
import { byteLength, digestOf, isEmptyDigest, mergeDigests, readDigest, writeDigest } from "../../shared/digest.ts";
import { normalized, proseOf, textOf, type WireMessage } from "../../shared/message_text.ts";
import { factsOf } from "../../shared/statements.ts";
import { idOf, kindOf, type Memory } from "./memory_file.ts";
import type { MemoryStore } from "./memory_store.ts";
import { writeWhole } from "./memory_store.ts";
import { README } from "./pages.ts";
import { byRelevance, cutText, fitting } from "./selection.ts";
import { type Settings, tagsOf } from "./settings.ts";

/** An agent's memory at the time of one call. */
export interface Desk {
  /** The agent's memories. */
  readonly store: MemoryStore;
  /** The agent's settings. */
  readonly settings: Settings;
  /** The session of the call, if there is one. */
  readonly session: string | null;
  /** The time, ISO 8601. */
  readonly now: string;
}

/** A memory as recall returns it. */
export interface Recalled {
  /** Its id, for forget. */
  readonly id: string;
  readonly content: string;
  /** Its tags. */
  readonly tags: readonly string[];
  /** When it was kept, ISO 8601. */
  readonly created: string;
  /** Where it comes from. */
  readonly context?: string;
}

/** Keeps a text; a text that is known only gains tags and context. */
export function retain(
  { content, context, tags = [] }: { content: string; context?: string; tags?: readonly string[] },
  { store, settings, session, now }: Desk,
): { id: string; known: boolean; tags: readonly string[] } {
  if (typeof content !== "string" || content.trim() === "") {
    throw new PluginError("There is nothing to remember", { code: -32602, data: { field: "content" } });
  }
  const id = idOf(content);
  const known = store.get(id);
  const allTags = tagsOf([...known?.tags ?? [], ...settings.tags, ...tags]);
  const note = context ?? known?.context;
  store.put([{
    ...(known ?? { id, kind: kindOf(content), content: content.trim(), created: now, source: "retain" }),
    tags: allTags,
    ...(note === undefined ? {} : { context: note }),
    ...(session === null ? {} : { session }),
  }]);
  return { id, known: known !== null, tags: allTags };
}

/** Finds memories, best first, as many as fit the budget. */
export function recall(
  { query, tags = [], limit = 10 }: { query: string; tags?: readonly string[]; limit?: number },
  { store, settings }: Desk,
): { memories: Recalled[]; omitted: number } {
  if (typeof query !== "string") {
    throw new PluginError("There is nothing to look for", { code: -32602, data: { field: "query" } });
  }
  const wanted = tagsOf(tags);
  const found = store.search(query, (memory) => wanted.every((tag) => memory.tags.includes(tag)));
  const recalled = found.slice(0, limit).map(({ memory: { id, content, tags, created, context } }): Recalled => ({
    id,
    content,
    tags,
    created,
    ...(context === undefined ? {} : { context }),
  }));
  const size = (memory: Recalled): number => byteLength(JSON.stringify(memory)) + 1;
  const { chosen } = fitting(recalled, settings.recallBytes - byteLength('{"memories":[],"omitted":12345}'), {
    size,
    // JSON escapes some bytes, each with at most six.
    cut: ({ context: _, ...memory }, maxBytes) => ({
      ...memory,
      content: cutText(memory.content, Math.floor((maxBytes - size({ ...memory, content: "" })) / 6)),
    }),
  });
  return { memories: chosen, omitted: found.length - chosen.length };
}

/** Tags in use, the most used first. */
export function listTags({ store }: Desk): { tags: { tag: string; count: number }[]; memories: number } {
  const memories = store.all();
  const counts = new Map<string, number>();
  for (const tag of memories.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const tags = [...counts].map(([tag, count]) => ({ tag, count }));
  return { tags: tags.sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)), memories: memories.length };
}

/** Returns the text that a session starts with, or null. */
export function openingText({ store, settings }: Desk): string | null {
  store.reload();
  const memories = store.all();
  const [last] = memories.filter(({ kind }) => kind === "session");
  const found = last ? store.search(last.content, ({ kind }) => kind !== "session") : [];
  const best = found[0]?.score ?? 1;
  const relevance = new Map(found.map(({ id, score }) => [id, score / best]));
  const told = normalized(last?.content ?? "");
  const facts = memories.filter(({ kind, content }) => kind !== "session" && !told.includes(normalized(content)));
  const ranked = [...(last ? [last] : []), ...byRelevance(facts, { tags: settings.tags, relevance })];
  return listing("Known from earlier sessions:", ranked.slice(0, settings.maxInjected), settings.recallBytes);
}

/** Keeps what messages say that stays true, and returns it; what was known before is not returned. */
export function retainFacts(
  messages: readonly WireMessage[],
  source: string,
  { store, settings, session, now }: Desk,
): string[] {
  const known = new Set(store.all().map(({ id }) => id));
  const fresh = factsOf(messages).map((content): Memory => ({
    id: idOf(content),
    kind: kindOf(content),
    content,
    tags: settings.tags,
    created: now,
    source,
    ...(session === null ? {} : { session }),
  })).filter(({ id }) => !known.has(id));
  store.put(fresh);
  return fresh.map(({ content }) => content);
}

const SESSION_ROOM = { maxBytes: 4000, maxItems: 30 };

/** Adds messages to the record of their session. */
export function recordSession(messages: readonly WireMessage[], { store, settings, session, now }: Desk): void {
  if (session === null) return;
  const id = `session-${idOf(session).slice(-12)}`;
  const before = store.get(id);
  const digest = mergeDigests(readDigest(before?.content ?? ""), digestOf(messages));
  if (isEmptyDigest(digest)) return;
  const content = writeDigest(digest, SESSION_ROOM);
  if (content === before?.content) return;
  const created = before?.created ?? now;
  store.put([{ id, kind: "session", content, tags: settings.tags, created, source: "idle", session }]);
}

const RECENT = 4;

/** Returns memories to repeat after a compaction: those that fit the conversation and are no longer in it. */
export function reminderText(
  { gone, remaining }: { gone: readonly WireMessage[]; remaining: readonly WireMessage[] },
  { store, settings }: Desk,
): string | null {
  const query = remaining.filter(({ role }) => role === "user").slice(-RECENT).map(proseOf).join("\n").slice(-4000);
  const inSight = normalized(remaining.map(textOf).join("\n"));
  const lost = new Set(factsOf(gone).map(idOf));
  const isOutOfSight = (memory: Memory): boolean =>
    memory.kind !== "session" && !inSight.includes(normalized(memory.content));
  const fits = query.trim() === "" ? [] : store.search(query, isOutOfSight).map(({ memory }) => memory);
  const justLost = store.all().filter((memory) => lost.has(memory.id) && isOutOfSight(memory));
  const ranked = [...new Map([...justLost, ...fits].map((memory) => [memory.id, memory])).values()];
  return listing("Remembered from before:", ranked.slice(0, settings.maxInjected), settings.recallBytes);
}

function listing(title: string, memories: readonly Memory[], maxBytes: number): string | null {
  if (memories.length === 0) return null;
  const lines = memories.map(({ kind, content, created }) =>
    kind === "session"
      ? `- Last session (${created.slice(0, 10)}):\n${content.replace(/^/gm, "  ")}`
      : `- ${content.replace(/\n/g, "\n  ")}`
  );
  const { chosen } = fitting(lines, maxBytes - byteLength(title) - 1, {
    size: (line) => byteLength(line) + 1,
    cut: (line, room) => cutText(line, room - 1),
  });
  return [title, ...chosen].join("\n");
}

/** Writes the page that explains the store, unless it is there. */
export function ensureReadme(storeDir: string): void {
  if (existsSync(join(storeDir, "README.md"))) return;
  mkdirSync(storeDir, { recursive: true, mode: 0o700 });
  writeWhole(storeDir, "README.md", README);
}
