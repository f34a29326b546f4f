/**
 * Findings about the plugin protocol and its documents. The tests use the public surface and the oldest parts of
 * `tests/support`, so that they can be run on the state of the repository in which each was found.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";
import { runKaged } from "../support/run_kaged.ts";
import { served, USUAL } from "../support/served.ts";

const PLUGIN = "/api/v1/plugins/echo";
const root = (path: string): URL => new URL(`../../${path}`, import.meta.url);

/** A plugin as the document has them: it knows of no features, and keeps the methods it hears. */
const WRITTEN_TO_THE_DOCUMENT = `import { createInterface } from "node:readline";
const heard = [];
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method?.startsWith("projects.") && params.project) heard.push([method, params.project]);
  if (method === "initialize") {
    answer(id, { name: "echo", version: "1.0.0", api_version: 1, methods: ["projects.seen"], notifications: [], capabilities_used: [] });
  } else if (method === "shutdown") process.exit(0);
  else if (id !== undefined) answer(id, method === "ping" ? { status: "ok" } : { heard });
});
`;

// Finding 3: only a plugin that named a feature, which no document mentions, heard of its projects.
test("K-011 a plugin that is written to the document hears that its project is active", async () => {
  const manifest = {
    version: "1.0.0",
    command: ["js", "./main.mjs"],
    methods: ["projects.seen"],
    notifications: [],
    tools: [],
  };
  await using h = await hosted({
    primary: { echo: {} },
    fixtures: { "@test/echo": { fixture: "echo", manifest, files: { "main.mjs": WRITTEN_TO_THE_DOCUMENT } } },
  });
  const { heard } = await h.host.callMethod("echo", "projects.seen") as { heard: unknown[] };
  assert.deepEqual(heard, [["projects.activated", "music"]]);
  assert.match(await readFile(root("docs/wire.md"), "utf8"), /projects\.activated[^]*projects\.deactivated/);
  assert.match(await readFile(root("src/sdk/mod.ts"), "utf8"), /onProject/);
});

const knob = { label: "Knob", default: null };
const KNOBS = {
  config_schema: {
    type: "object",
    properties: { store: { type: "string" }, model: { type: ["string", "null"] }, level: { type: "integer" } },
  },
  knobs: {
    store: {
      ...knob,
      type: "path",
      prefixes: ["project:", "config:"],
      must_exist: true,
      default: "config:/memory",
      binds_to: "config.store",
    },
    model: { ...knob, type: "model_alias", filter: "any", binds_to: "config.model" },
    level: { ...knob, type: "int_range", min: 1, max: 9, step: 1, default: 3, binds_to: "config.level" },
  },
};
const withKnobs = (local: string): HostedOptions => ({
  primary: { echo: {} },
  fixtures: { "@test/echo": { fixture: "echo", manifest: KNOBS as never } },
  local,
});

// Finding 4: a path that must exist was taken when it did not, and any word was a model.
test("K-037 K-038 must_exist and [models] are looked at when a knob is turned", async () => {
  await using h = await hosted(withKnobs('[models]\nsmall = "small-1"\n'));
  const turn = (name: string, value: unknown) => h.host.setKnob("primary", "echo", name, value);
  await assert.rejects(turn("store", "project:/notes"), { code: "knob.value_invalid" });
  await mkdir(join(h.dir, "notes"));
  await turn("store", "project:/notes");
  await assert.rejects(turn("model", "smal"), { code: "knob.value_invalid", message: /No model is called "smal"/ });
  await turn("model", "small");
});

// Finding 8: the console showed a default of a knob that the plugin never got.
test("K-038 a plugin gets the default of a knob where the schema has none", async () => {
  await using h = await hosted(withKnobs(""));
  const { level } = await h.host.callMethod("echo", "echo.config") as { level?: number };
  assert.equal(level, 3);
});

// Finding 5: operator_id was always null under a server, whoever asked.
test("K-015 a trusted proxy names the operator of a call", async () => {
  await using s = await served(USUAL, { trustUserHeader: true } as never);
  const { body } = await s.ask(`${PLUGIN}/call/echo.params`, { headers: { "X-Kaged-User-Id": "ada@example.com" } });
  assert.equal(body.result.context.operator_id, "ada@example.com");
});

// Findings 15 and 17: a client had no JSON-RPC number, and the audit no id of the request that caused an event.
test("K-017 K-070 a problem has its JSON-RPC number, and what a request causes its id", async () => {
  await using s = await served();
  const failed = await s.raw(`${PLUGIN}/call/echo.no_such_method`);
  assert.equal((await failed.json()).rpc, -32601);
  const heard: (string | null)[] = [];
  s.h.host.onAudit(({ request_id }) => void heard.push(request_id));
  const response = await s.raw(`${PLUGIN}/disable`, { method: "POST" });
  assert.ok(heard.length > 0);
  assert.deepEqual([...new Set(heard)], [response.headers.get("x-request-id") ?? "no header"]);
});

// Findings 10 and F13: fields and variables that authors meet were in no document.
test("N-040 the documents name _config, knobs and KAGED_PROJECT_DIR where authors of plugins look", async () => {
  const [wire, plugins] = await Promise.all(
    ["docs/wire.md", "docs/plugins.md"].map((path) => readFile(root(path), "utf8")),
  );
  assert.match(wire!, /`_config`/);
  assert.match(plugins!, /^knobs:$/m);
  assert.match(plugins!, /KAGED_PROJECT_DIR/);
});

// Finding 13: the suite asked under text ids, which the document does not have, and the document's own plugin failed.
test("K-065 N-040 the document's shell plugin keeps every rule of conformance about ids", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await fixturePlugin("echo", {
    manifest: {
      name: "my-simple-adapter",
      version: "0.1.0",
      command: ["bash", "./adapter.sh"],
      capabilities: ["exec:jq:plugin:/"],
      methods: ["status.get"],
      notifications: [],
      tools: [],
    },
    files: { "adapter.sh": await readFile(new URL("../seeds/kaged/shell_plugin.txt", import.meta.url), "utf8") },
  });
  const rules = ["id.number", "utf8", "lines"].flatMap((rule) => ["--rule", rule]);
  const { code, stdout, stderr } = await runKaged(["plugin", "check", plugin.dir, "--conformance", ...rules]);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
});

// Finding 14: the name that the document imports was no package.
test("K-058 N-040 @kaged/plugin-sdk is a package whose entry makes plugins", async () => {
  const place = root("sdk/javascript/package.json");
  assert.ok(existsSync(place), "There is no package for authors in JavaScript");
  const { name, exports } = JSON.parse(await readFile(place, "utf8"));
  assert.equal(name, "@kaged/plugin-sdk");
  const entry = typeof exports["."] === "string" ? exports["."] : exports["."].default;
  const { createPlugin } = await import(new URL(entry, place).href);
  assert.equal(typeof createPlugin, "function");
});
