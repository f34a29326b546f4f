import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../src/create_host.ts";
import { agree, protectedServer } from "../support/protected_server.ts";
import { remotePlugin } from "../support/remote_server.ts";
import { type KagedRun, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** Runs `kaged mcp login`; a person agrees at the address that it prints. */
async function logIn(home: string, ...more: string[]): Promise<KagedRun> {
  let browser: Promise<number> | null = null;
  const run = await runKaged(["mcp", "login", "tickets", "--home", home, ...more], {
    onPrint: (text) => {
      const address = /(http:\/\/127\.0\.0\.1:\d+\/auth\?[^\s"]+)/.exec(text)?.[1];
      if (address !== undefined) browser ??= agree(address);
    },
  });
  assert.equal(await browser, 200);
  return run;
}

test("N-033 the login of docs/mcp-remote.md: install, mcp login, a running host that takes it up, and mcp logout", async (t) => {
  const server = await protectedServer(t);
  const dir = await scratchDir(t);
  const [home, project] = [join(dir, "home"), join(dir, "project")];
  const { host: port } = new URL(server.url);
  const plugin = await remotePlugin(t, server.url, "", "tickets");
  const installed = await runKaged(["plugin", "install", plugin, "--grant", `net:${port}`, "--home", home]);
  assert.equal(installed.code, 0, installed.stderr);
  assert.match(installed.stdout, new RegExp(`server: talks to ${server.url}; nothing of it runs on this machine`));
  assert.equal((await runKaged(["plugin", "enable", "tickets", "--home", home])).code, 0);
  await mkdir(project);
  await writeFile(join(project, "project.yaml"), "primary: { plugins: { tickets: { package: tickets } } }\n");

  await using host = await createHost({ project, home });
  const { failed: [failure] } = await host.start();
  assert.deepEqual([failure?.error.code, failure?.error.hint], ["mcp.login_needed", "Run kaged mcp login tickets"]);
  const info = await runKaged(["plugin", "info", "tickets", "--home", home]);
  assert.match(info.stdout, /failed, project .*\n {4}problem: .*does not let the host in.*\n.*kaged mcp login tickets/);

  const { code, stdout, stderr } = await logIn(home);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /✓ Logged in at http:\S+, for tickets:read; 1 running host started it again\n$/);
  const { output } = await host.openSession().callTool("tickets.echo", { text: "Ada" });
  assert.match(JSON.stringify(output), /heard Ada/);

  const again = await logIn(home, "--json");
  const [first, last] = again.stdout.trim().split(/\n(?=\{)/).map((text) => JSON.parse(text));
  assert.match(first.address, /code_challenge_method=S256/);
  assert.deepEqual(last, {
    plugin: "tickets",
    issuer: server.issuer,
    scope: "tickets:read",
    renewable: true,
    hosts: 1,
  });

  const out = await runKaged(["mcp", "logout", "tickets", "--home", home]);
  assert.match(out.stdout, /✓ The login of tickets is removed/);
  assert.equal(host.plugins()[0]?.state, "failed");

  await logIn(home);
  assert.deepEqual((await readdir(join(home, "logins"))).sort(), ["tickets.json", "tickets.json.lock"]);
  assert.equal((await runKaged(["plugin", "uninstall", "tickets", "--force", "--home", home])).code, 0);
  assert.deepEqual(await readdir(join(home, "logins")), []);
});

test("N-033 mcp login refuses a plugin that is not installed, and one that runs here", async (t) => {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  const unknown = await runKaged(["mcp", "login", "nobody", "--home", home]);
  assert.match(unknown.stderr, /error\[plugin\.not_installed\]/);
  const plugin = join(dir, "here");
  await mkdir(plugin);
  const manifest = { name: "here", version: "1.0.0", kaged_api: 1, description: "Here", command: ["js", "./a.js"] };
  await writeFile(join(plugin, "kaged-plugin.yaml"), JSON.stringify({ ...manifest, capabilities: [] }));
  await writeFile(join(plugin, "a.js"), "");
  assert.equal((await runKaged(["plugin", "install", plugin, "--home", home])).code, 0);
  const { code, stderr } = await runKaged(["mcp", "login", "here", "--home", home]);
  assert.deepEqual([code, /error\[mcp\.not_elsewhere\]/.test(stderr)], [1, true], stderr);
});
