import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { withHomeLock } from "../../../src/core/files/file_lock.ts";
import { lineDiff } from "../../../src/core/values/line_diff.ts";
import { shellWords } from "../../../src/hooks/files/shell_words.ts";
import { readTrust, trustHookFile } from "../../../src/hooks/files/trust_store.ts";
import { canCage, guard, hookEvent, hookRepo } from "../../support/hook_repo.ts";

const FILE = ".github/hooks/guard.json";

const SCRIPT = "#!/bin/bash\necho ran >> ran\n";

test("B-018 nothing of a repository becomes a hook before the operator trusts that exact content", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("./check.sh"), "check.sh": SCRIPT });
  const state = async () => {
    const { judged, registrations } = await repo.open();
    return [judged[0]?.trust, registrations.length];
  };
  assert.deepEqual(await state(), ["untrusted", 0]);
  await repo.trust();
  assert.deepEqual(await state(), ["trusted", 1]);
  await repo.write(FILE, guard("./check.sh", { timeoutSec: 21 }));
  assert.deepEqual(await state(), ["changed", 0]);
  await repo.trust();
  await repo.write("check.sh", `${SCRIPT}# one byte more\n`);
  assert.deepEqual(await state(), ["changed", 0]);
  await repo.write("check.sh", SCRIPT);
  assert.deepEqual(await state(), ["trusted", 1]);
});

test("B-018 trust belongs to one folder and one file in it", async (t) => {
  const [here, there] = [await hookRepo(t, { [FILE]: guard("x") }), await hookRepo(t, { [FILE]: guard("x") })];
  const { evidence } = (await here.open()).judged[0]!;
  await trustHookFile({ home: there.home, dir: here.dir, evidence }, here.runtime);
  await trustHookFile(
    { home: there.home, dir: there.dir, evidence: { ...evidence, name: "other.json" } },
    here.runtime,
  );
  assert.equal((await there.open()).judged[0]?.trust, "untrusted");
});

test("B-018 trust covers the scripts that commands name, whichever way they name them, and says so", async (t) => {
  const named = [
    'bash "$CLAUDE_PROJECT_DIR"/a.sh',
    "${CLAUDE_PROJECT_DIR}/b.py",
    "cd sub && node ./c.js --config=d.sh",
    "FOO=1 exec_me 'e f.sh' < data.json > out.sh",
  ];
  const entries = named.map((command) => ({ hooks: [{ type: "command", command }] }));
  const repo = await hookRepo(t, { ".claude/settings.json": JSON.stringify({ hooks: { PreToolUse: entries } }) });
  for (const path of ["a.sh", "b.py", "c.js", "d.sh", "e f.sh", "out.sh", "data.json", "unnamed.sh"]) {
    await repo.write(path, "x");
  }
  await repo.write("exec_me", "#!/bin/bash\n");
  const { evidence } = (await repo.open()).judged[0]!;
  assert.deepEqual(evidence.files.map(({ path }) => path), [
    ".claude/settings.json",
    "a.sh",
    "b.py",
    "c.js",
    "d.sh",
    "e f.sh",
    "exec_me",
  ]);
});

test("B-018 a script is covered where a command goes before it runs it", async (t) => {
  const command = 'cd "$CLAUDE_PROJECT_DIR/.claude/hooks" && bash guard.sh; cd sub; ./run';
  const repo = await hookRepo(t, { [FILE]: guard(command), ".claude/hooks/guard.sh": "x", "sub/run": SCRIPT });
  const { evidence } = (await repo.open()).judged[0]!;
  assert.deepEqual(evidence.files.map(({ path }) => path), [FILE, ".claude/hooks/guard.sh", "sub/run"]);
});

