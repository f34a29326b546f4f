import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { readClientConfig } from "../../../src/operator/mcp_add/client_config.ts";
import { launchOf } from "../../../src/operator/mcp_add/launch.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

/** Reads a file of a client; refusals are their reason. */
async function read(t: TestContext, name: string, text: string) {
  const dir = await scratchDir(t);
  await writeFile(join(dir, name), text);
  const { files } = await detectRuntime();
  const entries = await readClientConfig(join(dir, name), files, (path) => path.startsWith("/") ? path : `/w/${path}`);
  return Object.fromEntries(entries.map((entry) => [entry.name, "wish" in entry ? entry.wish : entry.refusal.reason]));
}

const npm = (pkg: string, range = "") => ({ kind: "npm", package: pkg, range });

test("N-031 .mcp.json and claude_desktop_config.json: every entry is taken over or refused with its reason", async (t) => {
  const servers = {
    memory: { command: "npx", args: ["-y", "@a/memory@1.2", "--depth", "3"], env: { LOG: 1 } },
    local: { command: "node", args: ["./servers/notes/index.js", "x"] },
    python: { command: "uvx", args: ["mcp-server-time"] },
    box: { command: "docker", args: ["run", "-i", "--rm", "mcp/fetch"] },
    far: { type: "http", url: "https://mcp.example.org/mcp", headers: { "X-Team": "a" } },
    off: { command: "npx", args: ["x"], disabled: true },
    odd: { args: [] },
    own: { command: "/opt/tools/server" },
    text: "no",
  };
  const found = await read(t, ".mcp.json", JSON.stringify({ mcpServers: servers }));
  assert.deepEqual(found.memory, {
    name: "memory",
    source: npm("@a/memory", "1.2"),
    args: ["--depth", "3"],
    env: { LOG: "1" },
    headers: {},
    asked: {},
  });
  assert.deepEqual((found.local as { source: unknown }).source, {
    kind: "folder",
    path: "/w/./servers/notes",
    entry: "index.js",
  });
  const far = found.far as { source: unknown; headers: unknown };
  assert.deepEqual([far.source, far.headers], [{ kind: "remote", url: "https://mcp.example.org/mcp" }, {
    "X-Team": "a",
  }]);
  assert.match(String(found.python), /Python/);
  assert.match(String(found.box), /container of mcp\/fetch/);
  assert.match(String(found.off), /switched off/);
  assert.match(String(found.odd), /neither a command nor an url/);
  assert.match(String(found.own), /program of this machine/);
  assert.match(String(found.text), /no map/);
});

test("N-031 .vscode/mcp.json: comments are allowed, and inputs are values to be asked for", async (t) => {
  const found = await read(
    t,
    "mcp.json",
    `{
    // VS Code allows comments
    "inputs": [
      { "id": "key", "type": "promptString", "description": "API key", "password": true },
      { "id": "region", "description": "Region", "default": "eu" },
    ],
    "servers": { "s": { "command": "bunx", "args": ["s-mcp"], "env": { "S_KEY": "\${input:key}" } }, },
  }`,
  );
  const { source, asked, env } = found.s as { source: unknown; asked: unknown; env: unknown };
  assert.deepEqual(source, npm("s-mcp"));
  assert.deepEqual(env, { S_KEY: "${input:key}" });
  assert.deepEqual(asked, {
    "input:key": { description: "API key", isSecret: true, isRequired: true, fallback: null },
    "input:region": { description: "Region", isSecret: false, isRequired: true, fallback: "eu" },
  });
});

test("N-031 config.toml of Codex and settings.json of Gemini name their servers and headers in their own ways", async (t) => {
  const codex = await read(
    t,
    "config.toml",
    `
model = "x"
[mcp_servers.docs]
command = "pnpm"
args = ["dlx", "docs-mcp"]
env = { A = "1" }
[mcp_servers.far]
url = "https://far.example.org/mcp"
bearer_token_env_var = "FAR_TOKEN"
env_http_headers = { "X-Org" = "ORG" }
[mcp_servers.off]
command = "npx"
enabled = false
`,
  );
  assert.deepEqual((codex.docs as { source: unknown }).source, npm("docs-mcp"));
  assert.deepEqual((codex.far as { headers: unknown }).headers, {
    "X-Org": "${ORG}",
    Authorization: "Bearer ${FAR_TOKEN}",
  });
  assert.match(String(codex.off), /switched off/);
  const gemini = await read(
    t,
    "settings.json",
    JSON.stringify({
      theme: "x",
      mcpServers: { a: { httpUrl: "https://a.example.org/mcp", trust: true }, b: { command: "npx b-mcp", cwd: "x" } },
    }),
  );
  assert.deepEqual((gemini.a as { source: unknown }).source, { kind: "remote", url: "https://a.example.org/mcp" });
  assert.deepEqual((gemini.b as { source: unknown }).source, npm("b-mcp"));
});

test("a file that is none is refused with its place, and one without servers is named", async (t) => {
  await assert.rejects(read(t, ".mcp.json", '{ "mcpServers": { '), { code: "mcp_config.invalid", message: /:1:\d+: / });
  await assert.rejects(read(t, "config.toml", "a = = 1"), { code: "mcp_config.invalid" });
  await assert.rejects(read(t, "x.json", "{}"), { code: "mcp_config.no_servers" });
  const { files } = await detectRuntime();
  await assert.rejects(readClientConfig("/nonexistent/x.json", files, (path) => path), { code: "mcp_config.missing" });
});

test("launchOf() finds the package behind every usual way to start one", () => {
  const launch = (line: string) => {
    const [command = "", ...args] = line.split(" ");
    const found = launchOf(command, args, (path) => `/w/${path}`);
    return "reason" in found ? found.reason : [found.source, found.args, ...(found.headers ? [found.headers] : [])];
  };
  const pkg = [npm("pkg"), ["a"]];
  for (
    const line of [
      "npx -y pkg a",
      "npx --yes -- pkg a",
      "npx -p pkg some-bin a",
      "npx --package=pkg some-bin a",
      "/usr/local/bin/npx pkg a",
      "cmd /c npx -y pkg a",
      "env npx pkg a",
      "bunx pkg a",
      "bun x pkg a",
      "npm exec -y pkg a",
      "pnpm dlx pkg a",
      "yarn dlx pkg a",
    ]
  ) assert.deepEqual(launch(line), pkg, line);
  assert.deepEqual(launch("node --no-warnings dist/i.js a"), [{ kind: "folder", path: "/w/dist", entry: "i.js" }, [
    "a",
  ]]);
  assert.deepEqual(launch("bun run s.ts"), [{ kind: "folder", path: "/w", entry: "s.ts" }, []]);
  const remote = { kind: "remote", url: "https://x.example.org/mcp" };
  assert.deepEqual(launchOf("npx", ["mcp-remote", remote.url, "--header", "X-Key: ${K}"], String), {
    source: remote,
    args: [],
    headers: { "X-Key": "${K}" },
  });
  assert.match(String(launch("npx -c id")), /shell/);
  assert.match(String(launch("npx github:a/b")), /no package/);
  assert.match(String(launch("node --require ./x.js y.js")), /--require/);
  assert.match(String(launch("node")), /no file/);
  assert.match(String(launch("python3 server.py")), /Python/);
});
