/**
 * Rules for unpacking any archive that nobody trusts.
 *
 * @module
 */
import type { HostError } from "../../core/errors/host_error.ts";
import type { TreeLimits } from "../../core/files/tree.ts";
import type { Files } from "../../core/ports/ports.ts";

/** Where an archive is unpacked to, and within which bounds. */
export interface Unpacking {
  /** An empty folder. */
  readonly dir: string;
  readonly files: Files;
  readonly limits: TreeLimits;
  /** Returns the error of an archive that cannot be unpacked, for a reason that is part of a sentence. */
  readonly refuse: (why: string) => HostError;
}

/** The reason of an archive with too many entries. */
export const tooMany = ({ maxEntries }: TreeLimits): string => `it holds more than ${maxEntries} files (--max-files)`;

/** The reason of an archive that is too large. */
export const tooMuch = ({ maxBytes }: TreeLimits): string =>
  `it unpacks to more than ${Math.round(maxBytes / 1024 ** 2)} MB (--max-size)`;

/** Throws for a name that leads out of the folder, or that another system would read as another path. */
export function refuseName(name: string, refuse: (why: string) => HostError): void {
  const segments = name.split("/");
  const isPlain = !/[\p{Cc}\\]/u.test(name) && !/^[A-Za-z]:/.test(name) && name.length <= 1000 &&
    segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (!isPlain) throw refuse(`${JSON.stringify(name)} leads out of the folder, or is no path`);
}
