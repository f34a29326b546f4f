import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { blocksFor } from "../docs/support/guides.ts";
import { shownCommands } from "../docs/support/shown_output.ts";
import { connectClient } from "../support/mcp_client.ts";
import { hasPython } from "../support/python_plugin.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { runScript } from "../support/run_script.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const run = promisify(execFile);
const root = new URL("../../", import.meta.url);
const [build = "", shown = "", mcp = ""] = await blocksFor("tests/examples/kinds_test.ts", "examples/kinds/README.md");

/** A clone with the example in it, whose Go plugin is built as its README says; null where Go or Python is missing. */
async function clone(t: TestContext): Promise<string | null> {
  const hasGo = await run("go", ["version"]).then(() => true, () => false);
  if (!await requireOrSkip(t, "Go", hasGo, "install golang-go") || !await hasPython(t)) return null;
  const dir = await scratchDir(t);
  await cp(new URL("examples/kinds", root), join(dir, "examples/kinds"), { recursive: true });
  await writeFile(join(dir, "mod.ts"), `export * from ${JSON.stringify(new URL("mod.ts", root).href)};\n`);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: dir, GOCACHE: join(dir, ".cache"), GOPROXY: "off" };
  await run("sh", ["-ec", build], { cwd: dir, env });
  return dir;
}

test("N-039 D-007 D-009 a kind of one's own is written in JavaScript, Python and Go, and dispatched in every class", async (t) => {
  const dir = await clone(t);
  if (dir === null) return;
  const child = runScript(pathToFileURL(join(dir, "examples/kinds/publish.ts")), []);
  const [output, [code]] = await Promise.all([text(child.stdout!), once(child, "close")]);
  const expected = shownCommands(shown)[0]?.output ?? "";
  assert.equal(output.trim(), expected.trim());
  assert.equal(code, 0);
});

test("N-039 N-033 every MCP client can call the exposed hooks of a kind, at plugins of three languages", async (t) => {
  const dir = await clone(t);
  if (dir === null) return;
  const words = mcp.replaceAll("\\\n", " ").trim().split(/\s+/).slice(1);
  const args = words.map((word) => word.replace("examples/kinds", join(dir, "examples/kinds")));
  const { client } = await connectClient(t, [...args, "--home", join(dir, "home")], dir);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name).filter((name) => name.includes(".")).sort(),
    ["go", "js", "py"].flatMap((one) => ["describe", "render"].map((hook) => `writer.writer-${one}.${hook}`)),
  );
  const render = tools.find(({ name }) => name === "writer__writer-go__render")!;
  assert.deepEqual((render.inputSchema as { properties: Record<string, unknown> }).properties["format"], {
    $ref: "#/$defs/Format",
    default: "plain",
  });
  for (const [one, expected] of [["go", "A < B!"], ["js", "<p>a &#60; b</p>"], ["py", "a < b"]]) {
    const call = { name: `writer__writer-${one}__render`, arguments: { text: "a < b" } };
    assert.deepEqual((await client.callTool(call)).structuredContent, { text: expected });
  }
  const { isError } = await client.callTool({ name: "writer__writer-go__render", arguments: { text: "" } });
  assert.equal(isError, true);
});
