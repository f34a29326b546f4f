import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { chown } from "node:fs/promises";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { CagePlaces } from "../../../src/core/cage/cage.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import type { Manifest } from "../../../src/core/manifest/manifest.ts";
import { type CagedEnd, placesIn, requestOf } from "../../support/cage_requests.ts";
import { requireOrSkip, runtimeName } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;
const HOST = fileURLToPath(new URL("./fixtures/small_host.ts", import.meta.url));
const ORDINARY_UID = 64_242;
const programs = (...names: string[]): string[] => names.map((name) => `exec:${name}:plugin:/`);

interface Ground {
  readonly dir: string;
  readonly places: CagePlaces;
  /** Starts a host of its own on this runtime, by way of a shell script that says `$host`. */
  host(script: string, manifest: Partial<Manifest>): Promise<ChildProcessWithoutNullStreams>;
  /** Runs it to its end. */
  hosted(script: string, manifest: Partial<Manifest>): Promise<CagedEnd & { verified: unknown; hostErr: string }>;
}

async function ground(t: TestContext): Promise<Ground | null> {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return null;
  const start = runtimeName === "deno"
    ? [runtime.executable, "run", "-A", "--quiet", HOST]
    : [runtime.executable, HOST];
  const host: Ground["host"] = async (script, manifest) => {
    await files.write(`${dir}/request.json`, JSON.stringify(requestOf(manifest, places)), 0o644);
    const shown = [...start, `${dir}/request.json`].map((word) => `'${word}'`).join(" ");
    // The whole command is in the script: Deno would rewrite an argument that is its own path.
    const env = { PATH: process.env.PATH ?? "", HOME: dir, DENO_DIR: `${dir}/deno`, HOST_SECRET: "hunter2" };
    return spawn("/bin/bash", ["--norc", "-c", script.replace("$host", shown)], { env, cwd: "/", stdio: "pipe" });
  };
  return {
    dir,
    places,
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

/** Lets an ordinary user use the ground. */
async function giveTo(uid: number, dir: string): Promise<void> {
  spawnSync("chown", ["-R", `${uid}:${uid}`, dir]);
  await chown(dir, uid, uid);
}

const asUser = `setpriv --reuid ${ORDINARY_UID} --regid ${ORDINARY_UID} --clear-groups --inh-caps=-all`;
const asRoot = (t: TestContext): Promise<boolean> =>
  requireOrSkip(t, "root", runtime.uid === 0, "run the tests as root");
const readable = (t: TestContext): Promise<boolean> =>
  requireOrSkip(
    t,
    "a checkout that every user may read",
    () => spawnSync("/bin/bash", ["-c", `${asUser} test -r '${HOST}' -a -x '${runtime.executable}'`]).status === 0,
    "move the checkout out of a private folder",
  );

test("no descriptor of the host reaches a cage, however high its number", async (t) => {
  const at = await ground(t);
  if (!at) return;
  const script = 'for d in /proc/[12]/fd/*; do echo "${d##*/} $(readlink $d)"; done; cat /proc/self/fd/20/etc/passwd';
  const manifest = { command: ["bash", "-c", script], capabilities: programs("readlink", "cat") };
  const { out, err, failure } = await at.hosted("exec 9</ 20</ 63</etc 255</; exec $host", manifest);
  assert.equal(failure, null);
  // A descriptor without a link was closed between the listing and the look: bubblewrap's own.
  const links = out.trim().split("\n").filter((line) => !/ (socket|pipe|anon_inode):| $/.test(line));
  // Bash in the cage may hold its own script or the folder it lists, never one from before.
  assert.deepEqual(links.filter((line) => !line.includes(" /proc/")), []);
  assert.match(err, /No such file/);
});

test("the host's environment is not in a cage, nor in that of its first process", async (t) => {
  const at = await ground(t);
  if (!at) return;
  const command = ["bash", "-c", "cat /proc/[0-9]*/environ; echo end"];
  const { out } = await at.hosted("exec $host", { command, capabilities: programs("cat") });
  assert.match(out, /end\n$/);
  assert.equal(out.includes("hunter2"), false);
});

test("a cage dies with its host, and what left its session dies with it", async (t) => {
  const at = await ground(t);
  if (!at) return;
  const command = ["bash", "-c", "setsid sleep 600 & setsid nohup sleep 601 & echo ready; wait"];
  const host = await at.host("exec $host", { command, capabilities: programs("sleep", "setsid", "nohup") });
  let text = "";
  await new Promise<void>((resolve) => {
    host.stdout.on("data", (chunk) => (text += chunk).includes("\n") && resolve());
    host.once("close", () => resolve());
  });
  const { childPid, first } = JSON.parse(text) as { childPid: number; first: string };
  assert.equal(first, "ready");
  const namespace = await files.readLink(`/proc/${childPid}/ns/pid`);
  const inCage = (): boolean =>
    spawnSync("bash", ["-c", "readlink /proc/[0-9]*/ns/pid"], { encoding: "utf8" }).stdout.includes(namespace);
  assert.equal(inCage(), true);
  host.kill("SIGKILL");
  while (inCage());
});

test("an ordinary user's host cages plugins as well as root's", async (t) => {
  const at = await ground(t);
  if (!at || !await asRoot(t) || !await readable(t)) return;
  await giveTo(ORDINARY_UID, at.dir);
  const { projectDir, installDir } = at.places;
  const script = `id -u; cat /etc/passwd; echo x >${installDir}/x; echo x >${projectDir}/out/x; cat /proc/1/environ`;
  const capabilities = [...programs("id", "cat"), "write:fs:project:/out"];
  const { out, err, verified, exit } = await at.hosted(`exec ${asUser} $host`, {
    command: ["bash", "-c", script],
    capabilities,
  });
  assert.deepEqual([out, verified, exit.code], ["65534\n", true, 0]);
  assert.match(err, /passwd: No such file[^]*x: Read-only file system/);
  const written = await files.info(`${projectDir}/out/x`);
  assert.equal(written?.uid, ORDINARY_UID);
  assert.deepEqual(await files.list(`${at.places.home}/run`), []);
});

test("the start-up files of the user's shell are not read on the way into a cage", async (t) => {
  const at = await ground(t);
  if (!at || !await asRoot(t) || !await readable(t)) return;
  const canUnshare = (): boolean => spawnSync("unshare", ["--mount", "true"]).status === 0;
  if (!await requireOrSkip(t, "mount namespaces", canUnshare, "run outside a restricted container")) return;
  // A user whose home is the scratch folder, for this mount namespace alone.
  await files.write(`${at.dir}/passwd`, `shelly:x:${ORDINARY_UID}:${ORDINARY_UID}::${at.dir}:/bin/bash\n`, 0o644);
  for (const name of [".bashrc", ".bash_profile", ".profile"]) {
    await files.write(`${at.dir}/${name}`, `echo noise from ${name}; touch ${at.dir}/touched\n`, 0o644);
  }
  await giveTo(ORDINARY_UID, at.dir);
  const { out, exit, failure } = await at.hosted(
    `exec unshare --mount bash --norc -c "mount --bind ${at.dir}/passwd /etc/passwd && exec ${asUser} $host"`,
    { command: ["bash", "--norc", "-c", "echo mine"] },
  );
  assert.deepEqual([out, exit.code, failure], ["mine\n", 0, null]);
  assert.equal(await files.info(`${at.dir}/touched`), null);
});
