import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { blocksFor } from "../docs/support/guides.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL("../../examples/secrets", import.meta.url));
const TOKEN = "tok-of-the-operator-4711";

/** The commands that docs/secrets.md shows for its example. */
const shown = (await blocksFor("tests/examples/secrets_test.ts", "docs/secrets.md")).join("\n");

/** Copies of the examples that speak to a server of this test; null where there is no openssl to make its certificate. */
async function ground(t: TestContext) {
  const has = async (): Promise<boolean> => await run("openssl", ["version"]).then(() => true, () => false);
  if (!await requireOrSkip(t, "openssl", has, "install the package openssl")) return null;
  const dir = await scratchDir(t);
  const [, command = ""] = /^(openssl (?:[^\n]*\\\n)*[^\n]*)$/m.exec(shown) ?? [];
  await run("sh", ["-c", command], { cwd: dir });
  const node = process.versions["deno"] || process.versions["bun"] ? "node" : process.execPath;
  const server = spawn(node, [join(EXAMPLES, "server.js"), "key.pem", "certificate.pem", TOKEN, "0"], { cwd: dir });
  t.after(() => void server.kill());
  const [line] = await once(createInterface({ input: server.stdout }), "line") as [string];
  const port = /localhost:(\d+)$/.exec(line)![1]!;
  for (const [plugin, program] of [["tickets", "index.js"], ["tickets-mcp", "server.py"]] as const) {
    await cp(join(EXAMPLES, plugin), join(dir, plugin), { recursive: true });
    for (const file of ["kaged-plugin.yaml", program]) {
      const path = join(dir, plugin, file);
      await writeFile(path, (await readFile(path, "utf8")).replaceAll("8443", port));
    }
  }
  return dir;
}

test("the plugin and the MCP server of examples/secrets list tickets with a token that they never hold", async (t) => {
  const dir = await ground(t);
  if (dir === null) return;
  const env = { NODE_EXTRA_CA_CERTS: join(dir, "certificate.pem") };
  for (const plugin of ["tickets", "tickets-mcp"]) {
    const call = (token: string) => {
      const args = ["plugin", "call", join(dir, plugin), `${plugin}.list`, "{}"];
      return runKaged([...args, "--config", JSON.stringify({ api_token: token })], { env, isProcess: true });
    };
    const { stdout, stderr } = await call(TOKEN);
    assert.match(stdout, /The door squeaks[^]*"holds\\?": \\?"kaged_secret_\\?"/, stderr);
    assert.doesNotMatch((await call("another-token")).stdout, /squeaks/);
  }
});

test("docs/secrets.md shows the examples as they are", async () => {
  const manifest = await readFile(join(EXAMPLES, "tickets/kaged-plugin.yaml"), "utf8");
  const part = manifest.slice(manifest.indexOf("system_config_schema:"));
  assert.ok((await readFile(new URL("../../docs/secrets.md", import.meta.url), "utf8")).includes(part.trim()));
});