test("B-018 a hook file that names more than trust can cover is an error and never runs: no script is left out of it", async (t) => {
  const other = ".github/hooks/other.json";
  const repo = await hookRepo(t, { [other]: guard("true") });
  const errorsFor = async (command: string): Promise<unknown[]> => {
    await repo.write(FILE, guard(command));
    const { judged, found } = await repo.open();
    const isThere = judged.some(({ file }) => file.name === FILE);
    assert.deepEqual(judged.map(({ file }) => file.name), isThere ? [FILE, other] : [other]);
    assert.equal(found.errors.length, isThere ? 0 : 1);
    return found.errors.map(({ code, file, message }) => [code, file === `${repo.dir}/${FILE}`, message]);
  };
  const scripts = Array.from({ length: 101 }, (_, index) => `s${index}.sh`);
  await Promise.all(scripts.map((name) => repo.write(name, SCRIPT)));
  const refused = (why: string) => [["hook.uncoverable", true, `Trust cannot cover ${FILE}: ${why}`]];
  assert.deepEqual(await errorsFor(scripts.slice(1).join("; ")), []);
  assert.deepEqual(await errorsFor(scripts.join("; ")), refused("it names 101 scripts"));
  const words = Array.from({ length: 100_001 }, (_, index) => index).join(" ");
  assert.deepEqual(await errorsFor(words), refused("its commands have more words than can be looked through"));
  await repo.write("s1.sh", "");
  await truncate(`${repo.dir}/s1.sh`, 32 * 1024 * 1024);
  assert.deepEqual(await errorsFor("./s1.sh"), []);
  const many = 'with "s2.sh", its scripts have more than 32 MiB';
  assert.deepEqual(await errorsFor("./s1.sh ./s2.sh"), refused(many));
});

test("B-018 a script behind a link is covered by what the link leads to, and never by what lies outside", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("./link.sh; ./out.sh; ../up.sh"), "real.sh": SCRIPT });
  await symlink("real.sh", `${repo.dir}/link.sh`);
  await writeFile(`${repo.home}/secret.sh`, SCRIPT);
  await symlink(`${repo.home}/secret.sh`, `${repo.dir}/out.sh`);
  await writeFile(`${repo.dir}/../up.sh`, SCRIPT);
  const { evidence } = (await repo.open()).judged[0]!;
  assert.deepEqual(evidence.files.map(({ path }) => path), [FILE, "real.sh"]);
});

test("B-018 a script that changes after the hooks were read does not run", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("./check.sh"), "check.sh": SCRIPT });
  await repo.trust();
  const { registrations } = await repo.open();
  const run = () => registrations[0]!.handler(hookEvent(), { signal: new AbortController().signal } as never);
  await run();
  assert.equal(await readFile(`${repo.dir}/ran`, "utf8"), "ran\n");
  await repo.write("check.sh", "#!/bin/bash\necho evil >> ran\n");
  await assert.rejects(async () => await run(), { code: "hook.changed" });
  await rm(`${repo.dir}/check.sh`);
  await symlink("other.sh", `${repo.dir}/check.sh`);
  await repo.write("other.sh", SCRIPT);
  await assert.rejects(async () => await run(), { code: "hook.changed" });
  assert.equal(await readFile(`${repo.dir}/ran`, "utf8"), "ran\n");
});

test("B-018 a hook runs the bytes that were checked, and cannot change its own script", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    [FILE]: guard("./check.sh"),
    "check.sh": "#!/bin/bash\necho evil > check.sh || echo kept > ran\n",
  });
  await repo.trust();
  assert.equal(await repo.fire(), null);
  assert.equal(await readFile(`${repo.dir}/ran`, "utf8"), "kept\n");
  assert.match(await readFile(`${repo.dir}/check.sh`, "utf8"), /kept/);
});

