import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createAudit } from "../../src/core/audit/audit.ts";
import { openTrails } from "../../src/core/audit/open_trails.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const CONFIG = `[[tool_rules]]
tool = "mail.*"
agent = "primary"
decision = "ask"

[[tool_rules]]
tool = "mail.send"
agent = "primary"
decision = "allow"

[[tool_rules]]
tool = "*.*"
project = "harbor"
decision = "watch"

[approvals]
destructive = "deny"
`;
const PROJECT = `id: harbor
primary:
  tools: { "files.*": { approval: ask }, "mail.send": { approval: deny } }
  subagents: { clerk: {} }
`;

/** A home with rules, a folder \`harbor\` in it that holds a project, and the command. */
async function ground(t: TestContext) {
  const home = await scratchDir(t);
  const harbor = join(home, "harbor");
  await writeFile(join(home, "config.toml"), CONFIG);
  await mkdir(harbor);
  await writeFile(join(harbor, "project.yaml"), PROJECT);
  const kaged = (...args: string[]) => runKaged(["rules", ...args, "--home", home], { cwd: home });
  return { home, harbor, kaged };
}

test("kaged rules list shows the operator's rules in their order, the project's and the settings, and warns of slips", async (t) => {
  const { home, harbor, kaged } = await ground(t);
  const operators = `The operator's, the first that matches decides
  ask    mail.* of primary  config.toml:1
  allow  mail.send of primary  config.toml:6
  watch  *.* in harbor  config.toml:11
`;
  const settings = `Settings
  destructive  deny  tools that claim to destroy, where no rule of the operator matches
  wait_sec     600  then a request that nobody answered is denied
  network      refuse  connections that are not granted
  sampling     ask  requests of MCP servers for the client's model
`;
  const slip = new RegExp(
    `^warning\\[config\\.rule_covered\\] ${home}/config\\.toml:6:1 .*line 1 .*\\n  hint: Move it`,
  );
  const alone = await kaged("list");
  assert.deepEqual([alone.code, alone.stdout], [0, operators + settings]);
  assert.match(alone.stderr, slip);
  const projects = `The project's, only stricter
  ask    files.* of primary  project.yaml:primary:files.*
  deny   mail.send of primary  project.yaml:primary:mail.send
`;
  assert.equal((await kaged("list", "--project", "harbor")).stdout, operators + projects + settings);
  // In the folder of a project, that one is meant.
  const here = await runKaged(["rules", "list", "--home", home], { cwd: harbor });
  assert.equal(here.stdout, operators + projects + settings);
  const clerk = await kaged("list", "--project", "harbor", "--agent", "primary.subagents.clerk", "--json");
  const { warnings, ...listed } = JSON.parse(clerk.stdout);
  assert.deepEqual(listed, {
    file: `${home}/config.toml`,
    project: "harbor",
    rules: [{
      id: "config.toml:11",
      whose: "operator",
      tool: "*.*",
      agent: null,
      project: "harbor",
      decision: "watch",
    }],
    settings: { destructive: "deny", wait_sec: 600, network: "refuse", sampling: "ask" },
  });
  assert.equal(warnings[0].code, "config.rule_covered");
});

test("kaged rules shows rules for other projects too, and why they do not match", async (t) => {
  const { home, kaged } = await ground(t);
  await writeFile(join(home, "config.toml"), '[[tool_rules]]\ntool = "*.*"\nproject = "other"\ndecision = "deny"\n');
  assert.match((await kaged("list", "--project", "harbor")).stdout, /deny {3}\*\.\* in other/);
  const { code, stdout } = await kaged("test", "a.b", "--project", "harbor");
  assert.equal(code, 0);
  assert.match(stdout, /^allow .*\n {2}No rule matches\n {2}differs .*it is for project "other"\n/);
});

test("kaged rules list of a home without rules says that every call is allowed", async (t) => {
  const home = await scratchDir(t);
  const { stdout } = await runKaged(["rules", "list", "--home", home], { cwd: home });
  assert.match(stdout, /^No rules: every call is allowed\nSettings\n {2}destructive {2}allow /);
});

test("kaged rules test prints which rule decides and why, and its exit code tells the decision", async (t) => {
  const { kaged } = await ground(t);
  assert.deepEqual(await kaged("test", "mail.send"), {
    code: 3,
    stdout: `ask  mail.send of primary
  The operator's rule config.toml:1 says ask for "mail.*"
  decides  config.toml:1  ask mail.* of primary: the first of the operator's that matches
  matches  config.toml:6  allow mail.send of primary: config.toml:1 stands above it
  differs  config.toml:11  watch *.* in harbor: it is for project "harbor"
