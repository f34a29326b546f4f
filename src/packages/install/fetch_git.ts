/**
 * Fetches one version of a repository: shallow, without submodules, nothing of it run, within a size.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { newestInRange } from "../../core/project/version_range.ts";
import { overText, SIZE_FLAGS, type SizeLimit, type TreeLimits } from "../../core/files/tree.ts";
import { type GitResult, type GitRun, MAX_OUTPUT, runGit } from "./run_git.ts";

export interface GitFetch {
  readonly url: string;
  /** An empty folder; the files are fetched to `tree` in it. */
  readonly dir: string;
  /** Range of versions, of which the newest tag is fetched; null for the repository's default branch. */
  readonly release: string | null;
  /** Largest tree that is fetched. */
  readonly limits: TreeLimits;
  readonly signal?: AbortSignal;
}

/** Deadline of each call of git: the list of tags, the clone, the checkout. */
const TIMEOUT_MS = 120_000;
/** Room for each file in the list of a repository: a limit that was raised must not fail for the length of the list. */
const LISTED_BYTES = 210;
/** A history of one commit, compressed, is not much larger than its files. */
const PACK_FACTOR = 2;
const MAX_TAGS_SHOWN = 5;

/**
 * Fetches a repository; returns the folder with its files, without `.git`.
 *
 * @throws {HostError} `install.source_unreachable`, `install.release_missing`, `install.too_large` or
 * `install.git_missing`.
 */
export async function fetchGit(fetch: GitFetch, runtime: Runtime): Promise<string> {
  const { url, dir, release, limits } = fetch;
  const signal = fetch.signal && { signal: fetch.signal };
  const run: GitRun = { cwd: dir, allowHttp: url.startsWith("http:"), timeoutMs: TIMEOUT_MS, ...signal };
  const git = async (args: string[], extra: Partial<GitRun> = {}): Promise<string> => {
    const result = await runGit(args, { ...run, ...extra }, runtime);
    if (result.code !== 0) throw unreachable(url, result);
    if (result.isCut) throw tooLarge(url, "entries", limits); // Files that are cut off the list were not counted.
    return result.stdout;
  };
  const tag = release === null ? null : await chooseTag(await git(["ls-remote", "--tags", "--refs", "--", url]));
  const pack = `${dir}/tree/.git/objects/pack`;
  const watch = async (): Promise<HostError | null> => {
    const names = await runtime.files.list(pack).catch(() => []);
    const sizes = await Promise.all(
      names.map(async (name) => (await runtime.files.info(`${pack}/${name}`))?.size ?? 0),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return bytes > limits.maxBytes * PACK_FACTOR ? tooLarge(url, "bytes", limits) : null;
  };
  await git([
    ...["clone", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--no-checkout"],
    ...["--template=", ...(tag === null ? [] : [`--branch=${tag}`]), "--", url, `${dir}/tree`],
  ], { watch });
  const inTree = { cwd: `${dir}/tree` };
  const maxOutput = Math.max(MAX_OUTPUT, limits.maxEntries * LISTED_BYTES);
  checkSize(await git(["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"], { ...inTree, maxOutput }));
  await git(["checkout", "--quiet", "--detach", "HEAD"], inTree);
  await runtime.files.remove(`${dir}/tree/.git`);
  return `${dir}/tree`;

  async function chooseTag(listing: string): Promise<string> {
    const tags = [...listing.matchAll(/\trefs\/tags\/(.+)$/gm)].map((match) => match[1]!);
    const versions = new Map(tags.map((name) => [name.replace(/^v/, ""), name]));
    const newest = await newestInRange([...versions.keys()], release!);
    if (newest !== null) return versions.get(newest)!;
    const shown = tags.slice(-MAX_TAGS_SHOWN).join(", ");
    throw new HostError("install.release_missing", `"${url}" has no tag for version ${release}`, {
      data: { source: url, release, tags: tags.slice(-MAX_TAGS_SHOWN) },
      hint: tags.length === 0
        ? "It has no tags at all"
        : `Its tags: ${shown}${tags.length > MAX_TAGS_SHOWN ? ", …" : ""}`,
    });
  }

  /** Called before files are written: a small pack can hold very large files. */
  function checkSize(listing: string): void {
    const entries = listing.split("\0").filter((entry) => entry !== "");
    const sizes = entries.map((entry) => Number(/^\d+ \w+ [0-9a-f]+ +(\d+)\t/.exec(entry)?.[1] ?? 0));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > limits.maxBytes) throw tooLarge(url, "bytes", limits);
    if (entries.length > limits.maxEntries) throw tooLarge(url, "entries", limits);
  }
}

function tooLarge(url: string, over: SizeLimit, limits: TreeLimits): HostError {
  return new HostError("install.too_large", `"${url}" is larger than a plugin may be: ${overText(over, limits)}`, {
    data: { source: url, over, max_bytes: limits.maxBytes, max_entries: limits.maxEntries },
    hint: `If you trust it, raise the limit with ${SIZE_FLAGS[over]}`,
  });
}

function unreachable(url: string, { code, stderr }: GitResult): HostError {
  const lines = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const reason = lines.find((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? `git ended with ${code}`;
  const isMoved = /error: 30[1278]|redirect/i.test(stderr);
  const isPrivate = /could not read Username|Authentication failed|terminal prompts disabled/i.test(stderr);
  return new HostError("install.source_unreachable", `Cannot fetch "${url}": ${reason.slice(0, 300)}`, {
    data: { source: url, exit_code: code, stderr: stderr.slice(0, 2000) },
    hint: isMoved
      ? "The address leads to another one: use that one"
      : isPrivate
      ? "It does not exist or is not public: fetch it yourself and install the folder"
      : "Check the address and the network, then try again",
  });
}
