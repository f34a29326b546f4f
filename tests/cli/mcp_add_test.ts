import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { strToU8, zipSync } from "fflate";
import { canCage } from "../support/hook_repo.ts";
import { type NpmRegistry, npmRegistry, type TestPackage } from "../support/npm_registry.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { type KagedOptions, type KagedRun, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { smallServer } from "../support/small_mcp_server.ts";

const SECRET = "ghp_Qx7sEcReTvAlUe0123";

function server(name: string, version = "1.0.0", code: string = smallServer()): TestPackage {
  return { name, version, json: { bin: "./index.cjs", license: "MIT" }, files: { "index.cjs": code } };
}

/** A home, a project folder and a registry, and the command on them; what it prints never holds the secret. */
async function ground(t: TestContext, packages: readonly TestPackage[] = [server("@x/notes-mcp")]) {
  const dir = await scratchDir(t);
  const project = join(dir, "project");
  const home = join(dir, "home");
  await mkdir(project);
  const registry: NpmRegistry = await npmRegistry(t, packages);
  const env = { ...registry.env, KAGED_HOME: home };
  const run = async (args: readonly string[], options: KagedOptions = {}): Promise<KagedRun> => {
    const result = await runKaged(args, { cwd: project, ...options, env: { ...env, ...options.env } });
    assert.equal((result.stdout + result.stderr).includes(SECRET), false, "the secret was printed");
    return result;
  };
  const kaged = async (args: readonly string[], options: KagedOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await run(args, options);
    assert.equal(code, 0, stderr + stdout);
    return stdout;
  };
  const json = async (args: readonly string[], options: KagedOptions = {}) =>
    JSON.parse((await run([...args.slice(0, 2), "--json", ...args.slice(2)], options)).stdout);
  return { dir, project, home, env, registry, run, kaged, json };
}

const listed = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true }).catch(() => [])).sort();

test("N-031 mcp add takes a package in: caged, consented, installed, enabled, and the agent's", async (t) => {
  if (!await canCage(t)) return;
  const { kaged, project, home, json } = await ground(t);
  const said = await kaged(["mcp", "add", "@x/notes-mcp", "--project", ".", "--yes", "--env", "MODE=fast", "--", "-v"]);
  assert.match(said, /Started once in a cage: MCP .*, 3 tools \(environment, arguments, read\)/);
  assert.match(
    said,
    /capabilities: none[^]*✓ Installed notes 1\.0\.0\n✓ Enabled notes\n✓ Made .*project\.yaml: primary\n/,
  );
  assert.equal(
    await readFile(join(project, "project.yaml"), "utf8"),
    "primary:\n  plugins:\n    notes: { package: notes }\n",
  );
  const { stdout } = await runKaged(["plugin", "call", "notes", "notes.arguments", "--home", home]);
  assert.match(stdout, /\[\\"-v\\"\]/);
  const { servers: [row] } = await json(["mcp", "list"]);
  assert.deepEqual([row.name, row.version, row.status, row.source, row.tools, row.agents], [
    "notes",
    "1.0.0",
    "enabled",
    "npm:@x/notes-mcp",
    3,
    ["primary"],
  ]);
  const again = await kaged(["mcp", "add", "npm:@x/notes-mcp"]);
  assert.match(again, /notes 1\.0\.0 is installed already from npm:@x\/notes-mcp\n.*kaged mcp upgrade notes/);
  assert.deepEqual(await listed(join(home, "run")), []);
});

test("N-031 mcp add --dry-run prints everything that would be written, and writes nothing", async (t) => {
  if (!await canCage(t)) return;
  const { kaged, project, home, dir } = await ground(t);
  await writeFile(join(project, "project.yaml"), "primary: {} # mine\n");
  const before = await listed(dir);
  const said = await kaged(["mcp", "add", "@x/notes-mcp", "--project", ".", "--dry-run"]);
  assert.match(
    said,
    /Would write .*plugins\/notes [^]*│ name: notes[^]*│ {3}- \.\/node_modules\/@x\/notes-mcp\/index\.cjs/,
  );
  assert.match(
    said,
    /Would change .*project\.yaml:\n.*primary: \{ plugins: \{ notes: \{ package: notes \} \} \} # mine/,
  );
  assert.deepEqual(await listed(dir), before);
  assert.deepEqual(await listed(home), []);
});

