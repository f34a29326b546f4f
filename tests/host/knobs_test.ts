import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { loadHostProject } from "../../src/host/host_project.ts";
import { HostModel } from "../../src/host/model.ts";
import { turnKnob } from "../../src/host/turn_knob.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";

const manifest = {
  config_schema: {
    type: "object",
    properties: { level: { type: "integer", default: 1 }, tags: { type: "array" } },
  },
  knobs: {
    level: { type: "int_range", label: "Level", min: 1, max: 9, step: 1, default: 1, binds_to: "config.level" },
  },
} as const;

const YAML = `# The music project
primary:
  plugins:
    memory: # kept in git
      package: "@test/memory"
      config:
        tags:   [a,  b]   # odd spacing stays
        level: 2 # how deep
`;

const options = (fixture: string, yaml = YAML): HostedOptions => ({
  yaml,
  fixtures: { "@test/memory": { fixture, manifest } },
});

test("K-039 a knob write reaches the plugin and the file, which keeps its comments and its layout", async () => {
  await using h = await hosted(options("echo"));
  await h.host.setKnob("primary", "memory", "level", 5);
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { tags: ["a", "b"], level: 5 });
  assert.equal(await readFile(join(h.dir, "project.yaml"), "utf8"), YAML.replace("level: 2", "level: 5"));
  const [write] = h.all("plugin.knob_write");
  assert.deepEqual([write?.name, write?.instance, write?.data], ["echo", "echo@music/primary", {
    knob: "level",
    agent_path: "primary",
  }]);
  assert.match(write?.request_id ?? "", /^req_/);
  assert.deepEqual(await readdir(h.dir), ["project.yaml"]);
});

test("K-039 a value the plugin rejects with -32004 is in neither the plugin nor the file", async () => {
  await using h = await hosted(options("picky_config"));
  await assert.rejects(h.host.setKnob("primary", "memory", "level", 7), { code: "plugin.config_invalid", rpc: -32004 });
  assert.equal(await readFile(join(h.dir, "project.yaml"), "utf8"), YAML);
  assert.deepEqual(await h.host.callMethod("picky-config", "fixture.call"), { tags: ["a", "b"], level: 2 });
  assert.equal(h.all("plugin.knob_write").length, 0);
  await h.host.setKnob("primary", "memory", "level", 3);
  assert.deepEqual(await h.host.callMethod("picky-config", "fixture.call"), { tags: ["a", "b"], level: 3 });
});

test("K-038 a value outside the knob's bounds never reaches the plugin", async () => {
  await using h = await hosted(options("echo"));
  for (const value of [0, 10, 2.5, "3", null]) {
    await assert.rejects(h.host.setKnob("primary", "memory", "level", value), { code: "knob.value_invalid" });
  }
  await assert.rejects(h.host.setKnob("primary", "memory", "depth", 3), { code: "knob.unknown" });
  await assert.rejects(h.host.setKnob("primary", "notes", "level", 3), { code: "knob.unknown" });
  await assert.rejects(h.host.setKnob("secondary", "memory", "level", 3), { code: "agent.unknown" });
  assert.equal(await readFile(join(h.dir, "project.yaml"), "utf8"), YAML);
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { tags: ["a", "b"], level: 2 });
});

test("a file that cannot be changed leaves the plugin with the value it had", async () => {
  await using h = await hosted({ ...options("echo") });
  const file = join(h.dir, "project.yaml");
  await writeFile(file, YAML.replace("level: 2 # how deep", "level: 2\n        level: 3"));
  await assert.rejects(h.host.setKnob("primary", "memory", "level", 5), { code: "project.invalid" });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { tags: ["a", "b"], level: 2 });
});

test("knob writes at the same time are made one after the other, and all are kept", async () => {
  await using h = await hosted(options("echo"));
  await Promise.all([3, 4, 5, 6].map((level) => h.host.setKnob("primary", "memory", "level", level)));
  assert.equal(await readFile(join(h.dir, "project.yaml"), "utf8"), YAML.replace("level: 2", "level: 6"));
  assert.equal(h.all("plugin.knob_write").length, 4);
});

test("a knob write keeps the permissions of the file", async () => {
  await using h = await hosted(options("echo"));
  await chmod(join(h.dir, "project.yaml"), 0o640);
  await h.host.setKnob("primary", "memory", "level", 5);
  assert.equal((await stat(join(h.dir, "project.yaml"))).mode & 0o777, 0o640);
});

test("a knob of a plugin that is down is what its next start brings", async () => {
  await using h = await hosted({ ...options("echo") });
  await h.host.disable("echo");
  await h.host.setKnob("primary", "memory", "level", 5);
  await h.host.enable("echo");
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { tags: ["a", "b"], level: 5 });
});

