import assert from "node:assert/strict";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { canCage, guard, type HookRepo, hookRepo } from "../support/hook_repo.ts";
import { processesIn } from "../support/processes_in.ts";
import { type KagedRun, runKaged, signalKaged } from "../support/run_kaged.ts";
import { until } from "../support/until.ts";

const FILE = ".github/hooks/guard.json";
const CHECK = "#!/bin/bash\nif grep -q 'rm -rf'; then echo 'rm -rf is not for you' >&2; exit 2; fi\n";

type Kaged = (args: readonly string[], input?: string) => Promise<KagedRun>;

async function setUp(t: TestContext): Promise<{ repo: HookRepo; kaged: Kaged }> {
  const repo = await hookRepo(t, { [FILE]: guard("./check.sh", { timeoutSec: 10 }), "check.sh": CHECK });
  const env = { KAGED_HOME: repo.home, HOME: repo.userHome };
  return { repo, kaged: (args, input = "") => runKaged(["hooks", ...args], { cwd: repo.dir, env, input }) };
}

const hashOf = async (kaged: Kaged): Promise<string> =>
  JSON.parse((await kaged(["trust", "--json"])).stdout).files[0].hash;

test("B-018 kaged hooks list shows each hook with file, line and whether it may run", async (t) => {
  const { repo, kaged } = await setUp(t);
  await repo.write(".github/hooks/a.json", guard("late", { priority: 90 }));
  const text = await kaged(["list"]);
  assert.equal(text.code, 0, text.stderr);
  assert.match(
    text.stdout,
    /PreToolUse\n {2}1\. \.\/check\.sh\n.*guard\.json:5 {2}10 s {2}not trusted: does not run\n {2}2\. late/,
  );
  const { hooks } = JSON.parse((await kaged(["list", "--json"])).stdout);
  assert.deepEqual(
    hooks.map((
      row: Record<string, unknown>,
    ) => [row["hook"], row["place"], row["priority"], row["line"], row["trust"]]),
    [["PreToolUse", 1, 50, 5, "untrusted"], ["PreToolUse", 2, 90, 5, "untrusted"]],
  );
});

test("B-007 B-018 X-15 kaged hooks list shows commands and MCP tools in the one order they run in", async (t) => {
  const { repo, kaged } = await setUp(t);
  const servers = { mem: { command: "node", args: ["server.js"] } };
  const tools = [{ tool: "mem.late", priority: 90 }, { tool: "mem.first", priority: 10 }, { tool: "mem.even" }];
  await repo.write(".mcp.json", JSON.stringify({ mcpServers: servers, hooks: { PreToolUse: tools } }));
  const { stdout } = await kaged(["list"]);
  const order = [...stdout.matchAll(/^ {2}(\d)\. (.*)$/gm)].map(([, place, what]) => `${place} ${what}`);
  assert.deepEqual(order, ["1 MCP tool mem.first", "2 ./check.sh", "3 MCP tool mem.even", "4 MCP tool mem.late"]);
  const { hooks, mcp } = JSON.parse((await kaged(["list", "--json"])).stdout);
  const places = (rows: Record<string, unknown>[]) => rows.map((row) => [row["tool"] ?? row["command"], row["place"]]);
  assert.deepEqual([places(hooks), places(mcp)], [[["./check.sh", 2]], [["mem.first", 1], ["mem.even", 3], [
    "mem.late",
    4,
  ]]]);
});

test("N-038 kaged hooks list shows hooks of other agents, and names each that does not run here with the reason", async (t) => {
  const { repo, kaged } = await setUp(t);
  const hooks = { beforeShellExecution: [{ command: "./guard.sh" }], beforeTabFileRead: [{ command: "x" }] };
  await repo.write(".cursor/hooks.json", JSON.stringify({ version: 1, hooks }));
  const { code, stdout } = await kaged(["list"]);
  assert.equal(code, 0);
  assert.match(stdout, /2\. \.\/guard\.sh\n.*\.cursor\/hooks\.json:1 .*not trusted: does not run/);
  assert.match(
    stdout,
    /left out: \.cursor\/hooks\.json:beforeTabFileRead: Hooks at "beforeTabFileRead" are left out: it is about/,
  );
  const { left_out } = JSON.parse((await kaged(["list", "--json"])).stdout);
  assert.deepEqual(left_out.map(({ id }: { id: string }) => id), [".cursor/hooks.json:beforeTabFileRead"]);
});

