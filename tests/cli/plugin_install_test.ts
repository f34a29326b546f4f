import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gitServer } from "../support/git_server.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { kagedCommand, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { putInstalled } from "../support/installed.ts";

const CAPABILITIES = ["read:fs:/opt/oh-my-pi", "exec:bash:/opt/oh-my-pi", "net:[]"];

async function plugin(dir: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  await mkdir(dir, { recursive: true });
  const manifest = {
    name: "oh-my-pi",
    version: "1.4.2",
    kaged_api: 1,
    description: "Presets for the shell",
    license: "MIT",
    homepage: "https://example.org/pi",
    command: ["js", "./index.js"],
    capabilities: CAPABILITIES,
    ...fields,
  };
  await writeFile(join(dir, "kaged-plugin.yaml"), JSON.stringify(manifest, null, 2));
  await writeFile(join(dir, "index.js"), "");
  return dir;
}

/** A folder to work in, with a home, and the command in it. */
async function bench(t: Parameters<typeof scratchDir>[0]) {
  const dir = await scratchDir(t);
  const env = { KAGED_HOME: join(dir, "home") };
  return {
    dir,
    home: env.KAGED_HOME,
    kaged: (...args: string[]) => runKaged(args, { cwd: dir, env }),
    terminal: (args: string[], answers: [string, string][]) => onTerminal(args, answers, { cwd: dir, env }),
    local: () => readFile(join(env.KAGED_HOME, "local.toml"), "utf8").catch(() => ""),
  };
}

const GRANTS = ["--grant", "read:fs:/opt/oh-my-pi", "--grant", "exec:bash:/opt/oh-my-pi"];

test("K-052 install on a terminal shows what is asked for, asks, copies, and says how to enable", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { dir, terminal, local, kaged } = await bench(t);
  await plugin(join(dir, "oh-my-pi"));
  const { code, shown } = await terminal(["plugin", "install", "./oh-my-pi"], [["Install oh-my-pi? [y/N]", "y"]]);
  assert.equal(code, 0, shown);
  for (
    const text of [
      "Validating manifest...\n  name: oh-my-pi\n  version: 1.4.2\n  kaged_api: 1\n  description: Presets for the shell\n",
      "  license: MIT\n",
      "  capabilities:\n    - read:fs:/opt/oh-my-pi\n      Can read everything under /opt/oh-my-pi\n",
      "    - exec:bash:/opt/oh-my-pi\n",
      "    - net: []\n",
      "Install oh-my-pi? [y/N] y\n\n✓ Installed oh-my-pi 1.4.2\n  → enable with: kaged plugin enable oh-my-pi\n",
    ]
  ) assert.ok(shown.includes(text), `${text}\n--- in ---\n${shown}`);
  assert.match(await local(), /^\[plugins\.oh-my-pi\]\ninstalled = "1\.4\.2"\n/);
  const { plugins: [row] } = JSON.parse((await kaged("plugin", "list", "--json")).stdout);
  assert.deepEqual([row.status, row.enabled, row.local], ["disabled", false, true]);
});

test("K-052 a no on the terminal changes nothing, and so does Ctrl-C", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { dir, terminal, local } = await bench(t);
  await plugin(join(dir, "oh-my-pi"));
  for (const keys of ["n", "\r", "\u0003"]) {
    const { code, shown } = await terminal(["plugin", "install", "./oh-my-pi"], [["Install oh-my-pi? [y/N]", keys]]);
    assert.ok(code !== 0 && !shown.includes("✓"), shown);
  }
  assert.equal(await local(), "");
});

