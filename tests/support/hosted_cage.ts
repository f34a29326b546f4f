/**
 * Hosts of their own, each a process on the runtime of the test, run as root or as an ordinary user.
 *
 * @module
 */
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import process from "node:process";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { compiledCode } from "./compiled_code.ts";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { CagePlaces } from "../../src/core/cage/cage.ts";
import { probeCage } from "../../src/core/cage/probe_cage.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import type { Runtime } from "../../src/core/ports/ports.ts";
import { type CagedEnd, placesIn, requestOf } from "./cage_requests.ts";
import { requireOrLess, requireOrSkip, runtimeName } from "./require_or_skip.ts";
import { scratchDir } from "./scratch_dir.ts";

const HOST: string = fileURLToPath(new URL("../core/cage/fixtures/small_host.ts", import.meta.url));

/** The ordinary user: an id that nobody has. */
export const ORDINARY_UID = 64_242;
/** Words before a program in a shell that run it as that user. */
export const AS_USER: string = `setpriv --reuid ${ORDINARY_UID} --regid ${ORDINARY_UID} --clear-groups --inh-caps=-all`;

/** How a host's one cage ended, as that host reports it. */
export interface HostedEnd extends CagedEnd {
  /** True, or why the mounts could not be trusted. */
  readonly verified: unknown;
  /** Standard error of the host itself. */
  readonly hostErr: string;
}

/** A place where hosts can be started. */
export interface HostedGround {
  /** A folder of the test. */
  readonly dir: string;
  /** Home, project and plugin in it. */
  readonly places: CagePlaces & { projectDir: string };
  /** The runtime of the test. */
  readonly runtime: Runtime;
  /** Starts a host, by way of a shell script that says `$host`. */
  host(script: string, manifest: Partial<Manifest>): Promise<ChildProcessWithoutNullStreams>;
  /** Runs it to its end. */
  hosted(script: string, manifest: Partial<Manifest>): Promise<HostedEnd>;
}

/** Makes the place, or returns null when this machine cannot cage. */
export async function hostedGround(t: TestContext): Promise<HostedGround | null> {
  const runtime = await detectRuntime();
  const { files } = runtime;
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return null;
  const start = runtimeName === "deno"
    ? [runtime.executable, "run", "-A", "--quiet", HOST]
    : [runtime.executable, HOST];
  const host: HostedGround["host"] = async (script, manifest) => {
    await files.write(`${dir}/request.json`, JSON.stringify(requestOf(manifest, places)), 0o644);
    const shown = [...start, `${dir}/request.json`].map((word) => `'${word}'`).join(" ");
    // The whole command is in the script: Deno would rewrite an argument that is its own path.
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: dir,
      DENO_DIR: `${dir}/deno`,
      ...compiledCode,
      HOST_SECRET: "hunter2",
    };
    return spawn("/bin/bash", ["--norc", "-c", script.replace("$host", shown)], { env, cwd: "/", stdio: "pipe" });
  };
  return {
    dir,
    places,
    runtime,
    host,
    async hosted(script, manifest) {
      const child = await host(script, manifest);
      let [out, hostErr] = ["", ""];
      child.stdout.on("data", (chunk) => out += chunk);
      child.stderr.on("data", (chunk) => hostErr += chunk);
      await new Promise((resolve) => child.once("close", resolve));
      const last = out.trim().split("\n").at(-1) ?? "";
      assert.ok(last.startsWith("{"), `${out}${hostErr}`);
      return { ...JSON.parse(last), hostErr };
    },
  };
}

/** Lets the ordinary user use a folder. */
export function giveToUser(dir: string): void {
  spawnSync("chown", ["-R", `${ORDINARY_UID}:${ORDINARY_UID}`, dir]);
}

const ROOT = ["root", async () => (await detectRuntime()).uid === 0, "run the tests as root"] as const;
const READABLE = [
  "a checkout that every user may read",
  async () => {
    const { executable } = await detectRuntime();
    return spawnSync("/bin/bash", ["-c", `${AS_USER} test -r '${HOST}' -a -x '${executable}'`]).status === 0;
  },
  "move it out of a private folder",
] as const;

/** Whether hosts can be run as root and as an ordinary user, which only root can; the test is skipped where not. */
export async function canBeBoth(t: TestContext): Promise<boolean> {
  return await requireOrSkip(t, ...ROOT) && await requireOrSkip(t, ...READABLE);
}

/** A user of the system who runs a host. */
export interface Operator {
  /** The shell script that starts the host begins with this. */
  readonly exec: string;
  readonly who: "root" | "user";
}

/** Everyone a host of this test can be run by, in the order in which a folder can change hands. */
export async function operators(t: TestContext): Promise<Operator[]> {
  const { uid } = await detectRuntime();
  if (uid !== 0) return [{ who: "user", exec: "exec" }];
  const both = await requireOrLess(t, ...READABLE);
  return [{ who: "root", exec: "exec" }, ...(both ? [{ who: "user", exec: `exec ${AS_USER}` } as const] : [])];
}
