/**
 * The memories of one folder. Other processes write to it too, so the files are the truth and what is held here follows
 * them: each memory is a file of its own, appears whole or not at all, and the same text always has the same name.
 *
 * @module
 */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { formatMemory, isId, type Memory, parseMemory } from "./memory_file.ts";
import { factsPage } from "./pages.ts";
import { createSearchIndex, type Found, type SearchIndex } from "./search_index.ts";

/** Told of a file that is left out. */
export type Warn = (message: string, fields: Record<string, unknown>) => void;

const FACTS_FILE = "facts.md";
const OWN_FILES: ReadonlySet<string> = new Set([FACTS_FILE, "README.md"]);
const TEMP_PREFIX = ".tmp-";
const MAX_FILE_BYTES = 256 * 1024;
/** A folder changed less than this before it was read may have changed again in the same tick of its clock. */
const SETTLED_MS = 100;
const TEMP_LIFE_MS = 3_600_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

interface Entry {
  /** Size and time of the file when it was read, so that a change is noticed. */
  readonly mark: string;
  /** Null for a file that is no memory. */
  readonly memory: Memory | null;
}

/** The memories of one folder. */
export class MemoryStore {
  readonly #dir: string;
  readonly #warn: Warn;
  readonly #entries = new Map<string, Entry>();
  #index: SearchIndex | null = null;
  /** State of the folder when it was read; null when it may have changed unseen. */
  #seen: string | null = null;

  constructor(dir: string, warn: Warn) {
    this.#dir = dir;
    this.#warn = warn;
  }

  /** Every memory, newest first. */
  all(): Memory[] {
    this.#follow();
    return this.#memories();
  }

  /** One memory, or null. */
  get(id: string): Memory | null {
    if (!isId(id) || !this.#take(id)) this.#set(id, null);
    return this.#entries.get(id)?.memory ?? null;
  }

  /** Finds memories by their words, best first. */
  search(query: string, filter: (memory: Memory) => boolean = () => true): (Found & { memory: Memory })[] {
    this.#follow();
    const index = this.#index ??= this.#newIndex();
    const memoryOf = (id: string): Memory => this.#entries.get(id)!.memory!;
    const found = index.search(query, (id) => filter(memoryOf(id)));
    // Equals in an order of their own: that of the folder differs from disk to disk.
    return found.sort((a, b) => b.score - a.score || compare(a.id, b.id))
      .map((each) => ({ ...each, memory: memoryOf(each.id) }));
  }

  /** Keeps memories; one whose id is known takes its place. */
  put(memories: readonly Memory[]): void {
    if (memories.length === 0) return;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    this.#follow();
    for (const memory of memories) {
      writeWhole(this.#dir, `${memory.id}.md`, formatMemory(memory));
      this.#take(memory.id);
    }
    writeWhole(this.#dir, FACTS_FILE, factsPage(this.#memories()));
  }

  /** Removes a memory; false when there is none of that id. */
  remove(id: string): boolean {
    if (this.get(id) === null && !this.#entries.has(id)) return false;
    this.#follow();
    rmSync(join(this.#dir, `${id}.md`), { force: true });
    this.#set(id, null);
    writeWhole(this.#dir, FACTS_FILE, factsPage(this.#memories()));
    return true;
  }

  /** Looks at every file again: one that was edited in place has left its folder as it was. */
  reload(): void {
    this.#follow({ again: true });
  }

  #memories(): Memory[] {
    const memories = [...this.#entries.values()].flatMap(({ memory }) => memory ? [memory] : []);
    return memories.sort((a, b) => compare(b.created, a.created) || compare(a.id, b.id));
  }

  #newIndex(): SearchIndex {
    const index = createSearchIndex();
    for (const { memory } of this.#entries.values()) if (memory) index.add(memory);
    return index;
  }

  /** Brings what is held here up to what is on the disk: files that came and went, or with `again` every one. */
  #follow({ again = false } = {}): void {
    const startedMs = Date.now();
    const folder = statSync(this.#dir, { throwIfNoEntry: false });
    const state = folder ? `${folder.ino}:${folder.mtimeMs}` : "none";
    if (state === this.#seen && !again) return;
    const present = new Set<string>();
    for (const file of folder ? readdirSync(this.#dir, { withFileTypes: true }) : []) {
      if (file.name.startsWith(TEMP_PREFIX)) removeIfOld(join(this.#dir, file.name), startedMs);
      const id = file.name.slice(0, -".md".length);
      if (!file.isFile() || !file.name.endsWith(".md") || !isId(id)) continue;
      if ((!again && this.#entries.has(id)) || this.#take(id)) present.add(id);
    }
    for (const id of this.#entries.keys()) if (!present.has(id)) this.#set(id, null);
    this.#seen = folder && startedMs - folder.mtimeMs > SETTLED_MS ? state : null;
  }

  /** Reads a file unless it is known as it is; false when it is gone by now. */
  #take(id: string): boolean {
    const path = join(this.#dir, `${id}.md`);
    if (OWN_FILES.has(`${id}.md`)) return false;
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (!info?.isFile()) return false;
    const mark = `${info.ino}:${info.mtimeMs}:${info.size}`;
    if (this.#entries.get(id)?.mark === mark) return true;
    let memory: Memory | null = null;
    try {
      if (info.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
      memory = parseMemory(id, utf8.decode(readFileSync(path)), info.mtime);
    } catch (error) {
      this.#warn("Left out a file that is no memory", { file: `${id}.md`, reason: (error as Error).message });
    }
    this.#set(id, { mark, memory });
    return true;
  }

  #set(id: string, entry: Entry | null): void {
    const before = this.#entries.get(id)?.memory;
    if (before) this.#index?.remove(before);
    if (entry === null) this.#entries.delete(id);
    else this.#entries.set(id, entry);
    if (entry?.memory) this.#index?.add(entry.memory);
  }
}

/** Writes a file that others see whole or not at all. */
export function writeWhole(dir: string, name: string, text: string): void {
  // A process id is no name here: in every cage it is the same.
  const temp = join(dir, `${TEMP_PREFIX}${crypto.randomUUID()}`);
  const file = openSync(temp, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    renameSync(temp, join(dir, name));
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

/** A process that was killed while it wrote leaves a file behind. */
function removeIfOld(path: string, nowMs: number): void {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info && nowMs - info.mtimeMs > TEMP_LIFE_MS) rmSync(path, { force: true });
}

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;
