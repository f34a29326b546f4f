/**
 * Checks the chain of an audit trail: every line against the one before it, the last against the head file.
 *
 * It proves that nobody changed the trail without writing it anew: who may write to the operator's folder can make a
 * whole new chain. A head kept elsewhere, passed as `against`, shows that too.
 *
 * @module
 */
import { linesForward } from "../files/lines_of_file.ts";
import type { Files } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";
import { type ChainHead, headText, linkOf, NO_LINES, parseHead, parseLine } from "./chain.ts";
import { chainPaths, sealedFiles, trailFiles, type TrailPlace } from "./trail_files.ts";

/** The first line that does not fit. */
export interface TrailBreak {
  /** Name of the file in the folder of the trail. */
  readonly file: string;
  /** Number of the line in the file, from 1; 0 where the file has none. */
  readonly line: number;
  /** The number that the line itself holds, or null where it holds none. */
  readonly seq: number | null;
  /** Names the kind of break, for a program. */
  readonly reason: "unreadable" | "changed" | "missing" | "out_of_order" | "cut" | "no_head" | "against";
  /** The same in words. */
  readonly message: string;
}

/** The outcome of a check. */
export interface TrailVerdict {
  /** Id of the project, or `_operator`. */
  readonly project: string;
  /** Whether every line fits. */
  readonly ok: boolean;
  /** The first line that does not fit, or null. */
  readonly broken: TrailBreak | null;
  /** Number of chained files that were read. */
  readonly files: number;
  /** Number of lines that fit. */
  readonly lines: number;
  /** The last line as {@link headText}, or null for a trail without lines. Keep it elsewhere to check against it later. */
  readonly head: string | null;
  /** Times that a start mended what a crash had left. */
  readonly mended: number;
  /** Sealed files that were deleted by the rules of retention, as the trail itself says. */
  readonly expired: number;
  /** Events that could not be written, as the trail itself says. */
  readonly lost: number;
  /** Bytes of a last line that is being written, or that a crash tore: the next start mends it. */
  readonly torn_bytes: number;
  /** Files from before the trail was chained: nothing is known about them. */
  readonly unchained: readonly string[];
}

/** Lines that are hashed at once. */
const BATCH = 256;
/** A host that seals a file while it is read makes it look missing: then everything is read once more. */
const MOST_TRIES = 3;

/** Checks a whole trail; `against` is a head that was kept elsewhere. */
export async function verifyTrail(
  place: TrailPlace,
  files: Files,
  { against = null }: { readonly against?: ChainHead | null } = {},
): Promise<TrailVerdict> {
  for (let tries = 1;; tries++) {
    const before = await trailFiles(place, "audit", files);
    const verdict = await new Check(place, files, against).run();
    const after = await trailFiles(place, "audit", files);
    if (verdict.ok || tries === MOST_TRIES || before.join() === after.join()) return verdict;
  }
}

/** A line on its way through the check. */
interface CheckedLine {
  readonly file: string;
  readonly number: number;
  readonly parsed: Readonly<Record<string, unknown>> | null;
  readonly hash: string;
}

class Check {
  readonly #place: TrailPlace;
  readonly #files: Files;
  readonly #against: ChainHead | null;
  #broken: TrailBreak | null = null;
  #kept: ChainHead | null = null;
  /** The line before, as it is on the disk. */
  #last: (ChainHead & { readonly file: string; readonly number: number }) | null = null;
  /** The first line, where it is not number 1. */
  #begin: (ChainHead & { readonly file: string }) | null = null;
  #againstSeen = false;
  #lines = 0;
  #tornBytes = 0;
  #mended = 0;
  #lost = 0;
  readonly #expired: { readonly last_seq?: unknown; readonly last_hash?: unknown }[] = [];

  constructor(place: TrailPlace, files: Files, against: ChainHead | null) {
    this.#place = place;
    this.#files = files;
    this.#against = against;
  }

