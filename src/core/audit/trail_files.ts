/**
 * Names and order of the files of a project's trails in the operator's folder.
 *
 * @module
 */
import { rotatedFiles } from "../files/newest_lines.ts";
import type { Files } from "../ports/ports.ts";
import type { Trail } from "./events.ts";

/** A project's trails: of the project with this id in this operator's folder. `_operator` is the trail of commands. */
export interface TrailPlace {
  readonly home: string;
  readonly project: string;
}

/** No project has an id that starts with an underscore: the trail of commands is nobody else's. */
export const OPERATOR_TRAIL = "_operator";

/** Paths of a chained trail. */
export interface ChainPaths {
  readonly folder: string;
  /** The file that events are appended to. */
  readonly open: string;
  /** The newest seq and hash, apart from the events: a trail cut at its end no longer fits it. */
  readonly head: string;
  /** Held by the process that writes. */
  readonly lock: string;
  /** Events from before the trail was chained. */
  readonly unchained: string;
  /** A full file, by the seq of its first event. */
  sealed(firstSeq: number): string;
}

/** Returns the paths of a project's audit trail. */
export function chainPaths({ home, project }: TrailPlace): ChainPaths {
  const folder = `${home}/audit`;
  const base = `${folder}/${project}`;
  return {
    folder,
    open: `${base}.jsonl`,
    head: `${base}.head`,
    lock: `${base}.lock`,
    unchained: `${base}.unchained.jsonl`,
    sealed: (firstSeq) => `${base}.${`${firstSeq}`.padStart(12, "0")}.jsonl`,
  };
}

/** Returns the path of a project's newest file of calls; older ones end in `.1`, `.2` and so on. */
export function callsPath({ home, project }: TrailPlace): string {
  return `${home}/calls/${project}.jsonl`;
}

/** A sealed file and the seq of its first event, which its name holds. */
export interface SealedFile {
  readonly path: string;
  readonly firstSeq: number;
}

/** Returns the sealed files of a project's audit trail, the oldest first. */
export async function sealedFiles(place: TrailPlace, files: Files): Promise<SealedFile[]> {
  const pattern = new RegExp(`^${place.project}\\.([0-9]{12,})\\.jsonl$`);
  const { folder } = chainPaths(place);
  return (await namesIn(folder, files)).flatMap((name) => {
    const [, seq] = pattern.exec(name) ?? [];
    return seq === undefined ? [] : [{ path: `${folder}/${name}`, firstSeq: Number(seq) }];
  }).sort((a, b) => a.firstSeq - b.firstSeq);
}

/** Returns the names of the trails in an operator's folder: ids of projects, and `_operator`. */
export async function trailsIn(home: string, files: Files): Promise<string[]> {
  const names = [...await namesIn(`${home}/audit`, files), ...await namesIn(`${home}/calls`, files)];
  const found = names.flatMap((name) =>
    /^(_operator|[a-z][a-z0-9-]{0,63})\.(?:jsonl|head|[0-9]{12,}\.jsonl)$/.exec(name)?.[1] ?? []
  );
  return [...new Set(found)].sort();
}

/** Returns the files of a trail, the newest first; those from before the audit trail was chained come last. */
export async function trailFiles(place: TrailPlace, trail: Trail, files: Files): Promise<string[]> {
  if (trail === "calls") return await rotatedFiles(callsPath(place), files);
  const { open, unchained } = chainPaths(place);
  const isThere = async (path: string): Promise<string[]> => await files.info(path) ? [path] : [];
  const sealed = (await sealedFiles(place, files)).map(({ path }) => path).reverse();
  const rotated = (await rotatedFiles(open, files)).filter((path) => path !== open);
  return [...await isThere(open), ...sealed, ...await isThere(unchained), ...rotated];
}

async function namesIn(folder: string, files: Files): Promise<string[]> {
  return await files.info(folder) ? await files.list(folder) : [];
}
