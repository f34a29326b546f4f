/**
 * Ground for tests that run unchanged on earlier states of the repository: they use the command, `mod.ts` and the
 * oldest parts of `tests/support`, and nothing else.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type FixtureOptions, fixturePlugin } from "../support/fixture_plugins.ts";
import { type KagedRun, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** An event as a trail holds it. */
export interface TrailEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** SHA-256 of the line before. */
  readonly prev?: string;
}

/** An operator's folder in which a fixture is installed. */
export interface InstalledHome {
  readonly home: string;
  /** Folder of the installed plugin. */
  readonly place: string;
  /** Runs the command on that home. */
  kaged(...args: string[]): Promise<KagedRun>;
}

/** Installs a fixture as an operator does: by the command, with every capability granted by name. */
export async function installedHome(
  t: TestContext,
  fixture: string,
  options: FixtureOptions = {},
): Promise<InstalledHome> {
  const home = join(await scratchDir(t), "home");
  await using plugin = await fixturePlugin(fixture, options);
  const kaged = (...args: string[]): Promise<KagedRun> => runKaged([...args, "--home", home]);
  const grants = (options.manifest?.capabilities ?? []).flatMap((one) => ["--grant", one]);
  const { code, stderr } = await kaged("plugin", "install", plugin.dir, ...grants);
  if (code !== 0) throw new Error(stderr);
  return { home, place: join(home, "plugins", plugin.name), kaged };
}

/** Returns the lines of every file that a home keeps of one trail. */
export async function trailLines(home: string, trail: string): Promise<string[]> {
  const names = (await readdir(join(home, "audit"))).filter((name) => name.startsWith(trail));
  const files = names.filter((name) => name.includes(".jsonl")).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(home, "audit", name), "utf8")));
  return texts.join("").split("\n").filter((line) => line !== "");
}
