/** The programs, manifests and messages of the plugin protocol's document, each as it stands there. */
import assert from "node:assert/strict";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { HOST_VERSION } from "../../src/core/values/version.ts";
import { parseManifest } from "../../src/core/manifest/read_manifest.ts";
import { createHost } from "../../src/create_host.ts";
import type { AuditEvent } from "../../src/core/audit/events.ts";
import type { Host } from "../../src/host/types.ts";
import { blocksFor } from "../docs/support/guides.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { sample } from "./samples.ts";

const SDK = fileURLToPath(new URL("../../sdk/javascript", import.meta.url));
const TAPED = ["initialize", "presets.list"];

interface Ground {
  readonly plugin: string;
  /** Opens the host of the project, which hears every event. */
  open(): Promise<{ host: Host; events: AuditEvent[] }>;
}

/** A project whose primary has the plugin that `files` are. */
async function ground(t: TestContext, name: string, files: Readonly<Record<string, string>>): Promise<Ground> {
  const dir = await scratchDir(t);
  const [project, plugin] = [join(dir, "music"), join(dir, "plugin")];
  await mkdir(project);
  await mkdir(plugin);
  await writeFile(join(project, "project.yaml"), `primary: { plugins: { it: { package: "@test/${name}" } } }\n`);
  for (const [path, text] of Object.entries(files)) await writeFile(join(plugin, path), text);
  return {
    plugin,
    async open() {
      const options = { project, home: join(dir, "home"), control: false, operatorId: "operator" };
      const host = await createHost({ ...options, plugins: { [`@test/${name}`]: plugin } });
      const events: AuditEvent[] = [];
      host.onAudit((event) => void events.push(event));
      const { failed } = await host.start();
      assert.deepEqual(failed.map(({ error }) => error.message), []);
      return { host, events };
    },
  };
}

test("N-040 K-065 the document's shell plugin runs as it stands, in its cage", async (t) => {
  const { open } = await ground(t, "my-simple-adapter", {
    "adapter.sh": await sample("kaged/shell_plugin"),
    "kaged-plugin.yaml": JSON.stringify({
      name: "my-simple-adapter",
      version: "0.1.0",
      kaged_api: 1,
      description: "A minimal shell plugin.",
      command: ["bash", "./adapter.sh"],
      capabilities: ["exec:jq:plugin:/"],
      methods: ["status.get"],
    }),
  });
  const { host, events } = await open();
  assert.deepEqual(await host.callMethod("my-simple-adapter", "status.get"), { status: "" });
  await assert.rejects(host.callMethod("my-simple-adapter", "status.set"), { rpc: -32601 });
  await host.stop();
  const types = new Set(events.map(({ type }) => type));
  assert.deepEqual(
    ["plugin.stdout_noise", "plugin.protocol_violation", "plugin.crashed"].filter((one) => types.has(one as never)),
    [],
  );
  assert.ok(types.has("plugin.stopped"));
});

test("N-040 K-058 K-065 the document's SDK plugin runs as it stands, with @kaged/plugin-sdk in its node_modules", async (t) => {
  const text = await sample("kaged/sdk_plugin");
  const calls = "const plugin = createPlugin({ name: 'oh-my-pi', version: '1.4.2', methods: { 'presets.list': () => " +
    "plugin.storage.exec('CREATE TABLE presets (id TEXT PRIMARY KEY, name TEXT)') } }); plugin.start();";
  const { plugin, open } = await ground(t, "oh-my-pi", {
    "main.js": `import { createPlugin } from "@kaged/plugin-sdk";\n${calls}\n`,
    "package.json": '{ "type": "module" }',
    "sample.js": text,
    // The document leaves these to the author.
    "author.js": `Object.assign(globalThis, {
      scanPresets: async (filter) => [filter],
      search: (query) => [query],
      install: async () => {},
      uninstall: async () => {},
      updatePresetDir() {},
      flushCache: async () => {},
      err: new Error("gone"),
    });\n`,
    "kaged-plugin.yaml": JSON.stringify({
      name: "oh-my-pi",
      version: "1.4.2",
      kaged_api: 1,
      description: "Presets.",
      command: ["js", "./main.js"],
      capabilities: ["kaged:storage:read", "kaged:storage:write"],
      methods: ["presets.list", "presets.search", "preset.install", "preset.uninstall"],
      notifications: ["catalog.updated"],
    }),
  });
  await cp(SDK, join(plugin, "node_modules/@kaged/plugin-sdk"), { recursive: true });
  const first = await open(); // The sample's table is there before the sample is.
  await first.host.callMethod("oh-my-pi", "presets.list");
  await first.host.stop();
  await writeFile(join(plugin, "main.js"), `import "./author.js";\nimport "./sample.js";\n`);
  const { host, events } = await open();
  const noted: unknown[] = [];
  host.onNotification(({ method, params }) => void noted.push([method, params]));
  const call = (method: string, params: object) => host.callMethod("oh-my-pi", method, { ...params });
  assert.deepEqual(await call("presets.list", { filter: "web" }), { presets: ["web"] });
  assert.deepEqual(await call("presets.search", { query: "x" }), { results: ["x"] });
  assert.deepEqual(await call("preset.install", { name: "a" }), { installed: true });
  assert.deepEqual(await call("preset.uninstall", { name: "a" }), { uninstalled: true });
  await host.stop();
  assert.equal(events.some(({ type }) => type === "plugin.crashed"), false);
});

