import assert from "node:assert/strict";
import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createHookEngine } from "../../../src/hooks/own_ports.ts";
import type { HookResult } from "../../../src/hooks/engine/result.ts";
import { untrustHookFile } from "../../../src/hooks/files/trust_store.ts";
import { guard, hookEvent, type HookRepo, hookRepo } from "../../support/hook_repo.ts";

const FILE = ".github/hooks/guard.json";
const SCRIPT = "#!/bin/bash\necho ran >> ran\n";
const GATE = guard("./check.sh", { onFailure: "block", matcher: "Bash|Write" });

/** A repository whose gate the operator trusts, and a way to fire an event at it as a new process would. */
async function trusted(t: TestContext, file = GATE) {
  const repo = await hookRepo(t, { [FILE]: file, "check.sh": SCRIPT });
  await repo.trust();
  const fire = async (tool = "Bash"): Promise<HookResult> => {
    const { registrations } = await repo.open();
    const engine = createHookEngine();
    engine.add(registrations);
    return await engine.fire(hookEvent({ tool: { name: tool } }));
  };
  return { repo, fire };
}

const LOSSES: Readonly<Record<string, [why: string, act: (repo: HookRepo) => Promise<unknown>]>> = {
  "its script was edited": ["changed", (repo) => repo.write("check.sh", "#!/bin/bash\ntrue\n")],
  "its script is gone": ["changed", (repo) => rm(join(repo.dir, "check.sh"))],
  "its file was edited": ["changed", (repo) => repo.write(FILE, guard("true"))],
  "its file is gone": ["gone", (repo) => rm(join(repo.dir, FILE))],
  "its folder is gone": ["gone", (repo) => rm(join(repo.dir, ".github"), { recursive: true })],
  "its file cannot be read": ["broken", (repo) => repo.write(FILE, "{")],
  "its file leads elsewhere": ["broken", async (repo) => {
    await rm(join(repo.dir, FILE));
    await writeFile(join(repo.home, "other.json"), GATE);
    await symlink(join(repo.home, "other.json"), join(repo.dir, FILE));
  }],
  "more files came before it than are read": ["gone", async (repo) => {
    for (let at = 0; at < 200; at++) await repo.write(`.github/hooks/a${at}.json`, guard("true"));
  }],
};

for (const [name, [why, act]] of Object.entries(LOSSES)) {
  test(`B-018 a trusted gate goes on blocking in every later process when ${name}`, async (t) => {
    const { repo, fire } = await trusted(t);
    await act(repo);
    const { blocked, reason, trace } = await fire();
    assert.equal(blocked, true);
    assert.ok(reason?.includes(`${FILE}: it`), reason ?? "");
    assert.ok(reason?.includes(`kaged hooks trust --dir ${repo.dir}`), reason ?? "");
    assert.deepEqual(trace.map(({ outcome }) => outcome), ["broke"]);
    assert.equal((await fire("Read")).blocked, false, "its matcher holds too");
    const { held } = await repo.open();
    assert.deepEqual(held.map((file) => [file.name, file.why, file.gates.length]), [[FILE, why, 1]]);
    await assert.rejects(readFile(join(repo.dir, "ran")), { code: "ENOENT" });
  });
}

test("B-018 a trusted hook that is no gate, or only advises, blocks nothing when its script is gone", async (t) => {
  for (const more of [{}, { onFailure: "block", advisory: true }]) {
    const { repo, fire } = await trusted(t, guard("./check.sh", more));
    await rm(join(repo.dir, "check.sh"));
    assert.deepEqual([(await fire()).blocked, (await repo.open()).held], [false, []]);
  }
});

test("N-013 B-018 a gate that is held ends when its files are back, its trust is ended, or the operator switches it off", async (t) => {
  const { repo, fire } = await trusted(t);
  const state = async () => [(await fire("Bash")).blocked, (await repo.open()).held.length];
  await rm(join(repo.dir, FILE));
  assert.deepEqual(await state(), [true, 1]);
  await writeFile(join(repo.home, "config.toml"), `[hooks]\ndisable = ["${FILE}"]\n`);
  assert.deepEqual(await state(), [false, 0]);
  await rm(join(repo.home, "config.toml"));
  assert.deepEqual(await state(), [true, 1]);
  await repo.write(FILE, GATE);
  assert.deepEqual([(await repo.open()).held, (await repo.open()).judged[0]?.trust], [[], "trusted"]);
  await rm(join(repo.dir, FILE));
  assert.equal(await untrustHookFile({ home: repo.home, dir: repo.dir, name: FILE }, repo.runtime), true);
  assert.deepEqual(await state(), [false, 0]);
  assert.equal(await untrustHookFile({ home: repo.home, dir: repo.dir, name: FILE }, repo.runtime), false);
});

test("B-018 a gate that was switched off when its file was trusted is held once it is switched on", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("true", { onFailure: "block" }) });
  const config = join(repo.home, "config.toml");
  await writeFile(config, `[hooks]\ndisable = ["${FILE}:preToolUse[0]"]\n`);
  await repo.trust();
  await rm(join(repo.dir, FILE));
  assert.deepEqual((await repo.open()).held, []);
  await rm(config);
  assert.equal((await repo.open()).held.length, 1);
});

test("B-018 a record of an earlier version, which has no gates, holds those in the text that was trusted", async (t) => {
  const { repo, fire } = await trusted(t);
  const file = join(repo.home, "trust.json");
  const text = await readFile(file, "utf8");
  const { projects: { [repo.dir]: { [FILE]: { gates, ...record } } } } = JSON.parse(text);
  assert.equal(gates.length, 1);
  await writeFile(file, JSON.stringify({ version: 1, projects: { [repo.dir]: { [FILE]: record } } }));
  await rm(join(repo.dir, "check.sh"));
  assert.equal((await fire()).blocked, true);
  const broken = { ...record, gates: [{ id: 7 }] };
  await writeFile(file, JSON.stringify({ version: 1, projects: { [repo.dir]: { [FILE]: broken } } }));
  await assert.rejects(repo.open(), { code: "hook.trust_unreadable" });
});
