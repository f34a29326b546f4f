/**
 * Rules on which paths may be granted, and the mounts that granted paths become.
 *
 * @module
 */
import { HostError, type HostErrorCode, type HostErrorOptions } from "../errors/host_error.ts";
import type { CagePlaces } from "./cage.ts";
import type { GrantedPath, PathFacts, WantedPath } from "./cage_plan.ts";
import { configFiles } from "./wanted_paths.ts";

/** Whole trees of the running system: neither they, nor what is in them, nor what holds them. */
const SYSTEM_TREES = ["/proc", "/sys", "/dev", "/run", "/var/run", "/boot"];
/** Folders of programs: a grant there would stand in for `exec:` grants. */
const PROGRAM_TREES = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
/** Every cage shows these read-only: a write grant there would reach other programs of the host. */
const SHARED_TREES = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib"];
/** Folders that may be granted in part, never whole. The cage has its own `/tmp`. */
const NEVER_WHOLE = ["/", "/etc", "/tmp"];

/** Whether `path` is `tree` or below it. */
export function isWithin(path: string, tree: string): boolean {
  return path === tree || path.startsWith(tree === "/" ? "/" : `${tree}/`);
}

const overlaps = (path: string, tree: string): boolean => isWithin(path, tree) || isWithin(tree, path);

/** Returns why `path` may never be granted, or null. Looks at the path only, not at the disk. */
export function forbiddenReason(path: string, access: "read" | "write", places: CagePlaces): string | null {
  const { home, installDir } = places;
  const whole = NEVER_WHOLE.find((tree) => isWithin(tree, path));
  if (whole) return `"${whole}" is never granted whole`;
  const system = [...SYSTEM_TREES, "/.cage"].find((tree) => overlaps(path, tree));
  if (system) return `"${system}" belongs to the running system`;
  const programs = PROGRAM_TREES.find((tree) => overlaps(path, tree));
  if (programs) return `"${programs}" holds programs; ask for each with exec:`;
  if (access === "write") {
    const shared = SHARED_TREES.find((tree) => overlaps(path, tree));
    if (shared) return `"${shared}" is shared with every program of the host`;
    if (overlaps(path, installDir)) return "the plugin's own folder is never writable";
  }
  // A plugin in the store may read itself, although the rest of home stays closed.
  if (isWithin(path, installDir) || isWithin(path, configFiles(home))) return null;
  return overlaps(path, home) ? "it reaches the host's own files" : null;
}

/** A wanted path with its entry on the disk. */
export interface ExaminedPath extends WantedPath {
  readonly facts: PathFacts;
}

/**
 * Returns the mounts of the granted paths, parents before children and without redundant ones.
 *
 * @throws {HostError} the first `capability.*` failure, with every one of them in `data.issues`.
 */
export function grantedPaths(examined: readonly ExaminedPath[], places: CagePlaces): GrantedPath[] {
  throwAll(examined.flatMap((path) => failuresOf(path, places)));
  const byPath = new Map<string, GrantedPath>();
  for (const { path, access, facts: { dev, ino } } of examined) {
    const before = byPath.get(path)?.access;
    byPath.set(path, { path, access: before === "write" ? before : access, dev, ino });
  }
  const all = [...byPath.values()].sort((a, b) => comparePaths(a.path, b.path));
  return all.filter(({ path, access }) =>
    !all.some((other) =>
      other.path !== path && isWithin(path, other.path) && (other.access === "write" || access === "read")
    ) && !(access === "read" && isWithin(path, places.installDir))
  );
}

/** Throws the first failure, naming all. */
export function throwAll(failures: readonly HostError[]): void {
  const [first] = failures;
  if (!first) return;
  if (failures.length === 1) throw first;
  const issues = failures.map(({ code, message, hint }) => ({ code, message, hint }));
  const options: HostErrorOptions = { data: { issues }, ...(first.hint === undefined ? {} : { hint: first.hint }) };
  throw new HostError(first.code, `${first.message} (and ${failures.length - 1} more)`, options);
}

/** Returns the failure of a path that may never be granted, as a list of one or none. */
export function forbiddenFailure(wanted: WantedPath, places: CagePlaces): HostError[] {
  const { capability, path, access } = wanted;
  const reason = forbiddenReason(path, access, places);
  if (!reason) return [];
  return [
    new HostError("capability.path_forbidden", `Cannot grant "${capability}": ${reason}`, {
      data: { capability, path },
      hint: access === "write" ? "Write to a folder of its own, such as config:/<plugin>" : "Grant a narrower path",
    }),
  ];
}

function failuresOf(examined: ExaminedPath, places: CagePlaces): HostError[] {
  const { capability, path, facts: { kind, real } } = examined;
  const failure = (code: HostErrorCode, why: string, hint: string): HostError[] => [
    new HostError(code, `Cannot grant "${capability}": ${why}`, { data: { capability, path, real }, hint }),
  ];
  const forbidden = forbiddenFailure(examined, places);
  if (forbidden.length > 0) return forbidden;
  if (kind === null) return failure("capability.path_missing", `"${path}" does not exist`, `Create "${path}"`);
  if (real === null) return failure("capability.path_missing", `"${path}" leads nowhere`, "Repair the link");
  // Nothing granted may be reached over a link: anyone who can change the link would choose what is granted.
  if (!isWithin(real, path)) {
    return failure("capability.symlink_escape", `"${path}" leads to "${real}"`, `Grant "${real}" itself`);
  }
  if (kind === "other") {
    return failure("capability.special_file", `"${path}" is a socket, a device or a pipe`, "Grant a file or a folder");
  }
  return [];
}

/** Folder by folder: NUL sorts before every character that a name may hold. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a.replaceAll("/", "\0"), b.replaceAll("/", "\0")];
  return left === right ? 0 : left < right ? -1 : 1;
}