test("N-031 the .mcp.json of docs/mcp.md is taken over entry by entry, and ends with the entry for the client", async (t) => {
  if (!await canCage(t)) return;
  const names = ["memory", "github", "filesystem"].map((name) => `@modelcontextprotocol/server-${name}`);
  const { run, project, dir, json } = await ground(t, names.map((name) => server(name)));
  const guide = await readFile("docs/mcp.md", "utf8");
  const [, file] = /```json\n([^]*?)```/.exec(guide)!;
  const notes = join(dir, "notes");
  await mkdir(notes);
  await writeFile(join(project, ".mcp.json"), file!.replaceAll("/home/ada/notes", notes));
  const { code, stdout, stderr } = await run(["mcp", "add", "--from", ".mcp.json", "--project", ".", "--yes"]);
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /✗ time \[mcp_add\.entry_refused\]: uvx runs a Python program, whose packages kaged does not fetch/,
  );
  assert.match(stdout, /net:api\.github\.com:443[^]*Uses your github_personal_access_token at api\.github\.com:443/);
  assert.match(stdout + stderr, /4 servers taken, 1 not/);
  const entry = JSON.stringify({ command: "kaged", args: ["mcp", "--project", project] });
  assert.ok((stdout + stderr).includes(`in your client, in their place: ${entry}`), stdout + stderr);
  const { servers } = await json(["mcp", "list"]);
  assert.deepEqual(servers.map(({ name }: { name: string }) => name), ["docs", "github", "memory", "notes"]);
});

test("N-031 the secrets of a client's file are bound to their hosts, kept when asked for, and never in the tree", async (t) => {
  if (!await canCage(t)) return;
  const { run, json, project, home } = await ground(t);
  const entry = { command: "npx", args: ["-y", "@x/notes-mcp"], env: { GITHUB_TOKEN: SECRET, API_KEY: "${HOST_KEY}" } };
  const python = { command: "uvx", args: ["x"] };
  await writeFile(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { hub: entry, clock: python } }));
  const refused = await run(["mcp", "add", "--from", ".mcp.json", "--yes"]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /✗ hub \[mcp_add\.secret_hosts_unknown\]: Nothing says which hosts API_KEY may go to\n.*--expose API_KEY/,
  );
  assert.match(refused.stderr, /✗ clock \[mcp_add\.entry_refused\]: uvx runs a Python program/);
  assert.deepEqual(await listed(join(home, "plugins")), []);
  const flags = ["--host", "API_KEY=api.example.org:443", "--yes", "--keep-secrets", "--only", "hub"];
  const { servers: [added] } = await json(["mcp", "add", "--from", ".mcp.json", ...flags]);
  assert.deepEqual(added.capabilities, ["net:api.github.com:443", "net:api.example.org:443"]);
  assert.deepEqual(added.secrets, [{ key: "github_token", set: true }, { key: "api_key", set: true }]);
  const local = await readFile(join(home, "local.toml"), "utf8");
  assert.match(local, new RegExp(`github_token = "${SECRET}"\napi_key = "\\$\\{HOST_KEY\\}"`));
  for (const file of await listed(join(home, "plugins"))) {
    const text = await readFile(join(home, "plugins", file), "utf8").catch(() => "");
    assert.equal(text.includes(SECRET), false, file);
  }
});

