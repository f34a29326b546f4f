import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { compiledCode } from "../support/compiled_code.ts";
import { bundledServer, MCP_TOKEN, mcpOverHttp, ROOT } from "../support/mcp_http.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { kagedCommand } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

type Test = Parameters<typeof scratchDir>[0];

/** A run of the Inspector's command: its exit code, the JSON it printed, and all it printed. */
interface Inspected {
  readonly code: number;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
  readonly printed: string;
}

const TWO: string = join(
  ROOT,
  "tools/inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);

/**
 * The arguments of Node that run the Inspector's command 1.0. Its package reads the package.json of the Inspector two
 * folders above, which only the Inspector's own package has: links make it look as if it were there.
 */
async function inspectorOne(t: Test): Promise<string[]> {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "package.json"), '{ "name": "@modelcontextprotocol/inspector", "version": "1.0.3" }');
  await symlink(join(ROOT, "node_modules/@modelcontextprotocol/inspector-cli"), join(dir, "cli"));
  await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
  return ["--preserve-symlinks", "--preserve-symlinks-main", join(dir, "cli/build/index.js")];
}

/** Returns a function that runs the Inspector with options against a server: `target` says which. */
function inspector(
  program: readonly string[],
  { target, home }: { readonly target: readonly string[]; readonly home: string },
): (...options: readonly string[]) => Promise<Inspected> {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, ...compiledCode };
  return (...options) =>
    new Promise((resolve) => {
      // A program for Node, whatever serves it.
      execFile(
        join(ROOT, "node_modules/.bin/node"),
        [...program, ...target, ...options],
        { env },
        (error, out, err) => {
          const json = out.startsWith("{") ? JSON.parse(out) : null;
          resolve({ code: error ? Number(error.code) : 0, json: json?.result ?? json, printed: out + err });
        },
      );
    });
}

/** The server as a command, or the address of one that runs. */
async function targetOf(t: Test, over: "stdio" | "HTTP"): Promise<string[]> {
  const { args } = await bundledServer(t, { file: "conformance_server.mjs", name: "conformance" });
  const all = [...args, "--names", "short", "--no-hooks", "--quiet"];
  if (over === "HTTP") {
    const { url } = await mcpOverHttp(t, all);
    return [url, "--header", `Authorization: Bearer ${MCP_TOKEN}`];
  }
  const { command, args: given } = kagedCommand(all);
  // A command without options: the Inspector takes those for its own.
  const script = join(await scratchDir(t), "serve.sh");
  const words = [command, ...given].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  await writeFile(script, `#!/bin/sh\nexec ${words.join(" ")}\n`, { mode: 0o700 });
  return [script];
}

/** What every version of the Inspector must show of the server. */
async function inspect(ask: (...options: readonly string[]) => Promise<Inspected>): Promise<void> {
  const list = await ask("--method", "tools/list");
  assert.ok(list.json?.tools?.some(({ name }: { name: string }) => name === "test_simple_text"), list.printed);
  const call = await ask("--method", "tools/call", "--tool-name", "test_simple_text");
  assert.equal(call.json?.content?.[0]?.text, "This is a simple text response for testing.", call.printed);
  const read = await ask("--method", "resources/read", "--uri", "test://static-text");
  assert.equal(read.json?.contents?.[0]?.text, "This is the content.", read.printed);
  const args = ["--prompt-args", "arg1=a", "arg2=b"];
  const prompt = await ask("--method", "prompts/get", "--prompt-name", "test_prompt_with_arguments", ...args);
  assert.match(prompt.json?.messages?.[0]?.content?.text ?? prompt.printed, /arg1='a', arg2='b'/);
  const missing = await ask("--method", "resources/read", "--uri", "test://nope");
  assert.notEqual(missing.code, 0);
  assert.match(missing.printed, /test:\/\/nope/);
}

for (const over of ["stdio", "HTTP"] as const) {
  test(`N-029 the Inspector's command 1.0 lists, calls, reads and prompts over ${over}`, async (t) => {
    const [target, home] = [await targetOf(t, over), await scratchDir(t)];
    await inspect(inspector(await inspectorOne(t), { target, home }));
  });

  for (const era of over === "stdio" ? ["modern"] : ["legacy", "modern"]) {
    test(`N-029 the Inspector 2 lists, calls, reads and prompts over ${over}, ${era}`, async (t) => {
      const how = "sh scripts/setup.sh extras installs it in tools/inspector";
      if (!await requireOrSkip(t, "the MCP Inspector 2", () => existsSync(TWO), how)) return;
      const [target, home] = [await targetOf(t, over), await scratchDir(t)];
      const program = [TWO, "--cli", "--protocol-era", era, "--format", "json", "--quiet"];
      await inspect(inspector(program, { target, home }));
    });
  }
}