test("K-036 a knob of the base of a shared plugin reaches the process, one of a subagent its overrides", async () => {
  const yaml = `primary:
  plugins:
    memory: { package: "@test/memory", isolation: project, config: { level: 2 } }
  subagents:
    researcher:
      plugins:
        memory: { config: { tags: [r] } }
`;
  await using h = await hosted(options("echo", yaml));
  h.host.openSession({ id: "ses_1" });
  const at = { agent: "primary.subagents.researcher", session: "ses_1" };
  const override = async () =>
    (await h.host.callMethod("echo", "echo.params", {}, at) as { params: { _config: unknown } }).params._config;
  assert.deepEqual(await override(), { tags: ["r"] });
  await h.host.setKnob(at.agent, "memory", "level", 4);
  assert.deepEqual(await override(), { tags: ["r"], level: 4 });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { level: 2 });
  await h.host.setKnob("primary", "memory", "level", 4);
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { level: 4 });
  assert.deepEqual(await override(), { tags: ["r"] });
});

test("a file somebody writes to meanwhile is left alone, and the plugin gets its old value back", async () => {
  await using h = await hosted({ ...options("echo"), start: false });
  await using plugin = await fixturePlugin("echo", { manifest });
  const runtime = await detectRuntime();
  const loaded = await loadHostProject({ dir: h.dir, home: h.home, plugins: { "@test/memory": plugin.dir }, runtime });
  const model = new HostModel(loaded.resolved);
  const file = join(h.dir, "project.yaml");
  const given: unknown[] = [];
  const updateConfig = async (_: string, config: { level?: unknown }) => {
    if (given.push(config.level) === 1) await writeFile(file, `# Mine\n${YAML}`);
  };
  const turn = { agent: "primary", key: "memory", knob: "level", value: 5 };
  const turned = turnKnob(turn, { model, loaded, updateConfig, files: runtime.files, ids: runtime.ids });
  await assert.rejects(turned, { code: "knob.edit_refused" });
  assert.deepEqual(given, [5, 2]);
  assert.equal(await readFile(file, "utf8"), `# Mine\n${YAML}`);
  assert.deepEqual(await readdir(h.dir), ["project.yaml"]);
});

test("K-037 K-038 a path that must exist, and a model that the operator must have, are looked for when a knob is turned", async () => {
  const knob = { label: "Knob", default: null };
  const own: Partial<Manifest> = {
    config_schema: { type: "object", properties: { store: { type: "string" }, model: { type: ["string", "null"] } } },
    knobs: {
      store: {
        ...knob,
        type: "path",
        prefixes: ["project:", "config:"],
        must_exist: true,
        default: "config:/memory",
        binds_to: "config.store",
      },
      model: { ...knob, type: "model_alias", filter: "reasoning", binds_to: "config.model" },
    },
  };
  await using h = await hosted({
    yaml: `primary: { plugins: { memory: { package: "@test/memory" } } }\n`,
    fixtures: { "@test/memory": { fixture: "echo", manifest: own } },
    local:
      `[models]\nsmall = "s-1"\n[models.deep]\nmodel = "d-1"\nfor = ["reasoning"]\n[models.quick]\nmodel = "q-1"\nfor = "fast"\n`,
  });
  const turn = (name: string, value: unknown) => h.host.setKnob("primary", "memory", name, value);
  const refused = (reason: RegExp, hint: RegExp) => (error: { code: string; message: string; hint: string }) => {
    assert.deepEqual([error.code, reason.test(error.message), hint.test(error.hint)], [
      "knob.value_invalid",
      true,
      true,
    ], error.message);
    return true;
  };
  await assert.rejects(turn("store", "config:/notes"), refused(/nothing at "config:\/notes"/, /files\/notes first/));
  await assert.rejects(turn("store", "project:/notes"), refused(/nothing at "project:\/notes"/, /notes first/));
  await mkdir(join(h.home, "files/notes"), { recursive: true });
  await turn("store", "config:/notes");
  await turn("store", "project:/project.yaml");
  await assert.rejects(turn("model", "dep"), refused(/No model is called "dep"/, /Did you mean "deep"/));
  await assert.rejects(turn("model", "quick"), refused(/"quick" is not for reasoning/, /small, deep/));
  await turn("model", "small");
  await turn("model", "deep");
  await turn("model", null);
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { store: "project:/project.yaml", model: null });
});

test("K-038 a plugin gets the default of a knob whose field has none of its own", async () => {
  const own: Partial<Manifest> = {
    config_schema: {
      type: "object",
      properties: { level: { type: "integer" }, deep: { type: "integer", default: 7 } },
    },
    knobs: Object.fromEntries(["level", "deep"].map((name) => {
      return [name, {
        type: "int_range",
        label: name,
        min: 1,
        max: 9,
        step: 1,
        default: 3,
        binds_to: `config.${name}`,
      }];
    })),
  };
  await using h = await hosted({
    yaml: `primary: { plugins: { memory: { package: "@test/memory" } } }\n`,
    fixtures: { "@test/memory": { fixture: "echo", manifest: own } },
  });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { level: 3, deep: 7 });
});