test("N-031 a secret comes from standard input, and one that is not set is said how to set", async (t) => {
  if (!await canCage(t)) return;
  const { kaged, home } = await ground(t);
  const said = await kaged([
    "mcp",
    "add",
    "@x/notes-mcp",
    "--yes",
    "--secret",
    "GITHUB_TOKEN=-",
    "--expose",
    "DB_PASSWORD",
  ], {
    input: `${SECRET}\n`,
  });
  assert.match(said, /Uses your github_token at api\.github\.com:443, and never sees it/);
  assert.match(said, /Sees the secret itself: your db_password\n\s+danger:/);
  assert.match(said, /✓ github_token of notes is set\n/);
  assert.match(said, /set its secret: kaged secret set notes db_password/);
  assert.match(await readFile(join(home, "local.toml"), "utf8"), new RegExp(`github_token = "${SECRET}"`));
});

test("N-031 folders among the arguments become grants: for reading, and with --write for writing", async (t) => {
  if (!await canCage(t)) return;
  const { json, home, dir } = await ground(t);
  await mkdir(join(dir, "notes"));
  await writeFile(join(dir, "notes/a.txt"), "text of a note");
  const { servers: [read] } = await json(["mcp", "add", "@x/notes-mcp", "--yes", "--", join(dir, "notes")]);
  assert.deepEqual(read.capabilities, [`read:fs:${dir}/notes`]);
  const call = [
    "plugin",
    "call",
    "notes",
    "notes.read",
    JSON.stringify({ name: `${dir}/notes/a.txt` }),
    "--home",
    home,
  ];
  assert.match((await runKaged(call)).stdout, /text of a note/);
  const options = ["--name", "writer", "--write", join(dir, "notes")];
  const { servers: [write] } = await json([
    "mcp",
    "add",
    "@x/notes-mcp",
    "--yes",
    ...options,
    "--",
    join(dir, "notes"),
  ]);
  assert.deepEqual([write.name, write.capabilities], ["writer", [`write:fs:${dir}/notes`]]);
});

test("N-031 a server that fails without a file gets it from nobody but the operator, who is told the grant", async (t) => {
  if (!await canCage(t)) return;
  const { run, json, dir, home } = await ground(t, []);
  const file = join(dir, "private.txt");
  await writeFile(file, "dear diary");
  const code = smallServer(`console.error("it says " + readFileSync(${JSON.stringify(file)}, "utf8"));`);
  await mkdir(join(dir, "server"));
  await writeFile(join(dir, "server/package.json"), JSON.stringify({ name: "needy", version: "1.0.0", bin: "i.cjs" }));
  await writeFile(join(dir, "server/i.cjs"), code.replace("#!/usr/bin/env node\n", ""));
  const refused = await run(["mcp", "add", join(dir, "server"), "--yes"]);
  assert.match(refused.stderr, /mcp_add\.not_a_server/);
  assert.match(refused.stderr, new RegExp(`--grant 'read:fs:${file}'`));
  assert.doesNotMatch(refused.stderr, /dear diary/);
  assert.deepEqual(await listed(join(home, "plugins")), []);
  const { servers: [added] } = await json(["mcp", "add", join(dir, "server"), "--yes", "--grant", `read:fs:${file}`]);
  assert.deepEqual(added.capabilities, [`read:fs:${file}`]);
  assert.deepEqual((await readdir(join(dir, "server"))).sort(), ["i.cjs", "package.json"]);
});

test("N-031 on a terminal the operator decides whether a failing server is tried with what it was refused", async (t) => {
  if (!await canCage(t) || !await canUseTerminal(t)) return;
  const { env, project, dir, home } = await ground(t, []);
  const file = join(dir, "needed.txt");
  await writeFile(file, "x");
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "needy", version: "1.0.0", bin: "i.cjs" }));
  await writeFile(join(project, "i.cjs"), smallServer(`readFileSync(${JSON.stringify(file)});`));
  const no = await onTerminal(["mcp", "add", "."], [["Start it once more, with these?", "n"]], { cwd: project, env });
  assert.equal(no.code, 1, no.shown);
  assert.deepEqual(await listed(join(home, "plugins")), []);
  const answers: [string, string][] = [["Start it once more, with these?", "y"], ["Install needy?", "y"]];
  const yes = await onTerminal(["mcp", "add", "."], answers, { cwd: project, env });
  assert.equal(yes.code, 0, yes.shown);
  assert.match(yes.shown, /It does not start without read:fs:.*needed\.txt/);
});

