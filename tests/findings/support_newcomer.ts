/**
 * What the tests of findings share: the command, a home in which it installed a plugin, and machines that differ from
 * this one in a single way. Everything goes through the command or the public entries, so that a file of this folder
 * also runs in a checkout of an earlier version.
 *
 * @module
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { type FixtureOptions, fixturePlugin } from "../support/fixture_plugins.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { kagedCommand, type KagedRun, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** A working folder, an operator's folder and the command. */
export interface Ground {
  readonly dir: string;
  readonly home: string;
  /** Runs `kaged` in the working folder with that home. */
  kaged(args: readonly string[], input?: string): Promise<KagedRun>;
}

/** Makes an empty working folder, with an operator's folder in it. */
export async function emptyGround(t: TestContext): Promise<Ground> {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  const kaged: Ground["kaged"] = (args, input = "") => runKaged([...args, "--home", home], { cwd: dir, input });
  return { dir, home, kaged };
}

/** Makes a working folder in which the fixture `echo` lies as `./echo`. */
export async function echoGround(t: TestContext, options: FixtureOptions = {}): Promise<Ground> {
  const ground = await emptyGround(t);
  await using plugin = await fixturePlugin("echo", options);
  await cp(plugin.dir, join(ground.dir, "echo"), { recursive: true });
  return ground;
}

/** Installs a folder by the command, as an operator who grants all that it asks for. */
export async function install({ kaged }: Ground, folder: string, flags: readonly string[] = []): Promise<void> {
  const { code, stdout, stderr } = await kaged(["plugin", "install", folder, ...flags]);
  assert.equal(code, 0, stdout + stderr);
}

/** Whether the tests run as root with a bubblewrap, by which a machine can be made that differs from this one. */
export async function canDiffer(t: TestContext): Promise<boolean> {
  return await requireOrSkip(t, "a bubblewrap", existsSync("/usr/bin/bwrap"), "install the package bubblewrap") &&
    await requireOrSkip(t, "root", process.getuid?.() === 0, "run the tests as root");
}

/** A row of `kaged doctor --json`. */
export interface DoctorRow {
  readonly id: string;
  readonly status: string;
  readonly hint?: string;
}

/**
 * Returns the rows of `kaged doctor` on this machine with the differences that `flags` of bubblewrap make; `as` stands
 * before that bubblewrap and changes the user.
 */
export async function doctorRows(
  t: TestContext,
  flags: readonly string[],
  as: readonly string[] = [],
): Promise<Readonly<Record<string, DoctorRow>>> {
  const { command, args } = kagedCommand(["doctor", "--json"]);
  // The command is in the script: Deno would rewrite an argument that is its own path.
  const script = [command, ...args].map((word) => `'${word}'`).join(" ");
  const [file, ...words] = [...as, "/usr/bin/bwrap", ...flags, "/bin/sh", "-c", script];
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/nonexistent", DENO_DIR: await scratchDir(t) };
  const { stdout, stderr } = spawnSync(file!, words, { env, encoding: "utf8" });
  assert.ok(stdout.startsWith("{"), stdout + stderr);
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly DoctorRow[] };
  return Object.fromEntries(checks.map((row) => [row.id, row]));
}
