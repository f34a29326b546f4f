import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../support/require_or_skip.ts";
import { type Consumer, entriesOf, installedConsumer, root } from "./support/consumer.ts";
import { ALLOWED_ROOMS, roomsIn } from "./support/allowed_rooms.ts";
import { NOTES_TOLD, writeNotes } from "./support/notes_project.ts";

// Installed once, by the Node run of the suite; each of the runtimes then uses what was installed.
const isHere = runtimeName === "node";
const once = isHere ? test : () => {};
// Not in a hook: those have the time of a test, and this waits for the registry.
const consumer: Consumer = isHere ? await installedConsumer() : ({} as Consumer);
if (isHere) after(() => consumer[Symbol.asyncDispose]());

const PACKAGE = "node_modules/@kaged/plugin-host";

once("the npm package holds an ES module, types and a source map for every entry", async () => {
  const manifest = JSON.parse(await readFile(join(consumer.dir, PACKAGE, "package.json"), "utf8"));
  assert.deepEqual(Object.keys(manifest.exports), [...Object.keys(await entriesOf()), "./package.json"]);
  assert.deepEqual(manifest.engines, { node: ">=24.15", deno: ">=2.9", bun: ">=1.4" });
  for (const [entry, { types, default: file }] of Object.entries<Record<string, string>>(manifest.exports)) {
    if (entry === "./package.json") continue;
    const path = join(consumer.dir, PACKAGE, file!);
    assert.match(await readFile(path, "utf8"), /\n\/\/# sourceMappingURL=\w+\.js\.map\n$/, entry);
    assert.ok((await stat(join(consumer.dir, PACKAGE, types!))).size > 0, entry);
  }
  assert.equal((await stat(join(consumer.dir, PACKAGE, manifest.bin.kaged))).mode & 0o111, 0o111);
});

once("a source map of the npm package holds our sources, under their paths in the repository", async () => {
  const dir = join(consumer.dir, PACKAGE);
  const maps = (await readdir(dir, { recursive: true })).filter((path) => path.endsWith(".js.map"));
  assert.ok(maps.length > 20);
  for (const path of maps) {
    const { sources, sourcesContent } = JSON.parse(await readFile(join(dir, path), "utf8"));
    for (const [at, source] of sources.entries()) {
      const text = await readFile(join(root, dirname(path), source), "utf8");
      const isOurs = !source.includes("node_modules/"); // Those of others can be had where they are from.
      if (sourcesContent) assert.equal(sourcesContent[at], isOurs ? text : null, `${path}: ${source}`);
    }
    assert.equal(
      sourcesContent === undefined,
      path.includes("cli/"),
      "the command shares its sources with the entries",
    );
  }
});

once("the npm package names no folder of the machine that built it", async () => {
  const files = await readdir(join(consumer.dir, PACKAGE), { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile())) {
    const path = join(file.parentPath, file.name);
    const text = await readFile(path, "utf8");
    assert.ok(!text.includes(root) && !text.includes("file:///"), path);
  }
});

once("docs/packages.md has the size of the npm package", async () => {
  const { size } = await stat(join(root, "npm/kaged-plugin-host.tgz"));
  const written = /packed ([\d.]+) MB/.exec(await readFile(join(root, "docs/packages.md"), "utf8"))?.[1];
  assert.ok(Math.abs(size / 1e6 - Number(written)) < 0.15, `${(size / 1e6).toFixed(1)} MB, written: ${written} MB`);
});

/** The entries a program can import: the command runs when it is, and an adapter is for its own runtime. */
const importable = async (runtime: string): Promise<string[]> => {
  const others = ["./node", "./bun", "./deno", "./cli"].filter((entry) => !runtime.startsWith(entry.slice(2)));
  return Object.keys(await entriesOf()).filter((entry) => !others.includes(entry));
};

once("every entry imports from an empty project on Node 24, Node 26, Bun and Deno", async () => {
  for (const [name, command] of Object.entries(consumer.runtimes)) {
    const names = (await importable(name)).map((entry) => `@kaged/plugin-host${entry.slice(1)}`);
    const each = `import(name).then((entry) => Object.keys(entry).length > 0)`;
    await consumer.write(
      "entries.mjs",
      `console.log(await Promise.all(${JSON.stringify(names)}.map((name) => ${each})).then(String));`,
    );
    assert.equal((await consumer.run(command, ["entries.mjs"])).trim(), names.map(() => true).join(), name);
  }
});

once("./sdk of the npm package is one file, and ./hooks, ./events and ./jobs load their own rooms alone", async () => {
  const lister = join(root, "tests/package/support/list_modules.mjs");
  for (const [entry, source] of Object.entries(await entriesOf())) {
    const allowed = ALLOWED_ROOMS[source.slice(2)];
    if (!allowed) continue;
    const file = join(consumer.dir, PACKAGE, source.replace(/ts$/, "js"));
    const urls: string[] = JSON.parse(await consumer.run(consumer.runtimes["node 24"]!, [lister, file]));
    const ours = urls.filter((url) => url.includes(PACKAGE)).map((url) => fileURLToPath(url));
    const sources = await Promise.all(ours.map(async (path) => {
      const map = await readFile(`${path}.map`, "utf8").catch(() => null);
      // A file without a line of ours has no map: the bundler names its sources in comments.
      if (map === null) return [...(await readFile(path, "utf8")).matchAll(/^\/\/ (\S+)$/gm)].map(([, each]) => each!);
      const { sources }: { sources: string[] } = JSON.parse(map);
      return sources.map((each) => join(dirname(path), each).slice(join(consumer.dir, PACKAGE).length + 1));
    }));
    const packages = urls.filter((url) => url.startsWith("file:") && !url.includes(PACKAGE));
    assert.deepEqual(roomsIn([...sources.flat(), ...packages]), allowed, entry);
    if (entry === "./sdk") assert.equal(ours.length, 1);
  }
});

once("the installed command makes, checks and names itself on Node 24, Node 26, Bun and Deno", async () => {
  const kaged = join(consumer.dir, PACKAGE, "src/cli/bin.js");
  for (const [name, runtime] of Object.entries(consumer.runtimes)) {
    const command = [...runtime, kaged];
    const plugin = `greeter-${name.replace(" ", "")}`;
    assert.match(await consumer.run(command, ["--version"]), /^\d+\.\d+\.\d+\n$/, name);
    assert.match(await consumer.run(command, ["plugin", "new", plugin]), /Made/, name);
    assert.match(await consumer.run(command, ["plugin", "check", `./${plugin}`]), /All \d+ rules kept/, name);
  }
});

once("a caged plugin and its tables work through createHost() on Node 24, Node 26, Bun and Deno", async () => {
  const kaged = [...consumer.runtimes["node 24"]!, join(consumer.dir, PACKAGE, "src/cli/bin.js")];
  await consumer.run(kaged, ["plugin", "new", "notes"]);
  await writeNotes(consumer.write, "@kaged/plugin-host");
  for (const [name, command] of Object.entries(consumer.runtimes)) {
    const printed = JSON.parse(await consumer.run(command, ["program.mjs", `home-${name.replace(" ", "")}`]));
    assert.deepEqual(printed, NOTES_TOLD, name);
  }
});

once("a TypeScript consumer type-checks under nodenext, bundler and Deno, and runs through tsx", async () => {
  const types = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,esnext.disposable,dom"];
  const entries = await importable("node");
  const typed = Object.keys(await entriesOf()).filter((entry) => entry !== "./cli"); // A program has no types.
  const imports = typed.map((entry) => {
    const name = `e${entries.indexOf(entry)}`;
    const from = `from "@kaged/plugin-host${entry.slice(1)}";`;
    return entries.includes(entry) ? `import * as ${name} ${from}` : `export type * as ${entry.slice(2)} ${from}`;
  });
  const uses = `import { type AuditEvent, createHost, type Host, HostError, type Manifest } from "@kaged/plugin-host";
import { createPlugin } from "@kaged/plugin-host/sdk";
export async function use(project: string): Promise<number> {
  const host: Host = await createHost({ project });
  const seen: AuditEvent[] = [];
  host.onAudit((event) => void (event.type === "plugin.crashed" && seen.push(event) && event.data.last_stderr.join("")));
  return seen.length;
}
export const nameOf = ({ name }: Manifest): string => name;
createPlugin({ name: "greeter", version: "0.1.0", tools: { greet: (params) => ({ text: String(params.name) }) } });
await use("no-such").catch((error) => console.log(error instanceof HostError && error.code));
`;
  const listed = `console.log([${entries.map((_, n) => `e${n}`).join(", ")}].length);`;
  await consumer.write("consumer.ts", `${imports.join("\n")}\n${uses}${listed}\n`);
  const compiler = [...consumer.runtimes["node 24"]!, join(root, "node_modules/typescript/lib/tsc.js")];
  for (const mode of [["--module", "nodenext"], ["--module", "esnext", "--moduleResolution", "bundler"]]) {
    assert.equal(await consumer.run(compiler, [...types, ...mode, "consumer.ts"]), "", mode.join(" "));
  }
  const deno = join(root, "node_modules/.bin/deno");
  await consumer.run([deno], ["check", "--quiet", "consumer.ts"]); // Rejects, with what is wrong, unless all is well.
  const tsx = join(root, "node_modules/tsx/dist/cli.mjs");
  for (const name of ["node 24", "node 26"]) {
    const said = await consumer.run([...consumer.runtimes[name]!, tsx], ["consumer.ts"]);
    assert.equal(said, `project.missing\n${entries.length}\n`, name);
  }
});

once("without its optional peers the package works, and says which one a feature needs", async () => {
  const installed = await readdir(join(consumer.dir, "node_modules"));
  assert.deepEqual(
    installed.filter((name) => ["pg", "@modelcontextprotocol", "@opentelemetry"].includes(name)),
    [],
  );
  await consumer.write("music2/project.yaml", "primary: {}\n");
  await consumer.write(
    "peers.mjs",
    `import { createHost } from "@kaged/plugin-host";
const error = await createHost({ project: "music2", home: "home-peers", tracing: true }).then(() => null, (error) => error);
console.log(JSON.stringify([error?.code, error?.message, error?.hint]));
`,
  );
  const [code, message, hint] = JSON.parse(await consumer.run(consumer.runtimes["node 24"]!, ["peers.mjs"]));
  assert.match(`${code} ${message} ${hint}`, /^\w+\.\w+ .*@opentelemetry\/api/);
});