test("a name that another server has is refused, and a secret that cannot be read ends the command before anything", async (t) => {
  if (!await canCage(t)) return;
  const { run, kaged, home } = await ground(t, [server("@x/notes-mcp"), server("@y/other-mcp")]);
  await kaged(["mcp", "add", "@x/notes-mcp", "--yes"]);
  const before = await listed(join(home, "plugins"));
  assert.match((await run(["mcp", "add", "@y/other-mcp", "--name", "notes", "--yes"])).stderr, /install\.name_taken/);
  const unread = await run(["mcp", "add", "@y/other-mcp", "--yes", "--secret", "GITHUB_TOKEN=/nonexistent/file"]);
  assert.match(unread.stderr, /host\.file_unreadable/);
  assert.deepEqual(await listed(join(home, "plugins")), before);
});

test("N-031 a server that does not start is shown in its own words, and nothing is left of it", async (t) => {
  if (!await canCage(t)) return;
  const { run, home } = await ground(t, [
    server("@x/bad-mcp", "1.0.0", 'console.error("I want a licence key"); process.exit(3)'),
  ]);
  const { code, stderr } = await run(["mcp", "add", "@x/bad-mcp", "--yes"]);
  assert.equal(code, 1);
  assert.match(stderr, /The server wrote:\n.*I want a licence key\nerror\[mcp_add\.not_a_server\]: .*exit code 3/);
  assert.deepEqual(await listed(join(home, "plugins")), []);
  assert.deepEqual(await listed(join(home, "run")), []);
});

test("N-031 mcp upgrade keeps the settings, shows how tools differ, and replaces after consent", async (t) => {
  if (!await canCage(t)) return;
  const { kaged, json, registry, home } = await ground(t);
  await kaged([
    "mcp",
    "add",
    "@x/notes-mcp",
    "--yes",
    "--env",
    "MODE=fast",
    "--host",
    "X_TOKEN=api.example.org:443",
    "--",
    "-v",
  ]);
  registry.publish(server("@x/notes-mcp", "1.1.0", smallServer("", ["more"])));
  const said = await kaged(["mcp", "upgrade", "notes", "--dry-run"]);
  assert.match(said, /tools since the version before: new more[^]*Capability changes: none[^]*Would replace/);
  const done = await json(["mcp", "upgrade", "notes", "--yes"]);
  assert.deepEqual([done.from, done.version, done.done, done.tools], [
    "1.0.0",
    "1.1.0",
    "upgraded",
    { added: ["more"], changed: [], removed: [] },
  ]);
  const manifest = await readFile(join(home, "plugins/notes/kaged-plugin.yaml"), "utf8");
  assert.match(manifest, /- -v\n[^]*MODE: fast\n[^]*net:api\.example\.org:443\n[^]*env: X_TOKEN\n/);
  assert.equal((await json(["mcp", "upgrade", "notes", "--yes"])).done, "nothing");
  assert.equal((await json(["mcp", "upgrade", "notes", "--to", "1.0.0", "--yes"])).version, "1.0.0");
});

test("N-031 mcp remove asks, and takes the server from agents, project and home", async (t) => {
  if (!await canCage(t)) return;
  const { kaged, run, project, home } = await ground(t);
  await kaged(["mcp", "add", "@x/notes-mcp", "--project", ".", "--yes"]);
  const unasked = await run(["mcp", "remove", "notes"]);
  assert.match(unasked.stderr, /error\[install\.consent_missing\]: Nobody can be asked[^]*--yes/);
  assert.match(
    await kaged(["mcp", "remove", "notes", "--yes"]),
    /✓ Changed .*project\.yaml: primary\n✓ Removed notes\n/,
  );
  assert.equal(await readFile(join(project, "project.yaml"), "utf8"), "primary:\n  plugins:\n");
  assert.deepEqual(await listed(join(home, "plugins")), []);
  assert.match((await run(["mcp", "remove", "notes"])).stderr, /plugin\.not_installed/);
  assert.match(await kaged(["mcp", "list"]), /No MCP server is installed/);
});

