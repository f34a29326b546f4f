import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { circlesOf, importsOf, roomOf, roomsOf } from "../scripts/pictures/rooms.ts";
import { isErrorCode } from "../src/core/errors/host_error.ts";
import { HOST_VERSION } from "../src/core/values/version.ts";
import { root, sourcesIn } from "./support/sources.ts";

const OUTWARD =
  /^(?!\s*[*/]).*((from|import|require)\b[ (\\]*["'`](node|bun):|\/adapters\/|\b(Deno|Bun|Buffer|process)\.)/m;

test("src/core reaches for no runtime and no adapter", async () => {
  const sources = await sourcesIn("src/core");
  assert.ok(sources.length > 20);
  // Generated files too, and what they hold as text: a program that runs elsewhere comes from an adapter.
  for (const { path, text } of sources) assert.doesNotMatch(text, OUTWARD, path);
});

test("src/core asks no runtime for its name: what differs between runtimes is a port's to answer", async () => {
  const asking = (await sourcesIn("src/core")).filter(({ text }) => /(?:case|[!=]==) "(?:node|bun|deno)"/.test(text));
  assert.deepEqual(asking.map(({ path }) => path), []);
});

/** Imports from `inside` of files that `isOutside`, as `file → file`. */
async function leaving(inside: string, isOutside: (target: string) => boolean): Promise<string[]> {
  const sources = await sourcesIn(inside);
  assert.ok(sources.length > 20);
  return sources.flatMap((source) => importsOf(source).filter(isOutside).map((target) => `${source.path} → ${target}`));
}

test("src/core imports nothing outside src/core, no type either", async () => {
  assert.deepEqual(await leaving("src/core", (target) => !target.startsWith("src/core/")), []);
});

test("src/host imports none of http, cli, mcp, operator and adapters, no type either", async () => {
  const outer = ["http", "cli", "mcp", "operator", "adapters", "mod.ts"];
  assert.deepEqual(await leaving("src/host", (target) => outer.includes(roomOf(target))), []);
});

test("N-006 no file of src is part of a circle of imports, types counted", async () => {
  const graph = new Map((await sourcesIn("src")).map((source) => [source.path, importsOf(source)]));
  assert.ok(graph.size > 500);
  assert.deepEqual(circlesOf(graph).map((circle) => circle.join(" → ")), []);
});

test("N-005 rooms stand on each other in one direction: none is part of a circle of rooms, types counted", async () => {
  const { names, imports } = roomsOf(await sourcesIn("src"));
  assert.ok(names.length > 25);
  const graph = new Map(
    names.map((room) => [room, imports.filter(({ from }) => from === room).map(({ to }) => to)]),
  );
  assert.deepEqual(circlesOf(graph).map((circle) => circle.join(" → ")), []);
});

test("src/core/wire, manifest and audit know nothing of cage and supervisor", async () => {
  for (const room of ["wire", "manifest", "audit"]) {
    for (const source of await sourcesIn(`src/core/${room}`)) {
      for (const target of importsOf(source)) assert.doesNotMatch(target, /core\/(cage|supervisor)\//, source.path);
    }
  }
});

test("adapters import the core and never each other", async () => {
  for (const name of ["node", "bun", "deno"]) {
    for (const source of await sourcesIn(`src/adapters/${name}`)) {
      for (const target of importsOf(source)) {
        assert.match(target, new RegExp(`^src/(core|adapters/(${name}|shared))/`), `${source.path} → ${target}`);
      }
    }
  }
});

/** What importing a file loads: files of ours, and names of everything else. */
async function loadedBy(entry: string): Promise<{ files: Set<string>; others: Set<string> }> {
  const [files, others] = [new Set([entry]), new Set<string>()];
  for (const path of files) {
    const text = await readFile(join(root, path), "utf8");
    for (const [, clause, name] of text.matchAll(/^(?:import|export) ([^;]*?)from "([^"]+)";/gms)) {
      if (clause!.startsWith("type ")) continue;
      if (name!.startsWith(".")) files.add(normalize(join(dirname(path), name!)));
      else others.add(name!);
    }
  }
  return { files, others };
}

test("importing the package loads no library, no adapter and no host: that comes with who asks for it", async () => {
  const { files, others } = await loadedBy("mod.ts");
  assert.deepEqual([...others], ["node:path"]);
  assert.deepEqual([...files].filter((path) => /\/(host|supervisor|hooks|shared)\//.test(path)), []);
});

test("a host loads no HTTP, of a library or of the runtime: that comes with the first request", async () => {
  const { files, others } = await loadedBy("src/host/create_host.ts");
  assert.ok(files.size > 100);
  for (const name of others) assert.doesNotMatch(name, /^(hono|@hono\/|ws$|node:https?$)/);
});

test("src/sdk/mod.ts imports no other file: a plugin carries it alone", async () => {
  const text = await readFile(join(root, "src/sdk/mod.ts"), "utf8");
  assert.doesNotMatch(text, /^import .* from "(?!node:)/m);
});

test("every code given to HostError has a row in the error table", async () => {
  const used = new Map<string, string>();
  for (const { path, text } of await sourcesIn("src")) {
    for (const match of text.matchAll(/new HostError\(\s*"([^"]+)"/g)) used.set(match[1]!, path);
  }
  assert.ok(used.size > 10);
  for (const [code, path] of used) assert.ok(isErrorCode(code), `${path} uses "${code}"`);
});

test("the version on the wire is the package's", async () => {
  const { version } = JSON.parse(await readFile(join(root, "deno.json"), "utf8"));
  assert.equal(HOST_VERSION, version);
});
