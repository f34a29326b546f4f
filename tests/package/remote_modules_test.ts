import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { runtimeName } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { entriesOf, root } from "./support/consumer.ts";
import { NOTES_TOLD, writeNotes } from "./support/notes_project.ts";

// Deno runs in a child here: once is enough.
const once = runtimeName === "node" ? test : () => {};

interface Registry {
  readonly address: string;
  /** Files that were requested and are not published. */
  readonly refused: string[];
}

/** Serves the files that `deno publish` would take, and no other. */
async function registry(t: TestContext): Promise<Registry> {
  const { publish } = JSON.parse(await readFile(join(root, "deno.json"), "utf8"));
  const patterns = publish.include.map((glob: string) => {
    const parts = glob.split(/(\*\*\/|\*\*|\*)/).map((part) => {
      return { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*" }[part] ?? part.replaceAll(".", "\\.");
    });
    return new RegExp(`^/${parts.join("")}$`);
  });
  const refused: string[] = [];
  const server = createServer(async ({ url }, response) => {
    const path = new URL(url!, "http://registry").pathname;
    const text = patterns.some((pattern: RegExp) => pattern.test(path)) &&
      await readFile(join(root, path), "utf8").catch(() => "");
    if (text) return void response.setHeader("content-type", "application/typescript").end(text);
    refused.push(path);
    response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused };
}

once(
  "every module of the package works from an address: entries, command, a caged plugin and its tables",
  async (t) => {
    const { address, refused } = await registry(t);
    const dir = await scratchDir(t);
    const write = async (path: string, text: string): Promise<void> => {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    };
    // The registry writes npm: addresses into the sources; here a map does.
    const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const imports = Object.entries(dependencies).flatMap(([name, range]) => [
      [name, `npm:${name}@${range}`],
      [`${name}/`, `npm:/${name}@${range}/`],
    ]);
    await write("deno.json", JSON.stringify({ nodeModulesDir: "manual", imports: Object.fromEntries(imports) }));
    await write("package.json", JSON.stringify({ dependencies }));
    await symlink(join(root, "node_modules"), join(dir, "node_modules"));
    const env = { HOME: dir, DENO_DIR: join(dir, "deno"), PATH: "/usr/local/bin:/usr/bin:/bin", NO_COLOR: "1" };
    const options = ["run", "-A", "--quiet", "--no-lock", `--config=${join(dir, "deno.json")}`];
    const deno = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(join(root, "node_modules/.bin/deno"), [...options, ...args], { cwd: dir, env }))
        .stdout;

    const entries = await entriesOf();
    const names = Object.keys(entries).filter((entry) => !["./cli", "./node", "./bun"].includes(entry));
    const urls = names.map((entry) => `${address}/${entries[entry]!.slice(2)}`);
    await write(
      "entries.mjs",
      `const modules = await Promise.all(${JSON.stringify(urls)}.map((url) => import(url)));
console.log(modules.filter((module) => Object.keys(module).length > 0).length);`,
    );
    assert.equal(await deno("entries.mjs"), `${names.length}\n`);

    const kaged = `${address}/${entries["./cli"]!.slice(2)}`;
    assert.match(await deno(kaged, "plugin", "new", "notes"), /Made/);
    assert.match(await deno(kaged, "plugin", "check", "./notes"), /All \d+ rules kept/);
    await writeNotes(write, `${address}/mod.ts`);
    assert.deepEqual(JSON.parse(await deno("program.mjs", "home")), NOTES_TOLD);
    assert.deepEqual(refused, [], "nothing else was asked for");
  },
);