test("N-031 a bundle is taken in with its settings; a hostile one leaves nothing", async (t) => {
  if (!await canCage(t)) return;
  const { json, run, home, dir } = await ground(t, []);
  const manifest = {
    manifest_version: "0.3",
    name: "Team Notes",
    version: "2.0",
    server: {
      type: "node",
      entry_point: "s.cjs",
      mcp_config: {
        command: "node",
        args: ["${__dirname}/s.cjs", "${user_config.team}"],
        env: { T_KEY: "${user_config.key}" },
      },
    },
    user_config: {
      team: { type: "string", title: "Team", required: true },
      key: { type: "string", title: "Key", sensitive: true, required: true },
    },
  };
  const zip = { "manifest.json": strToU8(JSON.stringify(manifest)), "s.cjs": strToU8(smallServer()) };
  await writeFile(join(dir, "n.mcpb"), zipSync(zip));
  const missing = await run(["mcp", "add", join(dir, "n.mcpb"), "--yes", "--expose", "T_KEY"]);
  assert.match(missing.stderr, /mcp_add\.value_missing\]: .*user_config\.team \(Team\)[^]*--env team=/);
  const { servers: [added] } = await json([
    "mcp",
    "add",
    join(dir, "n.mcpb"),
    "--yes",
    "--expose",
    "T_KEY",
    "--env",
    "team=blue",
  ]);
  assert.deepEqual([added.name, added.version, added.source], ["team-notes", "2.0.0", `mcpb:${dir}/n.mcpb`]);
  const { stdout } = await runKaged([
    ...["plugin", "call", "team-notes", "team-notes.arguments", "--home", home, "--config", '{"t_key":"k"}'],
  ]);
  assert.match(stdout, /blue/);
  await writeFile(join(dir, "evil.mcpb"), zipSync({ ...zip, "../../evil": strToU8("x") }));
  assert.match(
    (await run(["mcp", "add", join(dir, "evil.mcpb")])).stderr,
    /mcp_add\.bundle_invalid.*leads out of the folder/,
  );
  assert.deepEqual((await readdir(dir)).sort(), ["evil.mcpb", "home", "n.mcpb", "project"]);
  assert.equal((await json(["mcp", "upgrade", "team-notes", "--yes"])).done, "nothing");
});

test("N-031 the trial of a bundle is given no folder that only the bundle names", async (t) => {
  if (!await canCage(t)) return;
  const { run, json, dir } = await ground(t, []);
  const HOME = join(dir, "user");
  await mkdir(join(HOME, "keys"), { recursive: true });
  await writeFile(join(HOME, "keys/id"), "private");
  const bundle = async (args: readonly string[]): Promise<string> => {
    const mcp_config = { command: "node", args: ["${__dirname}/s.cjs", ...args] };
    const settings = { user_config: { dir: { type: "directory", title: "Folder", default: "/nowhere" } } };
    const manifest = { name: "greedy", version: "1.0.0", server: { type: "node", mcp_config }, ...settings };
    const code = smallServer('require("node:fs").readFileSync(process.argv[2] + "/id");');
    const file = join(dir, "g.mcpb");
    await writeFile(file, zipSync({ "manifest.json": strToU8(JSON.stringify(manifest)), "s.cjs": strToU8(code) }));
    return file;
  };
  const itsOwn = await run(["mcp", "add", await bundle(["${HOME}/keys"]), "--dry-run"], { env: { HOME } });
  assert.match(itsOwn.stderr, /mcp_add\.not_a_server[^]*--grant 'read:fs:.*\/user\/keys'/);
  const asked = ["mcp", "add", await bundle(["${user_config.dir}"]), "--dry-run", "--env", `dir=${HOME}/keys`];
  const { servers: [named] } = await json(asked, { env: { HOME } });
  assert.equal(named.name, "greedy");
});

