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
/** A plugin with so many pages left is not counted call by call: SQLite itself stops it at a limit below its quota. */
const AMPLE = 4 * STEP;

interface FileSize {
  readonly pages: number;
  readonly free: number;
}

interface Ample {
  readonly plugin: string;
  readonly used: number;
  readonly from: FileSize;
}

/** A call of a plugin that is far from its quota: the limit of the file holds it. */
const UNCOUNTED: QuotaCall = { isWithin: () => true, commit: () => {} };

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
  /** The plugin that writes uncounted, what it may keep, and the file and its count when that began. */
  #ample: Ample | null = null;
  /** The file as of the last commit, as long as nobody else writes. */
  #file: FileSize | null = null;

  /** Counts for one connection. */
  constructor(database: Database) {
    this.#database = database;
    this.#pageCount = database.prepare("PRAGMA page_count");
    this.#freePages = database.prepare("PRAGMA freelist_count");
    this.#pageSize = numberOf(database.prepare("PRAGMA page_size"));
  }

  /** Whether calls of `plugin` are not counted now: it is the last that wrote, and far from its quota. */
  isAmpleFor(plugin: string): boolean {
    return this.#ample !== null && this.#ample.plugin === plugin;
  }

  /**
   * Starts a call of `plugin`, which may keep `quotaBytes` in all. A call that is not counted may reach the limit of the
   * file before the plugin's quota: it is then repeated with `exactly`.
   */
  begin(plugin: string, quotaBytes: number, catalogue: Catalogue, exactly: boolean = false): QuotaCall {
    if (!exactly && this.isAmpleFor(plugin)) return UNCOUNTED;
    this.#settle();
    const used = this.#used.get(plugin) ?? this.#measure(plugin, catalogue);
    const { pages, free } = this.#file ??= this.#count();
    const allowance = Math.max(0, Math.floor(quotaBytes / this.#pageSize) - used);
    if (!exactly && allowance - free >= AMPLE) {
      // While it alone writes, the pages it takes from its allowance are those by which the file grows: the limit stays.
      this.#limitFile(Math.floor((pages + allowance - free) / STEP) * STEP);
      this.#ample = { plugin, used, from: { pages, free } };
      return UNCOUNTED;
    }
    this.#limitFile(Math.ceil((pages + Math.max(0, allowance - free) + 1) / STEP) * STEP);
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

  /** Forgets the size of the file: another connection has changed it, so that pages not counted yet are nobody's. */
  forgetPages(): void {
    this.#file = null;
    if (this.#ample) this.#used.delete(this.#ample.plugin);
    this.#ample = null;
  }

  /** Forgets every count, because another process may have changed the file. */
  forget(): void {
    this.#used.clear();
    this.#file = null;
    this.#ample = null;
  }

  /** Counts what the plugin that wrote uncounted has taken. */
  #settle(): void {
    if (!this.#ample) return;
    const { plugin, used, from } = this.#ample;
    const { pages, free } = this.#file = this.#count();
    this.#used.set(plugin, Math.max(0, used + pages - free - (from.pages - from.free)));
    this.#ample = null;
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

  #limitFile(limit: number): void {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#database.prepare(`PRAGMA max_page_count = ${limit}`).all([]);
  }
}

function numberOf(statement: Statement): number {
  return Number(statement.all([])[0]![0]);
}
