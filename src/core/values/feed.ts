/**
 * The newest entries of a stream that never ends, each with an id to go on from. Streams of events and logs are read
 * from it. A reader holds a place and no copy, so that a slow reader costs nothing.
 *
 * @module
 */

/** One entry of a feed. */
export interface FeedEntry {
  /** Its place, counted from 1. */
  readonly seq: number;
  /** A reader names it to go on after this entry; no other feed has the same id. */
  readonly id: string;
  /** `audit`, `notification` or `log`. */
  readonly kind: string;
  /** Name of the plugin it is about. */
  readonly plugin: string;
  /** The entry itself, as JSON. */
  readonly text: string;
}

/** Name and size of a feed. */
export interface FeedOptions {
  /** First part of every id, so that ids of two feeds differ. */
  readonly name: string;
  /** Most entries that are kept; the oldest go first. */
  readonly maxEntries: number;
  /** Characters of all entries together. */
  readonly maxLength: number;
}

/** Where a reader starts: after an entry that was named, with what is lost in between. */
export interface FeedPlace {
  /** The entry it has read last. */
  readonly seq: number;
  /** Whether entries after the one it named are gone, or it named one of another feed. */
  readonly missed: boolean;
}

/** Keeps the newest entries and wakes readers. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<() => void>();
  #entries: FeedEntry[] = [];
  #length = 0;
  #newest = 0;
  #isClosed = false;

  /** Starts empty, with ids that begin with the feed's name. */
  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Place of the newest entry ever pushed, 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** Whether nothing more will come. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Adds an entry; the oldest make room for it. */
  push(kind: string, plugin: string, data: unknown): void {
    if (this.#isClosed) return;
    const text = JSON.stringify(data);
    const seq = ++this.#newest;
    this.#entries.push({ seq, id: this.idAt(seq), kind, plugin, text });
    this.#length += text.length;
    const { maxEntries, maxLength } = this.#options;
    let gone = 0;
    while (this.#entries.length - gone > maxEntries || (this.#length > maxLength && gone < this.#entries.length - 1)) {
      this.#length -= this.#entries[gone++]!.text.length;
    }
    if (gone > 0) this.#entries.splice(0, gone);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Returns up to `max` entries after a place, oldest first, and whether some before them are gone. */
  after(seq: number, max: number = Infinity): { readonly entries: readonly FeedEntry[]; readonly missed: boolean } {
    const oldest = this.#newest - this.#entries.length + 1;
    const from = Math.max(0, seq + 1 - oldest);
    return { entries: this.#entries.slice(from, from + max), missed: seq + 1 < oldest };
  }

  /** Returns the place of an id that was read last. */
  placeOf(id: string): FeedPlace {
    const seq = Number(id.slice(id.lastIndexOf("-") + 1));
    const isOwn = Number.isSafeInteger(seq) && seq >= 0 && seq <= this.#newest && id === this.idAt(seq);
    return isOwn ? { seq, missed: this.after(seq).missed } : { seq: 0, missed: true };
  }

  /** The id to go on from for a reader of everything up to `seq`. */
  idAt(seq: number): string {
    return `${this.#options.name}-${seq}`;
  }

  /** Hears of new entries and of the end; returns a function that ends it. */
  listen(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Ends it: readers take what is there, and then are done. */
  close(): void {
    this.#isClosed = true;
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }
}