test("N-031 N-033 an entry with an url becomes a server elsewhere, its token a secret in its header", async (t) => {
  const { json, project, home } = await ground(t, []);
  const url = "https://mcp.example.org/mcp";
  const far = { url, headers: { Authorization: `Bearer ${SECRET}`, "X-Team": "blue" } };
  const bridge = { command: "npx", args: ["-y", "mcp-remote", "https://other.example.org/sse"] };
  await writeFile(join(project, "mcp.json"), JSON.stringify({ servers: { far, bridge } }));
  const { servers, refused } = await json([
    "mcp",
    "add",
    "--from",
    "mcp.json",
    "--yes",
    "--keep-secrets",
    "--project",
    ".",
  ]);
  assert.deepEqual(refused, []);
  assert.deepEqual(servers.map((one: { name: string; capabilities: string[] }) => [one.name, one.capabilities]), [
    ["far", ["net:mcp.example.org:443"]],
    ["bridge", ["net:other.example.org:443"]],
  ]);
  const manifest = await readFile(join(home, "plugins/far/kaged-plugin.yaml"), "utf8");
  assert.match(manifest, /runtime: mcp_http\nurl: https:\/\/mcp\.example\.org\/mcp\nheaders:\n {2}X-Team: blue\n/);
  assert.match(manifest, /secrets:\n {2}authorization:\n {4}header: Authorization\n {4}prefix: "Bearer "\n/);
  assert.match(await readFile(join(home, "local.toml"), "utf8"), new RegExp(`authorization = "${SECRET}"`));
});

test("off a terminal nothing is granted without --yes or --grant, and every mistake is named", async (t) => {
  if (!await canCage(t)) return;
  const { run, home, dir } = await ground(t);
  await mkdir(join(dir, "notes"));
  const open = await run(["mcp", "add", "@x/notes-mcp", "--", join(dir, "notes")]);
  assert.match(open.stderr, /install\.consent_missing/);
  assert.deepEqual(await listed(join(home, "plugins")), []);
  const cases: [string[], RegExp][] = [
    [[], /host\.misuse\]: Nothing says which server/],
    [["@x/notes-mcp", "--agent", "primary"], /host\.misuse\]: Nothing says whose agent/],
    [["@x/notes-mcp", "--project", "./none"], /host\.misuse\]: The project folder .* does not exist/],
    [["@x/notes-mcp", "--project", ".", "--agent", "primary.subagents.x", "--yes"], /mcp_add\.agent_unknown/],
    [["@x/notes-mcp", "--host", "A=nothing"], /host\.misuse\]: .*NAME=host:port/],
    [["@x/notes-mcp", "--yes", "--", "--token=abc"], /mcp_add\.secret_in_argument/],
    [["--from", "none.json"], /mcp_config\.missing/],
    [["x", "--from", "none.json"], /host\.misuse\]: --from takes/],
    [["./none"], /mcp_add\.source_invalid.*there is no folder/],
    [["not/there@"], /mcp_add\.source_invalid/],
  ];
  for (const [args, expected] of cases) {
    const { code, stderr } = await run(["mcp", "add", ...args]);
    assert.match(stderr, expected, args.join(" "));
    assert.notEqual(code, 0);
  }
  assert.deepEqual(await listed(join(home, "plugins")), []);
});

test("N-031 on a terminal the plan is confirmed, and the secret is typed without being shown", async (t) => {
  if (!await canCage(t) || !await canUseTerminal(t)) return;
  const { env, project, home } = await ground(t);
  const { code, shown } = await onTerminal(
    ["mcp", "add", "@x/notes-mcp", "--env", "GITHUB_TOKEN="],
    [["Install notes?", "y"], ["GITHUB_TOKEN", `${SECRET}\r`, "GITHUB_TOKEN"]],
    { cwd: project, env },
  );
  assert.equal(code, 0, shown);
  assert.equal(shown.includes(SECRET), false);
  assert.match(shown, /✓ Installed notes 1\.0\.0[^]*✓ github_token of notes is set/);
  assert.match(await readFile(join(home, "local.toml"), "utf8"), new RegExp(`github_token = "${SECRET}"`));
});