test("B-008 the operator's own hooks need no trust and run caged", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t);
  await mkdir(`${repo.userHome}/.copilot/hooks`, { recursive: true });
  const mine = 'bash "$HOME/.copilot/hooks/mine.sh"';
  await writeFile(`${repo.userHome}/.copilot/hooks/mine.json`, guard(mine));
  const script = 'echo mine > seen; echo x > "$HOME/.copilot/hooks/mine.sh" || echo closed >> seen\n';
  await writeFile(`${repo.userHome}/.copilot/hooks/mine.sh`, script);
  assert.equal((await repo.open()).judged[0]?.trust, "own");
  await repo.fire();
  assert.equal(await readFile(`${repo.dir}/seen`, "utf8"), "mine\nclosed\n");
});

test("B-018 trust.json is private, whole at any time, and keeps what every writer wrote", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("x") });
  const { evidence } = (await repo.open()).judged[0]!;
  const dirs = Array.from({ length: 8 }, (_, index) => `/repo/${index}`);
  await Promise.all(dirs.map((dir) => trustHookFile({ home: repo.home, dir, evidence }, repo.runtime)));
  assert.deepEqual(Object.keys(await readTrust(repo.home, repo.runtime)).sort(), dirs);
  assert.equal((await stat(`${repo.home}/trust.json`)).mode & 0o777, 0o600);
  assert.deepEqual((await readdir(repo.home)).filter((name) => name.startsWith("trust")), ["trust.json"]);
});

test("B-018 trust.json is written under the folder's lock, and a second writer is refused as busy", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("x") });
  const { evidence } = (await repo.open()).judged[0]!;
  let ms = 0;
  const patient = { ...repo.runtime, clock: { ...repo.runtime.clock, monotonic: () => ms += 1_000 } };
  await withHomeLock(repo.home, repo.runtime, async () => {
    const trusting = trustHookFile({ home: repo.home, dir: repo.dir, evidence }, patient);
    await assert.rejects(trusting, { code: "install.busy" });
  });
  assert.equal((await repo.open()).judged[0]?.trust, "untrusted");
});

test("B-018 a trust.json that cannot be read stops everything, and is not written over", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("x") });
  const { evidence } = (await repo.open()).judged[0]!;
  for (
    const text of ["{", "[]", '{"version": 2}', '{"version": 1, "projects": {"/r": {"f": {"hash": 1, "files": []}}}}']
  ) {
    await writeFile(`${repo.home}/trust.json`, text);
    await assert.rejects(repo.open(), { code: "hook.trust_unreadable" });
    const trusting = trustHookFile({ home: repo.home, dir: repo.dir, evidence }, repo.runtime);
    await assert.rejects(trusting, { code: "hook.trust_unreadable" });
    assert.equal(await readFile(`${repo.home}/trust.json`, "utf8"), text);
  }
});

test("lineDiff() shows what was taken out and put in, with a little around it", () => {
  const text = (before: string[], after: string[]) =>
    lineDiff(before.join("\n"), after.join("\n")).map(({ mark, text }) => `${mark}${text}`);
  assert.deepEqual(text(["a", "b", "c"], ["a", "b", "c"]), []);
  assert.deepEqual(text(["1", "2", "3", "4", "5", "6"], ["1", "2", "3", "4", "x", "6"]), [
    " 2",
    " 3",
    " 4",
    "-5",
    "+x",
    " 6",
  ]);
  assert.deepEqual(text(["a", "b", "c", "d"], ["b", "x", "d", "e"]), ["-a", " b", "-c", "+x", " d", "+e"]);
  assert.deepEqual(text([], ["a"]), ["+a"]);
});

test("shellWords() takes text apart as a shell would, as far as it can without running it", () => {
  assert.deepEqual(shellWords(`a 'b c' "d $X" e\\ f`, { X: "1" }), ["a", "b c", "d 1", "e f"]);
  assert.deepEqual(shellWords('"$(git rev-parse)"/x.sh'), ["$(git rev-parse)/x.sh"]);
  assert.deepEqual(shellWords("a&&b|c;(d) 2>&1 >e <f"), ["a", "b", "c", "d", "2", "1", "f"]);
  assert.deepEqual(shellWords("'$X' \"unclosed"), ["$X", "unclosed"]);
});
