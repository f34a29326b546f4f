/**
 * Hashes of plugins' folders that need not be read again. A folder whose listing is the same to the last field, with the
 * change time of every file, has the content it had when it was read.
 *
 * @module
 */
import type { Clock, FileInfo, Files } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";

/** A plugin's folder as one value. */
export interface TreeHash {
  /** `sha256:` and 64 hexadecimal digits, over names, kinds, contents and who may run what. */
  readonly hash: string;
  /** Bytes of all files together. */
  readonly bytes: number;
}

/** One thing in the listing of a folder; every field of it is part of the stamp. */
interface Listed {
  readonly path: string;
  /** State of a regular file, whose content is not part of the listing. */
  readonly info?: FileInfo;
}

/**
 * Files that changed less than this before they were listed are read each time. Two changes within one tick of the file
 * system's clock (up to 2 s) have one change time, and a mapped page is stamped at its first write after each write-back
 * only, which comes within 35 s by default. The next change is then later than any that a kept stamp has.
 */
const SETTLED_MS = 60_000;

/**
 * File systems, by the kernel's number, on which each change of a file sets its change time by the clock of this machine,
 * and no user can set it to another: ext2 to ext4, XFS, Btrfs and F2FS. On others, such as FAT, FUSE, NFS and
 * overlays of unknown layers, trees are read each time.
 */
const STAMPED_FILE_SYSTEMS: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010];

/** The hashes that one process keeps: nothing of them is written, and no plugin can see or set them. */
export class TreeMemory {
  readonly #files: Files;
  readonly #clock: Pick<Clock, "now">;
  readonly #maxTrees: number;
  /** By folder, the least recently used first. */
  readonly #known = new Map<string, { readonly stamp: string; readonly tree: TreeHash }>();

  constructor(
    { files, clock }: { readonly files: Files; readonly clock: Pick<Clock, "now"> },
    maxTrees: number = 4096,
  ) {
    this.#files = files;
    this.#clock = clock;
    this.#maxTrees = maxTrees;
  }

  /**
   * Returns the hash of a listing of `dir`, by which the same listing is recognized later; null where a file could change
   * without a change of the listing. Call it before files are read: they must have been settled by then.
   */
  async stamp(dir: string, listed: readonly Listed[]): Promise<string | null> {
    const [nowMs, own, kind] = [this.#clock.now(), await this.#files.info(dir), await this.#files.fileSystem(dir)];
    if (own === null || kind === null || !STAMPED_FILE_SYSTEMS.includes(kind)) return null;
    const isSettled = ({ dev, ino, changedMs }: FileInfo): boolean =>
      dev === own.dev && ino > 0 && nowMs - changedMs >= SETTLED_MS;
    if (!listed.every(({ info }) => info === undefined || isSettled(info))) return null;
    return await sha256(listed.map((one) => JSON.stringify(one)).join("\n"));
  }

  recall(dir: string, stamp: string): TreeHash | null {
    const known = this.#known.get(dir);
    if (known?.stamp !== stamp) return null;
    this.#known.delete(dir);
    this.#known.set(dir, known);
    return known.tree;
  }

  keep(dir: string, stamp: string, tree: TreeHash): void {
    this.#known.delete(dir);
    this.#known.set(dir, { stamp, tree });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#maxTrees) return;
      this.#known.delete(oldest);
    }
  }
}

/** Whether two looks found the same file in the same state. */
export function isSameState(one: FileInfo, other: FileInfo): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
