import assert from "node:assert/strict";
import { test } from "node:test";
import { refusedPlugins } from "../../../src/core/project/refused_plugins.ts";
import { manifestOf, resolve } from "./project_text.ts";

const notes = await manifestOf("notes");
const depth = "{ type: object, properties: { depth: { type: integer }, name: { type: string } } }";
const shared = await manifestOf("shared", `config_schema: ${depth}`);
const PLUGINS = { plugins: { notes, shared } };

test("refusedPlugins() gives each refused plugin one row, with an id that no instance has", async () => {
  const resolved = await resolve(
    `primary:
  plugins:
    n: { package: notes }
    notes: { version: ^1 }
    again: { package: notes }
    s: { package: shared, isolation: project }
  compaction: { delegate: { plugin: n } }
  subagents:
    a: { plugins: { s: { config: { depth: x } } } }
    b: { plugins: { s: { config: { depth: y } } } }
`,
    PLUGINS,
  );
  assert.deepEqual(resolved.instances.map(({ instance }) => instance), ["notes@my-music/primary", "shared@my-music"]);
  const rows = refusedPlugins(resolved);
  assert.deepEqual(rows.map(({ instance, plugin, agents, error }) => [instance, plugin, agents, error.code]), [
    ["notes@my-music/primary#notes", "notes", ["primary"], "project.missing_package"],
    ["shared@my-music#s", "shared", ["primary.subagents.a", "primary.subagents.b"], "project.config_invalid"],
    ["notes@my-music/primary#again", "notes", ["primary"], "project.duplicate_plugin"],
  ]);
  const { message, data } = rows[1]!.error;
  assert.match(message, /for "primary\.subagents\.a" is wrong: depth: .*for "primary\.subagents\.b" is wrong: depth: /);
  assert.equal((data as { causes: unknown[] }).causes.length, 2);
});

test("refusedPlugins() has no row for a plugin that runs, and one for a plugin that is not installed", async () => {
  const text = `primary:
  plugins: { n: { package: notes }, x: { package: absent } }
  compaction: { delegate: { plugin: n } }
`;
  const resolved = await resolve(text, PLUGINS);
  assert.deepEqual(resolved.refusals.map(({ error }) => error.code), [
    "plugin.not_installed",
    "project.invalid_delegate",
  ]);
  const rows = refusedPlugins(resolved).map(({ key, plugin, instance, error }) => [key, plugin, instance, error.code]);
  assert.deepEqual(rows, [["x", "absent", "x@my-music/primary", "plugin.not_installed"]]);
});