test("N-040 K-023 K-037 the document's manifest and knobs are read as they stand", async () => {
  const text = await sample("kaged/manifest");
  const { manifest } = await parseManifest(text, { file: "kaged-plugin.yaml" });
  assert.deepEqual([manifest.name, manifest.kaged_api], ["memory-markdown", 1]);
  assert.deepEqual(manifest.tools.map(({ name }) => name), ["retain", "recall"]);
  assert.deepEqual(Object.keys(manifest.knobs), ["store", "isolation"]);
  const fields = ["recall_budget", "retain_every_n_turns", "store", "thinking_model"];
  const types = ["string", "integer", "string", ["string", "null"]];
  const properties = Object.fromEntries(fields.map((field, at) => [field, { type: types[at] }]));
  const head = {
    name: "it",
    version: "1.0.0",
    kaged_api: 1,
    description: "It",
    command: ["js", "./it.js"],
    capabilities: [],
  };
  const whole = `${
    Object.entries({ ...head, config_schema: { type: "object", properties } }).map(([key, value]) => {
      return `${key}: ${JSON.stringify(value)}`;
    }).join("\n")
  }\n${await sample("kaged/knobs")}`;
  assert.deepEqual(Object.keys((await parseManifest(whole, { file: "kaged-plugin.yaml" })).manifest.knobs), fields);
});

test("N-040 K-007 K-015 the host's messages have the fields of the document's, and its answers are taken", async (t) => {
  const presets = await scratchDir(t); // The document's machine has /opt/oh-my-pi.
  const [request, response, called, storage] = await Promise.all(
    ["initialize_request", "initialize_response", "call", "storage_request"].map(async (name) =>
      JSON.parse((await sample(`kaged/${name}`)).replaceAll("/opt/oh-my-pi", presets))
    ),
  );
  const { open } = await ground(t, "oh-my-pi", {
    // Keeps each line it gets, answers initialize as the document does, and asks for storage as the document does.
    "main.js": `import { createInterface } from "node:readline";
const lines = [];
const answered = Promise.withResolvers();
const send = (message) => console.log(JSON.stringify(message));
createInterface({ input: process.stdin }).on("line", (text) => {
  const message = JSON.parse(text);
  lines.push(message);
  const { id, method } = message;
  if (method === "initialize") send({ ...${JSON.stringify(response)}, id });
  else if (method === "initialized") send(${JSON.stringify(storage)});
  else if (method === "shutdown") process.exit(0);
  else if (method === "presets.list") answered.promise.then(() => send({ jsonrpc: "2.0", id, result: { lines } }));
  else if (method === undefined) answered.resolve();
  else if (id !== undefined && method) send({ jsonrpc: "2.0", id, result: { status: "ok" } });
});
`,
    "kaged-plugin.yaml": JSON.stringify({
      name: "oh-my-pi",
      version: "1.4.2",
      kaged_api: 1,
      description: "Presets.",
      command: ["js", "./main.js"],
      capabilities: [...response.result.capabilities_used, "kaged:storage:write"],
      methods: response.result.methods,
      notifications: response.result.notifications,
    }),
  });
  const { host } = await open();
  const session = host.openSession();
  const at = { agent: "primary", session: session.id };
  const { lines } = await host.callMethod("oh-my-pi", "presets.list", { filter: "web" }, at) as {
    lines: { id?: number; method?: string; params: Record<string, unknown>; result?: unknown }[];
  };
  await host.stop();
  const [initialize, list] = TAPED.map((name) => lines.find(({ method }) => method === name)!);
  for (const field of Object.keys(request.params)) assert.ok(field in initialize!.params, field);
  assert.deepEqual([initialize!.id, initialize!.params["projects"]], [1, ["music"]]);
  assert.deepEqual(Object.keys(list!.params).sort(), Object.keys(called.params).sort());
  const context = list!.params["_context"] as object;
  assert.deepEqual(Object.keys(context).sort(), Object.keys(called.params._context).sort());
  assert.deepEqual(lines.find(({ id, method }) => id === storage.id && method === undefined)?.result, {
    rows_affected: 0,
  });
});

test("the README of @kaged/plugin-sdk imports the package by its name, which is the version's own", async () => {
  const [block = ""] = await blocksFor("tests/seeds/kaged_test.ts", "sdk/javascript/README.md");
  assert.match(block, /^import \{ createPlugin \} from "@kaged\/plugin-sdk";\n/);
  const { name, version } = JSON.parse(await readFile(join(SDK, "package.json"), "utf8"));
  assert.deepEqual([name, version], ["@kaged/plugin-sdk", HOST_VERSION]);
});
