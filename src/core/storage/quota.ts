/**
 * How many bytes each plugin keeps, and how many more it may. Counted in pages of the file: exact between two commits,
 * because only one writer changes the file at a time.
 *
 * @module
 */
import type { Database, Statement } from "../ports/ports.ts";
import { type Catalogue, entriesOf, sizesOf } from "./catalogue.ts";

/** The file's own limit is set in steps of so many pages: setting it exactly for every call would cost too much. */
const STEP = 1024;

interface FileSize {
  readonly pages: number;
  readonly free: number;
}

/** The pages of one call, counted until its commit. */
export interface QuotaCall {
  /** Whether the plugin stays within its quota. Ask before the commit. */
  isWithin(): boolean;
  /** Adds the pages of a committed call to the plugin's count. */
  commit(): void;
}

/** Keeps the count. Everything here runs as the host. */
export class Quota {
  readonly #database: Database;
  readonly #pageSize: number;
  readonly #pageCount: Statement;
  readonly #freePages: Statement;
  readonly #used: Map<string, number> = new Map();
  #limit = 0;
  /** The file as of the last commit, as long as nobody else writes. */
  #file: FileSize | null = null;

  /** Counts for one connection. */
  constructor(database: Database) {
    this.#database = database;
    this.#pageCount = database.prepare("PRAGMA page_count");
    this.#freePages = database.prepare("PRAGMA freelist_count");
    this.#pageSize = numberOf(database.prepare("PRAGMA page_size"));
  }

  /** Starts a call of `plugin`, which may keep `quotaBytes` in all. */
  begin(plugin: string, quotaBytes: number, catalogue: Catalogue): QuotaCall {
    const used = this.#used.get(plugin) ?? this.#measure(plugin, catalogue);
    const { pages, free } = this.#file ??= this.#count();
    const allowance = Math.max(0, Math.floor(quotaBytes / this.#pageSize) - used);
    this.#limitFile(pages + Math.max(0, allowance - free));
    let after = this.#file;
    return {
      isWithin: () => {
        after = this.#count();
        const grown = after.pages - after.free - (pages - free);
        return grown <= 0 || grown <= allowance;
      },
      commit: () => {
        this.#file = after;
        this.#used.set(plugin, Math.max(0, used + after.pages - after.free - (pages - free)));
      },
    };
  }

  /** Forgets the size of the file: another connection has changed it. */
  forgetPages(): void {
    this.#file = null;
  }

  /** Forgets every count, because another process may have changed the file. */
  forget(): void {
    this.#used.clear();
    this.#file = null;
  }

  #count(): FileSize {
    return { pages: numberOf(this.#pageCount), free: numberOf(this.#freePages) };
  }

  #measure(plugin: string, catalogue: Catalogue): number {
    const names = new Set(entriesOf(catalogue, plugin).map(({ name }) => name));
    const bytes = [...sizesOf(this.#database)].reduce((sum, [name, size]) => names.has(name) ? sum + size : sum, 0);
    const pages = Math.ceil(bytes / this.#pageSize);
    this.#used.set(plugin, pages);
    return pages;
  }

  #limitFile(pages: number): void {
    const limit = Math.ceil((pages + 1) / STEP) * STEP;
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#database.prepare(`PRAGMA max_page_count = ${limit}`).all([]);
  }
}

function numberOf(statement: Statement): number {
  return Number(statement.all([])[0]![0]);
}