test("K-055 upgrade on a terminal shows the capability diff, and what is new needs its own yes", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { dir, terminal, kaged, local } = await bench(t);
  await plugin(join(dir, "v1"));
  await plugin(join(dir, "v2"), {
    version: "2.0.0",
    capabilities: ["read:fs:/opt/oh-my-pi", "net:api.openai.com:443"],
  });
  assert.equal((await kaged("plugin", "install", "./v1", ...GRANTS)).code, 0);
  const questions = ["Grant oh-my-pi the new capability? [y/N]", "Upgrade oh-my-pi 1.4.2 → 2.0.0? [y/N]"] as const;
  const refused = await terminal(["plugin", "install", "./v2"], [[questions[0], "n"]]);
  assert.notEqual(refused.code, 0);
  assert.match(await local(), /version = "1\.4\.2"/);
  const { code, shown } = await terminal(["plugin", "install", "./v2"], [[questions[0], "y"], [questions[1], "y"]]);
  assert.equal(code, 0, shown);
  for (
    const text of [
      "Plugin oh-my-pi is already installed (version 1.4.2).\nNew version: 2.0.0\n",
      "\nCapability changes:\n  + net:api.openai.com:443   (NEW)\n",
      "  - exec:bash:/opt/oh-my-pi  (REMOVED)\n",
      "✓ Upgraded oh-my-pi to 2.0.0\n",
    ]
  ) assert.ok(shown.includes(text), `${text}\n--- in ---\n${shown}`);
  assert.match(await local(), /version = "2\.0\.0"/);
});

test("K-052 off a terminal nothing is granted unless every capability is named", async (t) => {
  const { dir, kaged, local } = await bench(t);
  await plugin(join(dir, "pi"));
  const none = await kaged("plugin", "install", "./pi");
  assert.equal(none.code, 1);
  assert.match(
    none.stderr,
    /^error\[install\.consent_missing\]: "oh-my-pi" asks for 2 capabilities that nobody granted\n/,
  );
  assert.ok(none.stderr.includes("--grant 'read:fs:/opt/oh-my-pi' --grant 'exec:bash:/opt/oh-my-pi'"), none.stderr);
  const some = await kaged("plugin", "install", "./pi", "--grant", "read:fs:/opt/oh-my-pi", "--json");
  const { hash, ...asked } = JSON.parse(some.stdout).error.data;
  assert.match(hash, /^sha256:/);
  assert.deepEqual(asked, {
    plugin: "oh-my-pi",
    missing: ["exec:bash:/opt/oh-my-pi"],
    source: join(dir, "pi"),
    roles: [],
    hooks: [],
    secrets: [],
    tools: [],
    protocol: "kaged_stdio",
  });
  assert.equal(await local(), "");
  await writeFile(
    join(dir, "grants.txt"),
    "# for the shell\nread:fs:/opt/oh-my-pi/\n- exec:bash:/opt/oh-my-pi # why\n\n",
  );
  const all = await kaged("plugin", "install", "./pi", "--grant-file", "grants.txt");
  assert.deepEqual([all.code, all.stderr], [0, ""]);
  assert.ok(
    all.stdout.endsWith("✓ Installed oh-my-pi 1.4.2\n  → enable with: kaged plugin enable oh-my-pi\n"),
    all.stdout,
  );
  const again = await kaged("plugin", "install", "./pi");
  assert.equal(again.stdout, "Plugin oh-my-pi 1.4.2 is installed already: nothing to do\n");
  await writeFile(join(dir, "grants.txt"), "read:fs:/a\nwrite:everything\n");
  const bad = await kaged("plugin", "install", "./pi", "--grant-file", "grants.txt");
  assert.match(bad.stderr, /^error\[host\.misuse\]: .*grants\.txt:2: /);
});

test("K-050 install, info and project load say of each value whether the plugin sees it, and where it goes otherwise", async (t) => {
  const { dir, kaged } = await bench(t);
  const fields = ["token", "pin", "region"].map((name) => [name, { type: "string" }]);
  const declared = {
    capabilities: ["net:api.example.com:443"],
    system_config_schema: { type: "object", properties: Object.fromEntries(fields) },
    secrets: { token: { hosts: ["api.example.com:443"] }, pin: { exposed: true } },
  };
  await plugin(join(dir, "pi"), declared);
  await plugin(join(dir, "music/plugins/pi"), declared);
  const use = { package: "oh-my-pi", source: "./plugins/pi" };
  await writeFile(join(dir, "music/project.yaml"), JSON.stringify({ primary: { plugins: { pi: use } } }));
  const words = `  secrets:
    - Uses your token at api.example.com:443, and never sees it
    - Sees the secret itself: your pin
      danger: It can keep the value and pass it on wherever it may connect
    - Sees your region
`;
  const granted = ["--grant", "net:api.example.com:443"];
  for (
    const args of [
      ["project", "load", "music"],
      ["plugin", "install", "./pi", ...granted],
      ["plugin", "info", "oh-my-pi"],
    ]
  ) {
    const { stdout } = await kaged(...args);
    assert.ok(stdout.includes(words), `${args.join(" ")}: ${stdout}`);
  }
});