  async run(): Promise<TrailVerdict> {
    const paths = chainPaths(this.#place);
    const hasHead = await this.#files.info(paths.head) !== null;
    // Read before the lines: what a running host adds meanwhile is behind it.
    this.#kept = hasHead ? parseHead(await this.#files.readText(paths.head)) : null;
    const sealed = (await sealedFiles(this.#place, this.#files)).map(({ path }) => path);
    const chained = [...sealed, ...await this.#files.info(paths.open) ? [paths.open] : []];
    const name = (path: string): string => path.slice(paths.folder.length + 1);
    const all = await trailFiles(this.#place, "audit", this.#files);
    const unchained = all.filter((path) => !chained.includes(path)).map(name);
    for (const path of chained) await this.#checkFile(path, name(path));
    this.#checkEnd(name(paths.open));
    this.#checkBeginning();
    return {
      project: this.#place.project,
      ok: this.#broken === null,
      broken: this.#broken,
      files: chained.length,
      lines: this.#lines,
      head: this.#last && headText(this.#last),
      mended: this.#mended,
      expired: this.#expired.length,
      lost: this.#lost,
      torn_bytes: this.#tornBytes,
      unchained,
    };
  }

  async #checkFile(path: string, file: string): Promise<void> {
    let batch: Promise<CheckedLine>[] = [];
    const settle = async (): Promise<void> => {
      for (const line of await Promise.all(batch)) this.#checkLine(line);
      batch = [];
    };
    for await (const { number, bytes, isWhole } of linesForward(path, this.#files)) {
      if (!isWhole) {
        this.#tornBytes = bytes?.length ?? 0;
        continue;
      }
      const read = async (): Promise<CheckedLine> => ({
        file,
        number,
        parsed: bytes && parseLine(new TextDecoder().decode(bytes)),
        hash: bytes === null ? "" : await sha256(bytes),
      });
      if (batch.push(read()) >= BATCH) await settle();
    }
    await settle();
  }

  #checkLine({ file, number, parsed, hash }: CheckedLine): void {
    this.#lines++;
    const link = linkOf(parsed);
    const at = { file, line: number, seq: link?.seq ?? null };
    if (link === null) return this.#fail({ ...at, reason: "unreadable", message: "The line is no event of a chain" });
    const { seq, prev } = link;
    const before = this.#last ?? (seq === 1 ? { ...NO_LINES, file, number: 0 } : null);
    if (before === null) this.#begin = { seq, hash: prev, file };
    else if (seq !== before.seq + 1) this.#failOrder(at, seq, before.seq + 1);
    else if (prev !== before.hash) {
      const message = `Line ${seq - 1} was changed: line ${seq} holds another SHA-256 of it`;
      this.#fail({ file: before.file, line: before.number, seq: before.seq, reason: "changed", message });
    }
    for (const known of [this.#kept, this.#against]) {
      if (known?.seq !== seq || known.hash === hash) continue;
      const message = `Line ${seq} is not the one that the ${known === this.#kept ? "head file" : "kept head"} knows`;
      this.#fail({ ...at, reason: known === this.#kept ? "changed" : "against", message });
    }
    if (this.#against?.seq === seq) this.#againstSeen = true;
    this.#last = { seq, hash, file, number };
    this.#count(parsed!);
  }

  #failOrder(at: Pick<TrailBreak, "file" | "line">, seq: number, due: number): void {
    if (seq > due) {
      const gone = seq - 1 === due ? `Line ${due} is` : `Lines ${due} to ${seq - 1} are`;
      return this.#fail({ ...at, seq, reason: "missing", message: `${gone} missing before line ${seq}` });
    }
    this.#fail({ ...at, seq, reason: "out_of_order", message: `Line ${seq} stands where line ${due} is due` });
  }

  #count({ type, data }: Readonly<Record<string, unknown>>): void {
    const facts = (data ?? {}) as Readonly<Record<string, unknown>>;
    if (type === "audit.mended") this.#mended++;
    if (type === "audit.lost") this.#lost += Number(facts.count) || 0;
    if (type === "audit.expired") this.#expired.push(facts);
  }

  #checkEnd(open: string): void {
    const { seq, file, number: line } = this.#last ?? { seq: 0, file: open, number: 0 };
    const at = { file, line, seq: seq || null };
    if (this.#kept === null && seq > 0) {
      this.#fail({ ...at, reason: "no_head", message: "The head file is missing: a cut end would not be seen" });
    }
    for (const known of [this.#kept, this.#against]) {
      if (known === null || known.seq <= seq) continue;
      const message = `The trail ends with line ${seq}, the ${
        known === this.#kept ? "head file" : "kept head"
      } knows line ${known.seq}`;
      this.#fail({ ...at, reason: "cut", message });
    }
    if (this.#against === null || this.#againstSeen || this.#against.seq > seq) return;
    if (this.#begin?.seq === this.#against.seq + 1 && this.#begin.hash === this.#against.hash) return;
    const message = `Line ${this.#against.seq} of the kept head is no longer in the trail`;
    this.#fail({ ...at, reason: "against", message });
  }

  /** A trail that begins later than with line 1 has to say itself who deleted the lines before. */
  #checkBeginning(): void {
    if (this.#begin === null) return;
    const { seq, hash, file } = this.#begin;
    if (this.#expired.some(({ last_seq, last_hash }) => last_seq === seq - 1 && last_hash === hash)) return;
    const message = `Lines before ${seq} are missing, and no event says that retention deleted them`;
    this.#broken = { file, line: 1, seq, reason: "missing", message };
  }

  #fail(broken: TrailBreak): void {
    this.#broken ??= broken;
  }
}