test("N-038 kaged hooks list and trust show the rule that a call must fit", async (t) => {
  const { repo, kaged } = await setUp(t);
  const hook = { type: "command", command: "./push.sh", if: "Bash(git push *)" };
  await repo.write(
    ".claude/settings.json",
    JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } }),
  );
  assert.match((await kaged(["list"])).stdout, /600 s, matches Bash, if Bash\(git push \*\) {2}not trusted/);
  assert.match((await kaged(["trust"])).stdout, /that matches Bash if it fits Bash\(git push \*\), for at most 600 s/);
});

test("N-038 a file of the home is listed, asks to be trusted only by its name, and its trust ends by its name", async (t) => {
  const { repo, kaged } = await setUp(t);
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "true" }] }] };
  await mkdir(`${repo.userHome}/.claude`);
  await writeFile(`${repo.userHome}/.claude/settings.json`, JSON.stringify({ hooks }));
  assert.match((await kaged(["list"])).stdout, /1\. true\n.*\.claude\/settings\.json:1 .*not trusted: does not run/);
  const { files } = JSON.parse((await kaged(["trust", "--json"])).stdout);
  const hash = (name: string): string => files.find((file: { name: string }) => file.name === name).hash;
  const own = "~/.claude/settings.json";
  assert.equal((await kaged(["trust", "--yes", hash(FILE)])).code, 0, "a script that trusts the repository's file");
  const named = await kaged(["trust", own]);
  assert.equal(named.code, 1);
  assert.match(named.stderr, /1 hook file is not trusted/);
  assert.equal((await kaged(["trust", own, "--yes", hash(own)])).code, 0);
  const trusts = async (): Promise<string[]> =>
    JSON.parse((await kaged(["list", "--json"])).stdout).hooks.map(({ trust }: { trust: string }) => trust);
  assert.deepEqual(await trusts(), ["trusted", "trusted"]);
  assert.equal((await kaged(["untrust", own])).code, 0);
  assert.deepEqual(await trusts(), ["untrusted", "trusted"]);
});

test("B-018 kaged hooks list names what is wrong with a file and fails", async (t) => {
  const { repo, kaged } = await setUp(t);
  await repo.write(".claude/settings.json", '{\n  // comment\n  "hooks": {} }');
  const { code, stdout, stderr } = await kaged(["list"]);
  assert.equal(code, 1);
  assert.match(stdout, /check\.sh/);
  assert.match(stderr, /error\[hook\.json_comment\] .*settings\.json:2:3 {2}The file is JSON with comments/);
  await mkdir(`${repo.dir}/.github/hooks/folder.json`);
  await symlink("nothing", `${repo.dir}/.github/hooks/link.json`);
  const { stderr: unreadable } = await kaged(["list"]);
  assert.match(unreadable, /error\[hook\.unreadable\] .*folder\.json:1:1 {2}".*" is no file\n {2}hint: Check/);
  assert.match(
    unreadable,
    /error\[hook\.unreadable\] .*link\.json:1:1 {2}.* a link that leads to nothing\n {2}hint: /,
  );
});

test("B-018 kaged hooks trust shows the commands and, where nobody can be asked, wants their hash", async (t) => {
  const { repo, kaged } = await setUp(t);
  const asked = await kaged(["trust"]);
  assert.equal(asked.code, 1);
  assert.match(asked.stdout, /Runs before each call of a tool, for at most 10 s {2}line 5\n {4}\.\/check\.sh/);
  assert.match(asked.stdout, /Has no network/);
  assert.match(asked.stdout, /Covers \.github\/hooks\/guard\.json, check\.sh/);
  const hash = /hash ([0-9a-f]{64})/.exec(asked.stdout)?.[1] ?? "";
  assert.match(asked.stderr, new RegExp(`error\\[hook\\.untrusted\\].*\\n.*--yes ${hash.slice(0, 16)}`));
  const elsewhere = await runKaged(["hooks", "trust", "--dir", repo.dir, "--home", repo.home], { cwd: repo.home });
  assert.match(elsewhere.stderr, new RegExp(`then: kaged hooks trust --dir ${repo.dir} --yes ${hash.slice(0, 16)}\n`));
  for (const wrong of ["y", hash.slice(0, 8), `${hash.slice(0, 20)}${"0".repeat(20)}`]) {
    const { code, stderr } = await kaged(["trust", "--yes", wrong]);
    assert.equal(code, 1);
    assert.match(stderr, /error\[hook\.untrusted\]: No hook file has the hash/);
  }
  assert.equal((await repo.open()).judged[0]?.trust, "untrusted");
  assert.equal((await kaged(["trust", "--yes", hash])).code, 0);
  assert.equal((await repo.open()).judged[0]?.trust, "trusted");
});