test("an upgrade that would see a secret which the version before only used needs that granted by name", async (t) => {
  const { dir, kaged } = await bench(t);
  const schema = { type: "object", properties: { token: { type: "string" } } };
  const fields = { capabilities: ["net:api.example.com:443"], system_config_schema: schema };
  const bound = { token: { hosts: ["api.example.com:443"] } };
  await plugin(join(dir, "v1"), { ...fields, secrets: bound });
  await plugin(join(dir, "v2"), { ...fields, version: "2.0.0", secrets: bound });
  await plugin(join(dir, "v3"), { ...fields, version: "3.0.0", secrets: { token: { exposed: true } } });
  await kaged("plugin", "install", "./v1", "--grant", "net:api.example.com:443");
  assert.equal((await kaged("plugin", "upgrade", "oh-my-pi", "./v2")).code, 0, "nothing more is seen");
  for (const secrets of [{ token: { exposed: true } }, undefined]) {
    await plugin(join(dir, "v3"), { ...fields, version: "3.0.0", ...(secrets && { secrets }) });
    const refused = await kaged("plugin", "upgrade", "oh-my-pi", "./v3");
    assert.equal(refused.code, 1);
    assert.match(
      refused.stdout,
      /\+ secret:token +\(NEW\)\n +Sees the secret itself, which it never saw: your token\n/,
    );
    assert.match(refused.stderr, /^error\[install\.consent_missing\]: .*\n {2}hint: .*--grant 'secret:token'/);
  }
  const granted = await kaged("plugin", "upgrade", "oh-my-pi", "./v3", "--grant", "secret:token");
  assert.equal(granted.code, 0, granted.stderr);
});

test("K-055 K-056 upgrade and uninstall off a terminal, in words and as JSON", async (t) => {
  const { dir, kaged, home } = await bench(t);
  await plugin(join(dir, "v1"));
  await plugin(join(dir, "v2"), { version: "2.0.0", capabilities: [...CAPABILITIES, "kaged:storage:read"] });
  await kaged("plugin", "install", "./v1", ...GRANTS);
  const refused = await kaged("plugin", "upgrade", "oh-my-pi", "./v2");
  assert.match(refused.stderr, /asks for 1 capability that nobody granted\n {2}hint: .*--grant 'kaged:storage:read'/);
  const done = await kaged("plugin", "upgrade", "oh-my-pi", "./v2", "--grant", "kaged:storage:read", "--json");
  const { hash, ...rest } = JSON.parse(done.stdout);
  assert.match(hash, /^sha256:/);
  assert.deepEqual(rest, {
    name: "oh-my-pi",
    version: "2.0.0",
    done: "upgraded",
    source: join(dir, "v2"),
    capabilities: [...CAPABILITIES, "kaged:storage:read"],
    withheld: [],
    added: ["kaged:storage:read"],
    removed: [],
    roles: [],
    hooks: [],
    tools: [],
    secrets: [],
    protocol: "kaged_stdio",
    restarted: false,
  });
  await plugin(join(dir, "v2"), { version: "2.1.0", capabilities: [] });
  const fromRecord = await kaged("plugin", "upgrade", "oh-my-pi");
  assert.ok(fromRecord.stdout.includes("✓ Upgraded oh-my-pi to 2.1.0\n"), fromRecord.stdout + fromRecord.stderr);
  const gone = await kaged("plugin", "uninstall", "oh-my-pi");
  assert.deepEqual(gone, { code: 0, stdout: "✓ Removed plugin files\n✓ Removed local config entry\n", stderr: "" });
  assert.deepEqual(await readdir(join(home, "plugins")), []);
  const twice = await kaged("plugin", "uninstall", "oh-my-pi");
  assert.match(twice.stderr, /^error\[plugin\.not_installed\]: No plugin "oh-my-pi" is installed\n/);
  const audit = (await readFile(join(home, "audit/_operator.jsonl"), "utf8")).trim().split("\n");
  assert.deepEqual(audit.map((line) => JSON.parse(line).type), [
    "plugin.installed",
    "plugin.upgraded",
    "plugin.upgraded",
    "plugin.uninstalled",
  ]);
});

