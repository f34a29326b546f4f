/**
 * The project's git folder, read-only in the cage: git runs programs that its config and its hooks name, outside.
 *
 * @module
 */
import type { CageOverlay } from "../../../core/cage/cage.ts";
import { HostError } from "../../../core/errors/host_error.ts";
import type { Files } from "../../../core/ports/ports.ts";

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
