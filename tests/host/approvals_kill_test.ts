import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { createDice } from "../support/chance.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { runScript } from "../support/run_script.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const HOST = new URL("fixtures/asking_host.ts", import.meta.url);
const CALLS = 40;
const KILLS = 20;
const dice = createDice();
const decisionOf = (call: string): "allow" | "deny" => Number(call) % 3 === 2 ? "deny" : "allow";

test("N-027 a host killed 20 times while its job asks: nothing is asked twice, nothing runs unasked", async (t) => {
  const root = await scratchDir(t);
  const [home, project] = [join(root, "home"), join(root, "music")];
  await mkdir(home, { mode: 0o700 });
  await mkdir(project);
  const yaml = { primary: { plugins: { notes: { package: "@test/notes" } } } };
  await writeFile(join(project, "project.yaml"), JSON.stringify(yaml));
  await writeFile(join(home, "config.toml"), '[[tool_rules]]\ntool = "notes.*"\ndecision = "ask"\n');
  await using notes = await fixturePlugin("answers_hooks", {
    manifest: { name: "notes", hooks: [] },
    files: {
      "index.js": `import { reply, serve } from "./wire.js";
        serve({ "notes.ask": ({ id, params }) => {
          process.stderr.write("ran " + params.text + "\\n");
          reply(id, {});
        } });`,
    },
  });
  const options = { home, project, plugins: { "@test/notes": notes.dir } };

  /** By number of the call: ids of its requests, and whether an answer was sent. */
  const asked = new Map<string, Set<string>>();
  const answered = new Set<string>();
  const ran: string[] = [];

  /** Runs a host until it ends by itself, or kills it after so many lines. */
  async function run(killAfter: number): Promise<string> {
    const host = runScript(HOST, [JSON.stringify(options), `${CALLS}`]);
    host.stdin!.on("error", () => {}); // It may be dead already.
    const gone = once(host, "close");
    let [lines, last] = [0, ""];
    for await (const line of createInterface(host.stdout!)) {
      const [what, one, call] = (last = line).split(" ") as [string, string, string];
      if (what === "ran") {
        assert.ok(answered.has(one), `call ${one} ran unasked`);
        ran.push(one);
      }
      if (what === "requested") asked.set(call, (asked.get(call) ?? new Set()).add(one));
      if (++lines === killAfter) process.kill(host.pid!, "SIGKILL");
      else if (what === "requested" && lines < killAfter) {
        answered.add(call);
        host.stdin!.write(`${decisionOf(call)} ${one}\n`);
      }
    }
    await gone;
    return last;
  }

  for (let kill = 0; kill < KILLS; kill++) await run(1 + dice.below(5));
  assert.equal(await run(Infinity), "done completed");
  assert.deepEqual([...asked.keys()].map(Number).sort((a, b) => a - b), Array.from({ length: CALLS }, (_, at) => at));
  assert.deepEqual([...asked].filter(([, ids]) => ids.size !== 1), [], "asked twice");
  const allowed = Array.from({ length: CALLS }, (_, at) => `${at}`).filter((call) => decisionOf(call) === "allow");
  assert.deepEqual([...new Set(ran)].sort(), allowed.sort());
});