test("K-054 install from real git over loopback: the newest tag of a range, plain http only when allowed", async (t) => {
  const { dir, kaged, home } = await bench(t);
  await using server = await gitServer(join(dir, "srv"));
  await server.publish("pi", await plugin(join(dir, "v1"), { capabilities: [] }), "v1.4.2");
  const url = await server.publish(
    "pi",
    await plugin(join(dir, "v2"), { version: "2.0.0", capabilities: [] }),
    "v2.0.0",
  );
  const plain = await kaged("plugin", "install", url);
  assert.match(plain.stderr, /^error\[install\.http_refused\]: .*\n {2}hint: It is this machine: add --allow-http/);
  assert.deepEqual(server.requests, []);
  const old = await kaged("plugin", "install", `git+${url}`, "--allow-http", "--release", "^1");
  assert.ok(
    old.stdout.endsWith("✓ Installed oh-my-pi 1.4.2\n  → enable with: kaged plugin enable oh-my-pi\n"),
    old.stderr,
  );
  const newer = await kaged("plugin", "upgrade", "oh-my-pi", "--allow-http");
  assert.ok(newer.stdout.includes("✓ Upgraded oh-my-pi to 2.0.0"), newer.stdout + newer.stderr);
  assert.equal(JSON.parse((await kaged("plugin", "list", "--json")).stdout).plugins[0].source, url);
  assert.deepEqual((await readdir(join(home, "run"))).filter((name) => name.startsWith("fetch")), []);
  await mkdir(join(dir, "bare"));
  await writeFile(join(dir, "bare/README.md"), "no plugin");
  const without = await kaged("plugin", "install", await server.publish("bare", join(dir, "bare")), "--allow-http");
  assert.match(
    without.stderr,
    /error\[manifest\.missing\]: The repository "http.*\/bare\.git" has no kaged-plugin\.yaml/,
  );
  const nowhere = await kaged("plugin", "install", `${server.url}/none.git`, "--allow-http");
  assert.match(nowhere.stderr, /error\[install\.source_unreachable\]: Cannot fetch /);
  assert.doesNotMatch(nowhere.stderr, /\n\s+at /);
});

test("N-037 an archive is installed and upgraded by its path, and the record names it", async (t) => {
  const { dir, home, kaged } = await bench(t);
  const pack = async (version: string): Promise<string> => {
    await plugin(join(dir, version, "package"), { version, capabilities: [] });
    spawnSync("tar", ["-czf", join(dir, `pi-${version}.tgz`), "-C", join(dir, version), "package"]);
    return `pi-${version}.tgz`;
  };
  const first = await kaged("plugin", "install", await pack("1.0.0"));
  assert.ok(first.stdout.includes("✓ Installed oh-my-pi 1.0.0"), first.stdout + first.stderr);
  const row = async () => JSON.parse((await kaged("plugin", "list", "--json")).stdout).plugins[0];
  assert.equal((await row()).source, join(dir, "pi-1.0.0.tgz"));
  const next = await kaged("plugin", "upgrade", "oh-my-pi", `./${await pack("1.1.0")}`);
  assert.ok(next.stdout.includes("✓ Upgraded oh-my-pi to 1.1.0"), next.stdout + next.stderr);
  const again = await kaged("plugin", "upgrade", "oh-my-pi");
  assert.match(again.stdout, /1\.1\.0 is installed already/, "from the archive that the record names");
  await writeFile(join(dir, "bad.tgz"), "no archive");
  const bad = await kaged("plugin", "install", "./bad.tgz");
  assert.match(
    bad.stderr,
    /^error\[install\.archive_invalid\]: Cannot unpack ".*bad\.tgz": .*\n {2}hint: Ask its author/,
  );
  assert.deepEqual((await readdir(join(home, "run"))).filter((name) => name.startsWith("fetch")), []);
});