`,
    stderr: "",
  });
  const denied = await kaged("test", "mail.send", "--project", "harbor", "--json");
  const { rules, ...verdict } = JSON.parse(denied.stdout);
  assert.equal(denied.code, 4);
  assert.deepEqual(verdict, {
    tool: "mail.send",
    agent: "primary",
    project: "harbor",
    destructive: false,
    decision: "deny",
    reason: 'The project\'s rule project.yaml:primary:mail.send says deny for "mail.send"',
    source: { kind: "rule", id: "project.yaml:primary:mail.send" },
  });
  assert.deepEqual(rules.map(({ id, state }: { id: string; state: string }) => `${id} ${state}`), [
    "config.toml:1 matches",
    "config.toml:6 matches",
    "config.toml:11 matches",
    "project.yaml:primary:files.* differs",
    "project.yaml:primary:mail.send decides",
  ]);
  const decided = async (...args: string[]) => {
    const { code, stdout } = await kaged("test", ...args, "--json");
    return [code, JSON.parse(stdout).decision];
  };
  assert.deepEqual(await decided("mail__send"), [3, "ask"]);
  assert.deepEqual(await decided("notes.add"), [0, "allow"]);
  assert.deepEqual(await decided("notes.add", "--destructive"), [4, "deny"]);
  assert.deepEqual(await decided("notes.add", "--project", "harbor", "--destructive"), [0, "watch"]);
  assert.deepEqual(await decided("files.rm", "--project", "harbor"), [3, "ask"]);
});

test("kaged rules test warns of a tool that the agent has not, and refuses an agent and a name that are none", async (t) => {
  const { home, kaged } = await ground(t);
  const { stderr } = await kaged("test", "mail.send", "--project", "harbor");
  assert.equal(stderr, 'warning: Agent "primary" has no tool "mail.send"\n  hint: It has no tools\n');
  for (
    const [args, code, message] of [
      [["test", "x.y", "--project", "harbor", "--agent", "primary.subagents.clrk"], 1, /agent\.unknown.*\n.*clerk/],
      [["list", "--project", "harbor", "--agent", "primry"], 1, /agent\.unknown.*\n.*Did you mean "primary"/],
      [["test", "mail.*"], 2, /host\.misuse.*"mail\.\*" is no name of a tool\n {2}hint: Pass the full name/],
      [["test", "mail"], 2, /host\.misuse/],
      [["list", "--project", "nowhere"], 1, /project\.missing/],
    ] as const
  ) {
    const run = await kaged(...args);
    assert.deepEqual([run.code, run.stdout], [code, ""], args.join(" "));
    assert.match(run.stderr, message);
  }
  await writeFile(join(home, "config.toml"), CONFIG.replace('"watch"', '"wach"'));
  const broken = await kaged("test", "mail.send");
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /config\.toml:14:12 \[config\.invalid_value\] .*Did you mean "watch"\?/);
});

const mail = { name: "mail", instance: "mail@harbor/primary" };

async function recorded(t: TestContext) {
  const stage = await ground(t);
  const clock = createFakeClock();
  const runtime = { ...await detectRuntime(), clock };
  const { home } = stage;
  const [audit, commands] = ["harbor", "_operator"].map((project) => {
    return createAudit({ clock, sinks: [openTrails({ home, project, runtime })] });
  });
  const at = { agent_path: "primary", session_id: "s1" };
  const claims = { read_only: false, destructive: false };
  audit!.emit("plugin.tool_watched", mail, { tool: "mail.read", by: "config.toml:11", ...claims, ...at });
  clock.advance(86_400_000);
  audit!.emit("plugin.tool_watched", mail, {
    tool: "mail.list",
    by: "config.toml:11",
    ...claims,
    read_only: true,
    ...at,
  });
  audit!.emit("plugin.tool_watched", mail, {
    tool: "mail.wipe",
    by: "project.yaml:primary:mail.*",
    ...claims,
    destructive: true,
    ...at,
  });
  const answers = [["mail.send", "allow"], ["mail.send", "allow"], ["mail.send", "allow"], [
    "mail.drop",
    "deny",
  ]] as const;
  for (const [tool, decision] of answers) {
    const answer = { scope: "once", by: "cli", reason: null, edited: false, waited_ms: 5 } as const;
    audit!.emit("approval.answered", mail, { approval_id: "a", tool, ...at, job_id: null, decision, ...answer });
  }
  audit!.emit("plugin.stopped", mail, { exit_code: 0, signal: null });
  commands!.emit("plugin.uninstalled", mail, { version: "1.0.0" });
  await Promise.all([audit!.flush(), commands!.flush()]);
  return stage;
}

test("kaged rules report counts calls by tool and agent and prints the rules they speak for, ready to paste", async (t) => {
  const { home, kaged } = await recorded(t);
  const block = (tool: string, decision: string, why: string) =>
    `[[tool_rules]]\ntool = "${tool}"\nagent = "primary"\nproject = "harbor"\ndecision = "${decision}" # ${why}\n`;
  const toml = [
    block("mail.drop", "deny", "denied every time, once"),
    block("mail.list", "allow", "it claims only to read"),
    block("mail.read", "ask", "nobody has answered for it"),
    block("mail.send", "allow", "allowed every time, 3 times"),
    block("mail.wipe", "ask", "nobody has answered for it"),
  ].join("\n");
  assert.deepEqual(await kaged("report"), {
    code: 0,
    stdout: `mail.drop of primary  1 call: 1 denied  → deny (denied every time, once)
mail.list of primary  1 call: 1 watched  → allow (it claims only to read)
mail.read of primary  1 call: 1 watched  → ask (nobody has answered for it)
mail.send of primary  3 calls: 3 allowed  → allow (allowed every time, 3 times)
mail.wipe of primary  1 call: 1 watched, claims to destroy  → ask (nobody has answered for it)

# For ${home}/config.toml: above the rules that watch now, since the first match decides.
${toml}`,
    stderr: "warning: project.yaml:primary:mail.* is the project's: no rule of the operator loosens it\n",
  });
  const { uses, ...rest } = JSON.parse((await kaged("report", "harbor", "--json")).stdout);
  assert.deepEqual(rest, { project: "harbor", toml });
  assert.deepEqual(uses[1], {
    tool: "mail.list",
    agent: "primary",
    watched: 1,
    allowed: 0,
    edited: 0,
    denied: 0,
    read_only: true,
    destructive: false,
    watched_by: ["config.toml:11"],
    proposal: "allow",
    why: "it claims only to read",
  });
  // What is proposed decides once it is pasted above the rules there are.
  await writeFile(join(home, "config.toml"), toml + await readFile(join(home, "config.toml"), "utf8"));
  const codes = ["drop", "list", "read", "send"].map(async (tool) => {
    return JSON.parse((await kaged("test", `mail.${tool}`, "--project", "harbor", "--json")).stdout).decision;
  });
  assert.deepEqual(await Promise.all(codes), ["deny", "allow", "ask", "deny"]); // The project denies mail.send.
});

