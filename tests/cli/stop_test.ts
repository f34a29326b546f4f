/**
 * Commands that run a host end at SIGTERM, whenever it comes. KAGED_STOPS=n tries n random moments in place of a few.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { createDice } from "../support/chance.ts";
import { compiledCode } from "../support/compiled_code.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { kagedCommand, signalKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { moment, until, untilSettled } from "../support/until.ts";

const MOMENTS = Number(process.env["KAGED_STOPS"] ?? 5);

/** Processes whose command line names `path`: the launchers and bubblewraps of a home are among them. */
async function processesNaming(path: string): Promise<number[]> {
  const ids = (await readdir("/proc")).map(Number).filter((id) => id > 0 && id !== process.pid);
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return ids.filter((_, at) => lines[at]!.includes(path));
}

/** Starts a command with its stdin left open; `text` is everything that it has printed. */
function start(args: readonly string[]): { child: ChildProcess; text: () => string; ended: Promise<unknown> } {
  const { command, args: all } = kagedCommand(args);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode };
  const child = spawn(command, all, { env, stdio: ["pipe", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed += chunk);
  return { child, text: () => printed, ended: once(child, "close") };
}

for (
  const [command, flags, isUp, endsWith] of [
    ["serve", ["--port", "0", "--json"], /"running":\["a@music\/primary","b@music\/primary"\]/, 0],
    ["mcp", ["--quiet"], /"result"/, 143],
  ] as const
) {
  const name = `kaged ${command} ends at SIGTERM at ${MOMENTS} random moments of its start, and leaves nothing`;
  test(name, { timeout: 120_000 + MOMENTS * 2_000 }, async (t) => {
    const [dir, home] = [await scratchDir(t), await scratchDir(t)];
    const own: string[] = [];
    for (const name of ["a", "b"]) {
      const plugin = await fixturePlugin("echo", { manifest: { name } });
      t.after(() => plugin[Symbol.asyncDispose]() as Promise<void>);
      own.push("--plugin", `@test/${name}=${plugin.dir}`);
    }
    const plugins = { a: { package: "@test/a" }, b: { package: "@test/b" } };
    await writeFile(join(dir, "project.yaml"), JSON.stringify({ id: "music", primary: { plugins } }));
    const args = [command, "--project", dir, "--home", home, ...flags, ...own];
    let moments = 0;
    const whole = start(args);
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    if (command === "mcp") {
      whole.child.stdin!.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello }) + "\n");
    }
    await until(() => (moments++, isUp.test(whole.text())), () => `kaged ${command} up: ${whole.text()}`);
    signalKaged(whole.child, "SIGTERM");
    assert.deepEqual(await untilSettled(whole.ended, whole.text), [endsWith, null]);
    const dice = createDice();
    for (let round = 0; round < MOMENTS; round++) {
      const { child, text, ended } = start(args);
      t.after(() => void child.kill("SIGKILL"));
      for (let wait = dice.below(moments + 1); wait > 0; wait--) await moment();
      signalKaged(child, "SIGTERM");
      const end = await untilSettled(ended, () => `the end of kaged ${command} in round ${round}: ${text()}`);
      // Before it listens for signals the system ends it, with nothing started yet.
      const isAsMeant = [[endsWith, null], [null, "SIGTERM"]].some((one) => `${one}` === `${end}`);
      assert.ok(isAsMeant, `round ${round}: ${end} ${text()}`);
      assert.deepEqual(await processesNaming(home), [], `round ${round}`);
      const left = (await readdir(join(home, "run")).catch(() => [])).filter((name) => /^cage-|sock/.test(name));
      assert.deepEqual(left, [], `round ${round}`);
    }
  });
}