test("B-018 kaged hooks trust shows the folder and the variables that programs get, those of MCP servers too", async (t) => {
  const { repo, kaged } = await setUp(t);
  await repo.write(FILE, guard("./check.sh", { cwd: "sub", env: { MODE: "block" } }));
  const servers = { mem: { command: "node", args: ["server.js"], env: { NODE_OPTIONS: "--require ./x.js" } } };
  await repo.write(".mcp.json", JSON.stringify({ mcpServers: servers, hooks: { PreToolUse: [{ tool: "mem.load" }] } }));
  const { stdout } = await kaged(["trust"]);
  assert.match(stdout, /^ {4}\.\/check\.sh\n {4}in sub\n {4}with MODE=block$/m);
  assert.match(stdout, /^ {4}node server\.js\n {4}with NODE_OPTIONS=--require \.\/x\.js$/m);
});

test("N-038 kaged hooks trust and list show a hook that a mistake leaves out of its file", async (t) => {
  const { repo, kaged } = await setUp(t);
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "./check.sh" }, { type: "script" }] }] };
  await repo.write(".claude/settings.json", JSON.stringify({ hooks }));
  const { stdout } = await kaged(["trust"]);
  assert.match(
    stdout,
    /^ {2}Does not run: PreToolUse\[0\]\.hooks\[1\]: It cannot be read: "script" is no type of hook$/m,
  );
  const list = await kaged(["list"]);
  assert.equal(list.code, 0, "the rest of the file is usable");
  assert.match(list.stdout, /left out: \.claude\/settings\.json:PreToolUse\[0\]\.hooks\[1\]: It cannot be read/);
});

test("B-018 kaged hooks trust asks again after a change, with the difference", async (t) => {
  const { repo, kaged } = await setUp(t);
  const old = await hashOf(kaged);
  await kaged(["trust", "--yes", old]);
  await repo.write("check.sh", CHECK.replace("exit 2", "exit 0"));
  const { code, stdout } = await kaged(["trust"]);
  assert.equal(code, 1);
  assert.match(stdout, /changed since you trusted it/);
  assert.match(stdout, /changed: check\.sh\n.*\n {4}-if grep.*exit 2; fi\n {4}\+if grep.*exit 0; fi/);
  assert.equal((await kaged(["trust", "--yes", old])).code, 1);
});

test("B-018 kaged hooks run fires one moment, and kaged hooks why names the hook that blocked", async (t) => {
  if (!await canCage(t)) return;
  const { kaged } = await setUp(t);
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  const event = JSON.stringify({ tool: { name: "Bash" }, input: { command: "rm -rf /" } });
  const run = await kaged(["run", "preToolUse", "--input", "-"], event);
  assert.equal(run.code, 0, run.stderr);
  const verdict =
    /blocked PreToolUse by \.github\/hooks\/guard\.json:preToolUse\[0\] \(.*guard\.json:5\)\n {2}rm -rf is not for you/;
  assert.match(run.stdout, verdict);
  assert.match((await kaged(["why"])).stdout, verdict);
  const { reason, trace } = JSON.parse((await kaged(["why", "--json"])).stdout);
  assert.deepEqual([reason, trace[0].outcome], ["rm -rf is not for you", "ran"]);
  const other = await kaged(["run", "PreToolUse", "--json"]);
  assert.equal(JSON.parse(other.stdout).blocked, false);
  assert.deepEqual(JSON.parse(other.stdout).commands[0].exit, { code: 0, signal: null });
});