test("kaged rules report reads since a time and of one agent, and says what is missing", async (t) => {
  const { home, kaged } = await recorded(t);
  const tools = async (...args: string[]) => {
    const { uses } = JSON.parse((await kaged("report", ...args, "--json")).stdout);
    return uses.map(({ tool }: { tool: string }) => tool);
  };
  assert.deepEqual(await tools("--since", "2026-01-02"), ["mail.drop", "mail.list", "mail.send", "mail.wipe"]);
  assert.deepEqual(await tools("--agent", "primary.subagents.clerk"), []);
  const none = await kaged("report", "--since", "2027-01-01");
  assert.match(
    none.stdout,
    /^The trail of harbor has no call that was watched or asked for\n {2}hint: Watch first: .*"watch"\n$/,
  );
  assert.match((await kaged("report", "--since", "soon")).stderr, /audit\.invalid_query.*"soon" is no time/);
  assert.match((await kaged("report", "habor")).stderr, /audit\.trail_unknown.*\n.*Did you mean "harbor"/);
  const bare = await scratchDir(t);
  const { code, stderr } = await runKaged(["rules", "report", "--home", bare], { cwd: home });
  assert.equal(code, 1);
  assert.match(stderr, /audit\.trail_unknown.*\n {2}hint: No host or command has written here yet/);
});

test("kaged config set changes the settings of approvals, which running hosts take up", async (t) => {
  const home = await scratchDir(t);
  const config = async (...args: string[]) => {
    const { code, stdout, stderr } = await runKaged(["config", ...args, "--home", home]);
    return `${code} ${stdout}${stderr}`;
  };
  assert.equal(await config("set", "approvals.wait_sec", "30"), "0 ✓ approvals.wait_sec = 30\n");
  assert.equal(await config("set", "approvals.destructive", "ask"), '0 ✓ approvals.destructive = "ask"\n');
  assert.match(await config("set", "approvals.wait_sec", "0"), /^1 error.*whole number of seconds from 1 to 86400/);
  assert.match(
    await config("set", "approvals.network", "aks"),
    /^1 error.*"aks" is none of refuse, ask\n.*Did you mean/,
  );
  assert.equal(await readFile(join(home, "config.toml"), "utf8"), '[approvals]\nwait_sec = 30\ndestructive = "ask"\n');
});
