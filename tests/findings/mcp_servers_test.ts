/**
 * Public MCP servers, as operators met them: taking one in, large trees, what passes, its home, and its check.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { kagedCommand, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** A server with a tool, a resource and a prompt; `more` stands before it, `tools` are listed beside its own. */
const server = ({ more = "", tools = "" } = {}): string =>
  `import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
${more}
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "save", inputSchema: { type: "object" } }, ${tools}] }),
  "tools/call": () => {
    writeFileSync(process.env.HOME + "/saved.txt", "x");
    return { content: [{ type: "text", text: "saved" }] };
  },
  "resources/list": () => ({ resources: [{ uri: "note://one", name: "one" }] }),
  "resources/read": () => ({ contents: [{ uri: "note://one", text: "remember" }] }),
  "prompts/list": () => ({ prompts: [{ name: "greet" }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const rest = answer ? { result: answer(params) } : { error: { code: -32601, message: "no " + method } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
}
`;

/** The server as a plugin. */
const serverPlugin = (code: string = server()) => fixturePlugin("mcp_tools", { files: { "index.js": code } });

// A folder, a manifest and the grants had to be made by hand for each server.
test("N-031 one command takes an MCP server in: the folder of its package is enough", async (t) => {
  if (!await canCage(t)) return;
  const dir = await scratchDir(t);
  const [folder, home] = [join(dir, "notes-mcp"), join(dir, "home")];
  await mkdir(folder);
  const json = { name: "notes-mcp", version: "1.0.0", type: "module", license: "MIT", bin: "./index.js" };
  await writeFile(join(folder, "package.json"), JSON.stringify(json));
  await writeFile(join(folder, "index.js"), server());
  const { code, stderr } = await runKaged(["mcp", "add", folder, "--yes", "--home", home]);
  assert.equal(code, 0, stderr);
  const { stdout } = await runKaged(["plugin", "call", "notes", "ping", "--home", home]);
  assert.match(stdout, /ok/);
});

// --max-size did not lift the limit of 20,000 files, and its error named no option that does.
test("N-031 a tree of more than 20,000 files is refused with the option that lifts the limit, and installed with it", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await serverPlugin();
  const home = join(await scratchDir(t), "home");
  const many = join(plugin.dir, "many");
  await mkdir(many);
  for (let at = 0; at < 20_001; at += 500) {
    const count = Math.min(500, 20_001 - at);
    await Promise.all(Array.from({ length: count }, (_, index) => writeFile(join(many, `${at + index}`), "")));
  }
  const refused = await runKaged(["plugin", "install", plugin.dir, "--home", home]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--max-files/);
  const taken = await runKaged(["plugin", "install", plugin.dir, "--max-files", "30000", "--home", home]);
  assert.equal(taken.code, 0, taken.stderr);
});

/** Sends requests to `kaged mcp` one after the other; returns the answers. */
async function askServed(t: TestContext, plugin: string, requests: readonly [string, object][]) {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "project.yaml"), "primary: { plugins: { notes: { package: notes } } }\n");
  const { command, args } = kagedCommand([
    ...["mcp", "--project", dir, "--home", join(dir, "home"), "--plugin", `notes=${plugin}`, "--quiet"],
  ]);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => void child.kill());
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const answers: { result?: Record<string, unknown>; error?: { code: number } }[] = [];
  for (const [id, [method, params]] of requests.entries()) {
    child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value = "{}", done } = await lines.next();
      const message = JSON.parse(value);
      if (done || message.id === id) {
        answers.push(message);
        break;
      }
    }
  }
  child.stdin!.end();
  return answers;
}

// Only tools passed: everything else was answered with -32601.
test("N-030 resources and prompts of a caged server reach the client of kaged mcp", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await serverPlugin();
  const clientInfo = { name: "test", version: "1" };
  const [, listed, read, prompts] = await askServed(t, plugin.dir, [
    ["initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }],
    ["resources/list", {}],
    ["resources/read", { uri: "note://one" }],
    ["prompts/list", {}],
  ]);
  assert.equal(listed?.error?.code, undefined);
  assert.match(JSON.stringify(listed?.result), /note:\/\/one/);
  assert.match(JSON.stringify(read?.result), /remember/);
  assert.match(JSON.stringify(prompts?.result), /greet/);
});

// HOME was the plugin's own folder, read-only: servers that keep a cache there failed.
test("N-031 an MCP server can write to its home", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await serverPlugin();
  const { code, stdout, stderr } = await runKaged(["plugin", "call", plugin.dir, `${plugin.name}.save`, "{}"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /saved/);
});

// The rule on imports took code that the server hands to a browser for its own.
test("N-031 kaged plugin check has no fault to find with an import that is meant for a browser", async (t) => {
  if (!await canCage(t)) return;
  const more = 'export const inPage = (page) => page.evaluate(() => import("https://cdn.example.org/x.js"));';
  await using plugin = await serverPlugin(server({ more }));
  const { code, stdout, stderr } = await runKaged(["plugin", "check", plugin.dir]);
  assert.equal(code, 0, stdout + stderr);
});

// Nine tools were left out, and the check said that all rules are kept.
test("N-031 kaged plugin check says which tools agents do not get, and does not call that all rules kept", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await serverPlugin(server({ tools: '{ name: "odd", inputSchema: { type: "array" } }' }));
  const { stdout, stderr } = await runKaged(["plugin", "check", plugin.dir]);
  assert.match(stdout + stderr, /1 of 2 tools is left out[^]*odd|1 of 2 tools are left out[^]*odd/);
  assert.doesNotMatch(stdout, /All \d+ rules kept/);
});