test("K-053 on a terminal nothing is fetched before the first yes", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { dir, terminal } = await bench(t);
  await using server = await gitServer(join(dir, "srv"));
  const url = await server.publish("pi", await plugin(join(dir, "v1"), { capabilities: [] }));
  const no = await terminal(["plugin", "install", url, "--allow-http"], [[`Fetch ${url}? [y/N]`, "n"]]);
  assert.notEqual(no.code, 0);
  assert.deepEqual(server.requests, []);
  const yes = await terminal(["plugin", "install", url, "--allow-http"], [
    [`Fetch ${url}? [y/N]`, "y"],
    ["Install oh-my-pi? [y/N]", "y"],
  ]);
  assert.ok(yes.shown.includes("✓ Installed oh-my-pi 1.4.2"), yes.shown);
});

test("K-053 K-055 project load on a terminal: a no leaves it pending, a yes installs, what an upgrade adds needs its own yes", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { dir, terminal, local } = await bench(t);
  const yaml = (version: string) =>
    writeFile(
      join(dir, "music/project.yaml"),
      `primary: { plugins: { pi: { package: oh-my-pi, source: ./p, version: ${version} } } }`,
    );
  await plugin(join(dir, "music/p"));
  await yaml("^1");
  const load = (...answers: [string, string][]) => terminal(["project", "load", "music", "--ask-again"], answers);
  const [install, grant, upgrade] = [
    "Install oh-my-pi?",
    "Grant oh-my-pi the new capability?",
    "Upgrade oh-my-pi 1.4.2 → 2.0.0?",
  ]
    .map((question) => `${question} [y/N]`) as [string, string, string];
  const no = await load([install, "n"]);
  assert.equal(no.code, 1);
  for (const line of ["    - exec:bash:/opt/oh-my-pi\n", "    - net: []\n"]) {
    assert.ok(no.shown.includes(line), no.shown);
  }
  assert.ok(no.shown.endsWith("Project music is pending: oh-my-pi not installed\n"), no.shown);
  assert.equal(await local(), "");
  const yes = await load([install, "y"]);
  assert.ok(yes.shown.endsWith("✓ Installed oh-my-pi 1.4.2\n✓ Project music is ready\n"), yes.shown);
  assert.match(await local(), /\nlocal = false\n[^]*\nprojects = \["music"\]\n/);
  await plugin(join(dir, "music/p"), {
    version: "2.0.0",
    capabilities: [...CAPABILITIES.slice(0, 2), "net:api.openai.com:443"],
  });
  await yaml("^2");
  const kept = await load([grant, "n"]);
  assert.deepEqual([kept.code, kept.shown.includes(upgrade)], [1, false]);
  assert.match(await local(), /version = "1\.4\.2"/);
  const newer = await load([grant, "y"], [upgrade, "y"]);
  assert.ok(newer.shown.includes("    - net:api.openai.com:443  (NEW)\n"), newer.shown);
  assert.ok(newer.shown.endsWith("✓ Upgraded oh-my-pi to 2.0.0\n✓ Project music is ready\n"), newer.shown);
});

test("K-052 2 GB are refused with the way to allow them, and a smaller limit can be set", async (t) => {
  const { dir, kaged } = await bench(t);
  await plugin(join(dir, "pi"), { capabilities: [] });
  await writeFile(join(dir, "pi/model.bin"), "");
  await truncate(join(dir, "pi/model.bin"), 2 * 1024 ** 3);
  const refused = await kaged("plugin", "install", "./pi");
  assert.match(refused.stderr, /^error\[install\.too_large\]: .* has more than 256 MB\n {2}hint: .*--max-size\n/);
  await truncate(join(dir, "pi/model.bin"), 3 * 1024 ** 2);
  assert.equal((await kaged("plugin", "install", "./pi", "--max-size", "2")).code, 1);
  assert.equal((await kaged("plugin", "install", "./pi", "--max-size", "4")).code, 0);
});

test("K-052 too many files are refused with the option that allows them, which --max-size is not", async (t) => {
  const { dir, kaged } = await bench(t);
  await plugin(join(dir, "pi"), { capabilities: [] });
  await mkdir(join(dir, "pi/parts"));
  for (let n = 0; n < 30; n++) await writeFile(join(dir, `pi/parts/${n}`), "");
  const refused = await kaged("plugin", "install", "./pi", "--max-files", "20", "--max-size", "2000");
  assert.match(refused.stderr, /^error\[install\.too_large\]: .* has more than 20 files\n {2}hint: .*--max-files\n/);
  assert.equal((await kaged("plugin", "install", "./pi", "--max-files", "40")).code, 0);
  assert.equal((await kaged("plugin", "install", "./pi", "--max-files", "0")).code, 2);
});

