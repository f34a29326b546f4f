/**
 * The project's git folder, read-only in the cage: git runs programs that its config and its hooks name, outside.
 *
 * @module
 */
import type { CageOverlay } from "../../../core/cage/cage.ts";
import { HostError } from "../../../core/errors/host_error.ts";
import type { Files } from "../../../core/ports/ports.ts";
import { type Permits, permits } from "../../../core/values/permits.ts";

/** A path, and what stands before it. */
const MAX_POINTER_BYTES = 5_000;

/**
 * Returns what is shown read-only so that no hook of `dir` can change where git looks: `.git`, and the folders it leads
 * to where those are the project's own. Nothing, where there is no `.git`.
 *
 * @throws {HostError} `hook.git_unsealed` where a hook could put something else in their place.
 */
export async function gitSeals(dir: string, files: Files): Promise<CageOverlay[]> {
  const git = `${dir}/.git`;
  const info = await files.info(git);
  if (info === null) return [];
  // A link has nothing to mount over: whoever may write beside it may make it lead elsewhere.
  if (info.kind === "symlink") throw unsealed(dir, "it is a link");
  const paths = [git];
  if (info.kind === "file") {
    const head = new TextDecoder().decode(await files.readHead(git, MAX_POINTER_BYTES));
    const named = /^gitdir: ([^\r\n]+)/.exec(head)?.[1];
    if (named !== undefined) paths.push(await sealable(named, dir, dir, files));
  }
  const folder = paths.at(-1)!;
  // Worktrees have their hooks and config in the folder they share.
  const common = await files.readText(`${folder}/commondir`).catch(() => null);
  if (common !== null) paths.push(await sealable(common.trim(), folder, dir, files));
  return paths.filter((path) => path.startsWith(`${dir}/`)).map((path) => ({ source: path, dest: path }));
}

/** Returns a path that one of git's files names. On the way to it nothing may be the project's: it could be moved away. */
async function sealable(named: string, from: string, dir: string, files: Files): Promise<string> {
  const isOwn = (path: string): boolean => path.startsWith(`${dir}/`);
  const steps = named.split("/").filter((step) => step !== "" && step !== ".");
  let path = named.startsWith("/") ? "" : from;
  for (const [index, step] of steps.entries()) {
    path = step === ".." ? path.slice(0, path.lastIndexOf("/")) : `${path}/${step}`;
    if (isOwn(path) && index < steps.length - 1) throw unsealed(dir, `it leads to "${named}"`);
  }
  const real = await files.realPath(path).catch(() => null);
  const isWithin = isOwn(path) || (real !== null && isOwn(real));
  if (path === dir || real === dir || (isWithin && real !== path)) throw unsealed(dir, `it leads to "${named}"`);
  return path;
}

function unsealed(dir: string, why: string): HostError {
  // Traces show the message alone, so it says what lets hooks run all the same.
  const message =
    `Cannot keep hooks from changing "${dir}/.git": ${why}. To let them: git_writable = true under [hooks]`;
  return new HostError("hook.git_unsealed", message, {
    data: { dir },
    hint: 'Make .git a folder, or a file "gitdir: …" that names one outside the project or right below it; ' +
      "or set git_writable = true under [hooks] in config.toml",
  });
}

/** The stand-in of one project. */
interface Place {
  users: number;
  /** Lets one look or change at a time. */
  readonly inTurn: Permits;
}

/** By project, in this process: taking the folder away uncovers its place in every cage, so the last run does that. */
const places = new Map<string, Place>();

/**
 * Puts an empty `.git` into a project that has none, for as long as something of the project's runs in a cage: shown
 * read-only there, so that no hook can make one whose config and hooks the operator's git would run. To git outside, an
 * empty folder is no repository; a repository made in it meanwhile is kept. The function that is returned takes the
 * folder away again when nobody needs it.
 */
export async function holdGitPlace(dir: string, files: Files): Promise<() => Promise<void>> {
  const git = `${dir}/.git`;
  const place = places.get(dir) ?? { users: 0, inTurn: permits(1) };
  places.set(dir, place);
  await place.inTurn(async () => {
    place.users++;
    if (await files.info(git) !== null) return;
    // Where the host may not, a hook may not either.
    await files.makeDir(git, { mode: 0o755 }).catch(() => {});
  });
  return () =>
    place.inTurn(async () => {
      if (--place.users > 0) return;
      // One with something in it stays: so does a file, or a link.
      await files.removeDir(git).catch(() => {});
    });
}