test("B-018 kaged hooks run and why say that a person would be asked, and --json lets nothing through unasked", async (t) => {
  if (!await canCage(t)) return;
  const { repo, kaged } = await setUp(t);
  const ask = { permissionDecision: "ask", permissionDecisionReason: "It goes to everybody" };
  await repo.write(FILE, guard(`echo '${JSON.stringify(ask)}'`));
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  const run = await kaged(["run", "preToolUse"]);
  assert.equal(run.code, 0, run.stderr);
  const verdict =
    /^asks PreToolUse: a person would be asked\n {2}by \.github\/hooks\/guard\.json:preToolUse\[0\] \(.*guard\.json:5\): It goes to everybody\n {2}ran {2}.* {2}ask {2}\d+ ms$/m;
  assert.match(run.stdout, verdict);
  assert.match((await kaged(["why"])).stdout, verdict);
  const { blocked, reason, asked } = JSON.parse((await kaged(["run", "preToolUse", "--json"])).stdout);
  assert.deepEqual([blocked, asked[0].reason], [true, "It goes to everybody"]);
  assert.match(reason, /^It needs a person's yes, and nobody is asked here: It goes/);
  const kept = JSON.parse(await readFile(`${repo.home}/hooks/last_run.json`, "utf8"));
  delete kept.asked; // As an older version has kept it.
  await writeFile(`${repo.home}/hooks/last_run.json`, JSON.stringify(kept));
  assert.match((await kaged(["why"])).stdout, /blocked PreToolUse by .*\n {2}It needs a person's yes/);
});

test("B-018 kaged hooks run runs nothing that is not trusted, and says so", async (t) => {
  const { repo, kaged } = await setUp(t);
  await repo.write("check.sh", "#!/bin/bash\necho ran > ran\n");
  const { code, stdout, stderr } = await kaged(["run", "PreToolUse"]);
  assert.equal(code, 0);
  assert.match(stdout, /passed PreToolUse: no hook that may run is for it/);
  assert.match(stderr, /guard\.json is not trusted, and its hooks do not run: kaged hooks trust/);
  await assert.rejects(readFile(`${repo.dir}/ran`), { code: "ENOENT" });
});

test("B-018 a trusted gate whose script is gone blocks in kaged hooks run, and list, trust and untrust show the way out", async (t) => {
  const repo = await hookRepo(t, { [FILE]: guard("./check.sh", { onFailure: "block" }), "check.sh": CHECK });
  const env = { KAGED_HOME: repo.home, HOME: repo.userHome };
  const kaged: Kaged = (args, input = "") => runKaged(["hooks", ...args], { cwd: repo.dir, env, input });
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  await rm(`${repo.dir}/${FILE}`);
  const look = `kaged hooks trust --dir ${repo.dir}`;
  const end = `kaged hooks untrust ${FILE} --dir ${repo.dir}`;
  const run = await kaged(["run", "PreToolUse"]);
  assert.equal(run.code, 1);
  assert.match(run.stdout, /^blocked PreToolUse by \.github\/hooks\/guard\.json:preToolUse\[0\]/);
  assert.ok(run.stdout.includes(look) && !run.stdout.includes(end), "models read the reason: it names no way around");
  assert.ok(run.stderr.includes(look) && run.stderr.includes(end), run.stderr);
  const list = await kaged(["list"]);
  const held = `held: ${FILE}: it was trusted and is gone, so its gates block\n  blocks PreToolUse\n`;
  assert.ok(list.stdout.includes(held), list.stdout);
  assert.deepEqual(JSON.parse((await kaged(["list", "--json"])).stdout).held[0].why, "gone");
  const trust = await kaged(["trust"]);
  assert.deepEqual([trust.code, trust.stdout.startsWith(held)], [1, true], trust.stdout);
  const other = await kaged(["untrust", "nothing.json"]);
  assert.deepEqual([other.code, other.stderr.split("]")[0]], [1, "error[hook.untrusted"]);
  assert.equal((await kaged(["untrust", FILE])).stdout, `no longer trusted: ${FILE}\n`);
  assert.match((await kaged(["run", "PreToolUse"])).stdout, /^passed PreToolUse/);
});

test("B-018 kaged hooks trust says which gate ends when the changed file is trusted", async (t) => {
  const { repo, kaged } = await setUp(t);
  await repo.write(FILE, guard("./check.sh", { onFailure: "block" }));
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  await repo.write(FILE, guard("./check.sh"));
  const { stdout } = await kaged(["trust"]);
  assert.match(stdout, /^ {2}no longer blocks on failure: PreToolUse$/m);
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  assert.deepEqual(JSON.parse((await kaged(["list", "--json"])).stdout).held, []);
});

test("B-018 kaged hooks run fails when a hook breaks, but for Copilot's preToolUse, which then denies", async (t) => {
  if (!await canCage(t)) return;
  const { repo, kaged } = await setUp(t);
  await repo.write("check.sh", "#!/bin/bash\nexit 9\n");
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  const denied = await kaged(["run", "PreToolUse"]);
  assert.match(denied.stdout, /^blocked PreToolUse [^]*it ended with exit code 9/);
  assert.equal(denied.code, 0);
  await repo.write(FILE, guard("./check.sh", { onFailure: "pass" }));
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  const { code, stdout } = await kaged(["run", "PreToolUse"]);
  assert.equal(code, 1);
  assert.match(stdout, /broke .*it ended with exit code 9/);
});

test("B-018 kaged hooks run that is interrupted ends its hook and leaves no process", async (t) => {
  if (!await canCage(t)) return;
  const { repo, kaged } = await setUp(t);
  await repo.write("check.sh", "#!/bin/bash\necho ran > ran\nsleep 1000\n");
  await kaged(["trust", "--yes", await hashOf(kaged)]);
  const began = async (): Promise<boolean> => (await repo.runtime.files.info(`${repo.dir}/ran`)) !== null;
  const { code } = await runKaged(["hooks", "run", "PreToolUse"], {
    cwd: repo.dir,
    env: { KAGED_HOME: repo.home, HOME: repo.userHome },
    onStart: async (child) => {
      await until(began, "the beginning of the hook");
      signalKaged(child, "SIGINT");
    },
  });
  assert.equal(code, 130);
  assert.deepEqual(await processesIn(repo.dir), []);
});

test("B-007 kaged hooks convert prints the file in another dialect and reports what is not the same", async (t) => {
  const { repo, kaged } = await setUp(t);
  const { code, stdout, stderr } = await kaged(["convert", FILE, "--to", "claude"]);
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).hooks.PreToolUse[0].hooks[0].command, "./check.sh");
  assert.match(stderr, /changed {2}\.github\/hooks\/guard\.json:5 {2}hooks\.preToolUse\[0\]: Fields on stdin/);
  assert.match(stderr, /1 hook carried over/);
  assert.equal((await kaged(["convert", FILE, "--to", "claude", "--output", "out.json"])).code, 0);
  assert.deepEqual(JSON.parse(await readFile(`${repo.dir}/out.json`, "utf8")), JSON.parse(stdout));
  const again = await kaged(["convert", FILE, "--to", "claude", "--output", "out.json"]);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /^error\[host\.misuse\]: ".*\/out\.json" is there already\n {2}hint: Name another file/);
});

