import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { runtimeName } from "../support/require_or_skip.ts";
import { type Consumer, entriesOf, installedConsumer, root } from "./support/consumer.ts";

// Installed once, by the Node run of the suite; each of the runtimes then uses what was installed.
const isHere = runtimeName === "node";
const once = isHere ? test : () => {};
// Not in a hook: those have the time of a test, and this waits for the registry.
const consumer: Consumer = isHere ? await installedConsumer() : ({} as Consumer);
if (isHere) after(() => consumer[Symbol.asyncDispose]());

const PACKAGE = "node_modules/@kaged/plugin-host";

/** A storage plugin and a project that has it. */
const NOTES_MANIFEST = `name: notes
version: 0.1.0
kaged_api: 1
description: Keeps notes.
command: [js, ./index.js]
capabilities: [kaged:storage:write]
methods: [notes.add]
`;
const NOTES = `import { createPlugin } from "./kaged_sdk.js";
const add = async ({ text }) => {
  await plugin.storage.exec("CREATE TABLE IF NOT EXISTS notes(body TEXT)");
  await plugin.storage.exec("INSERT INTO notes VALUES (?)", [text]);
  return (await plugin.storage.query("SELECT body FROM notes ORDER BY rowid")).rows;
};
const plugin = createPlugin({ name: "notes", version: "0.1.0", methods: { "notes.add": add } });
plugin.start();
`;
const PROGRAM = `import { createHost, HostError } from "@kaged/plugin-host";
import process from "node:process";

await using host = await createHost({ project: "music", home: process.argv[2], plugins: { "@test/notes": "notes" } });
const { running, failed } = await host.start();
const session = host.openSession();
const at = { agent: "primary", session: session.id };
await host.callMethod("notes", "notes.add", { text: "red" }, at);
const rows = await host.callMethod("notes", "notes.add", { text: "blue" }, at);
const unknown = await host.callMethod("notes", "no.such", {}, at).catch((error) => error instanceof HostError && error.code);
console.log(JSON.stringify({ running, failed: failed.map(String), rows, unknown }));
`;

once("the npm package holds an ES module, types and a source map for every entry", async () => {
  const manifest = JSON.parse(await readFile(join(consumer.dir, PACKAGE, "package.json"), "utf8"));
  assert.deepEqual(Object.keys(manifest.exports), [...Object.keys(await entriesOf()), "./package.json"]);
  assert.deepEqual(manifest.engines, { node: ">=24.15", deno: ">=2.9", bun: ">=1.4" });
  for (const [entry, { types, default: file }] of Object.entries<Record<string, string>>(manifest.exports)) {
    if (entry === "./package.json") continue;
    const path = join(consumer.dir, PACKAGE, file!);
    assert.match(await readFile(path, "utf8"), /\n\/\/# sourceMappingURL=\w+\.js\.map\n$/, entry);
    const map = JSON.parse(await readFile(`${path}.map`, "utf8"));
    assert.deepEqual(map.sources.map((source: string) => /^\w+\.ts$/.test(source)), [true], entry);
    assert.ok((await stat(join(consumer.dir, PACKAGE, types!))).size > 0, entry);
  }
  assert.equal((await stat(join(consumer.dir, PACKAGE, manifest.bin.kaged))).mode & 0o111, 0o111);
});

once("the npm package names no folder of the machine that built it", async () => {
  const files = await readdir(join(consumer.dir, PACKAGE), { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile())) {
    const path = join(file.parentPath, file.name);
    const text = await readFile(path, "utf8");
    assert.ok(!text.includes(root) && !text.includes("file:///"), path);
  }
});

once("docs/packages.md tells the size of the npm package", async () => {
  const { size } = await stat(join(root, "npm/kaged-plugin-host.tgz"));
  const told = /packed ([\d.]+) MB/.exec(await readFile(join(root, "docs/packages.md"), "utf8"))?.[1];
  assert.ok(Math.abs(size / 1e6 - Number(told)) < 0.15, `${(size / 1e6).toFixed(1)} MB, told: ${told} MB`);
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

once("the installed command makes, checks and names itself on Node 24, Node 26 and Bun", async () => {
  const kaged = join(consumer.dir, PACKAGE, "src/cli/bin.js");
  for (const name of ["node 24", "node 26", "bun"]) {
    const command = [...consumer.runtimes[name]!, kaged];
    const plugin = `greeter-${name.replace(" ", "")}`;
    assert.match(await consumer.run(command, ["--version"]), /^\d+\.\d+\.\d+\n$/, name);
    assert.match(await consumer.run(command, ["plugin", "new", plugin]), /Made/, name);
    assert.match(await consumer.run(command, ["plugin", "check", plugin]), /All \d+ rules kept/, name);
  }
});

once("a caged plugin and its tables work through createHost() on Node 24, Node 26, Bun and Deno", async () => {
  const kaged = [...consumer.runtimes["node 24"]!, join(consumer.dir, PACKAGE, "src/cli/bin.js")];
  await consumer.run(kaged, ["plugin", "new", "notes"]);
  await consumer.write("notes/kaged-plugin.yaml", NOTES_MANIFEST);
  await consumer.write("notes/index.js", NOTES);
  await consumer.write("music/project.yaml", 'primary: { plugins: { notes: { package: "@test/notes" } } }\n');
  await consumer.write("program.mjs", PROGRAM);
  for (const [name, command] of Object.entries(consumer.runtimes)) {
    const told = JSON.parse(await consumer.run(command, ["program.mjs", `home-${name.replace(" ", "")}`]));
    const wanted = { running: ["notes@music/primary"], failed: [], rows: [{ body: "red" }, { body: "blue" }] };
    assert.deepEqual(told, { ...wanted, unknown: "protocol.method_unknown" }, name);
  }
});

once("a TypeScript consumer type-checks under nodenext and bundler, and runs through tsx", async () => {
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
  const tsx = join(root, "node_modules/tsx/dist/cli.mjs");
  for (const name of ["node 24", "node 26"]) {
    const said = await consumer.run([...consumer.runtimes[name]!, tsx], ["consumer.ts"]);
    assert.equal(said, `project.missing\n${entries.length}\n`, name);
  }
});

once("without its optional peers the package works, and says which one a feature needs", async () => {
  const installed = await readdir(join(consumer.dir, "node_modules"));
  assert.deepEqual(
    installed.filter((name) => ["pg-boss", "@modelcontextprotocol", "@opentelemetry"].includes(name)),
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