test("a disk that is really full is reported, and nothing of the plugin stays", async (t) => {
  const hasBwrap = existsSync("/usr/bin/bwrap");
  if (!await requireOrSkip(t, "a working bubblewrap", hasBwrap, "install the package bubblewrap")) return;
  const { dir, home } = await bench(t);
  await plugin(join(dir, "pi"), { capabilities: [] });
  await writeFile(join(dir, "pi/data.bin"), new Uint8Array(2_000_000).fill(7));
  await mkdir(home);
  const { command, args } = kagedCommand(["plugin", "install", join(dir, "pi")]);
  const small = ["--dev-bind", "/", "/", "--size", "400000", "--tmpfs", home];
  // The command is in the script: Deno would rewrite an argument that is its own path.
  const words = [command, ...args].map((word) => `'${word}'`).join(" ");
  const { stdout, stderr } = spawnSync("/usr/bin/bwrap", [
    ...small,
    "/bin/sh",
    "-c",
    `${words}; ls -A '${home}/plugins'`,
  ], {
    env: { PATH: "/usr/bin:/bin", HOME: dir, KAGED_HOME: home, DENO_DIR: join(dir, "deno") },
    encoding: "utf8",
  });
  assert.match(stderr, /^error\[install\.no_space\]: .*\n {2}hint: Make room and try again: nothing was changed\n$/);
  assert.ok(stdout.endsWith("  capabilities: none\n\n"), stdout);
});

test("K-063 list shows description and status, --verbose adds the homepage, and what is broken says so", async (t) => {
  const { dir, kaged, home } = await bench(t);
  assert.equal((await kaged("plugin", "list")).stdout, "No plugin is installed. → kaged plugin install <folder>\n");
  assert.deepEqual(await readdir(dir), [], "looking makes no home");
  await plugin(join(dir, "pi"), { capabilities: [] });
  await plugin(join(dir, "b"), { name: "broken", capabilities: [] });
  for (const name of ["./pi", "./b"]) assert.equal((await kaged("plugin", "install", name)).code, 0);
  assert.equal((await kaged("plugin", "enable", "oh-my-pi")).stdout, "✓ Enabled oh-my-pi\n");
  await chmod(join(home, "plugins/broken/index.js"), 0o644);
  await writeFile(join(home, "plugins/broken/index.js"), "evil()");
  // Valid when it was installed, by an older host: the files are what they were.
  await putInstalled(home, "old", await plugin(join(dir, "old"), { kaged_api: 0 }), "local = true\nenabled = true");
  await putInstalled(home, "lost", join(dir, "old"));
  await rm(join(home, "plugins/lost"), { recursive: true });
  const rows = (await kaged("plugin", "list")).stdout.trim().split("\n").map((line) => line.split(/ {2,}/));
  assert.deepEqual(rows, [
    ["NAME", "VERSION", "STATUS", "SCOPE", "DESCRIPTION"],
    ["broken", "1.4.2", "tampered", "local", "Presets for the shell"],
    ["lost", "unknown", "files missing", "local"],
    ["oh-my-pi", "1.4.2", "enabled", "local", "Presets for the shell"],
    ["old", "unknown", "disabled (invalid manifest)", "local"],
  ]);
  const verbose = await kaged("plugin", "list", "--verbose");
  assert.ok(verbose.stdout.includes("    homepage: https://example.org/pi\n"), verbose.stdout);
  const enabled = await kaged("plugin", "enable", "broken");
  assert.match(enabled.stderr, /^error\[plugin\.tampered\]: .*\n {2}hint: .*kaged plugin uninstall broken\n$/);
  const info = JSON.parse((await kaged("plugin", "info", "oh-my-pi", "--json")).stdout);
  assert.deepEqual([info.installed.status, info.installed.license, info.running, info.storage.bytes], [
    "enabled",
    "MIT",
    [],
    0,
  ]);
});