test("B-018 kaged hooks reports usage errors", async (t) => {
  const { repo, kaged } = await setUp(t);
  const outcome = async (...args: string[]) => {
    const { code, stderr } = await kaged(args);
    return [code, /error\[([^\]]+)\]/.exec(stderr)?.[1]];
  };
  assert.deepEqual(await outcome("run", "preTooluse"), [1, "hook.unknown"]);
  assert.deepEqual(await outcome("run", "PreToolUse", "--input", "none.json"), [1, "host.file_unreadable"]);
  const given = async (text: string) => (await kaged(["run", "PreToolUse", "--input", "-"], text)).stderr;
  assert.match(await given("[]"), /^error\[host\.misuse\]: "-" holds no JSON object\n {2}hint: Write /);
  assert.match(
    await given('{"tols": {}}'),
    /^error\[hook\.event_invalid\]: .* no field "tols"\n {2}hint: Did you mean/,
  );
  assert.match(await given('{"tool_input": {}}'), /no field "tool_input"\n {2}hint: .*input/);
  assert.match(
    await given('{"tool": "Bash"}'),
    /^error\[hook\.event_invalid\]: .*the field "tool" is not an object\n {2}/,
  );
  await writeFile(`${repo.dir}/latin1.json`, new Uint8Array([0x7b, 0xe9, 0x7d]));
  for (
    const [name, why] of [["none", "there is no such file"], [".github", "it is a folder"], ["latin1.json", "UTF-8"]]
  ) {
    for (const args of [["run", "PreToolUse", "--input", name!], ["convert", name!, "--to", "claude"]]) {
      const { code, stderr } = await kaged(args);
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`^error\\[host\\.file_unreadable\\]: Cannot read ".*/${name}": .*${why}.*\n {2}hint: `),
      );
    }
  }
  assert.deepEqual(await outcome("list", "--dir", "none"), [2, "host.misuse"]);
  assert.deepEqual(await outcome("trust", "none.json"), [2, "host.misuse"]);
  assert.deepEqual(await outcome("convert", FILE, "--to", "zed"), [2, "host.misuse"]);
  assert.deepEqual(await outcome("why"), [1, "hook.no_run"]);
  assert.deepEqual(await outcome("why", "--dir", "."), [2, "host.misuse"], "it is about the last run, wherever it was");
  await writeFile(`${repo.home}/config.toml`, "[hooks]\nunsandboxed = true\n");
  assert.deepEqual(await outcome("list"), [1, "config.invalid"]);
});
