import assert from "node:assert/strict";
import { test } from "node:test";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { FILE } from "./manifest_text.ts";
import { FULL_SAMPLE, KNOB_SAMPLE } from "./samples.ts";

test("K-040 K-041 the full sample of the document parses, whole and without a warning", async () => {
  const { manifest, warnings } = await parseManifest(FULL_SAMPLE, { file: FILE });
  assert.deepEqual(warnings, []);
  const { tools, config_schema: config, system_config_schema: system, knobs, ...rest } = manifest;
  assert.deepEqual(rest, {
    name: "memory-markdown",
    version: "0.1.0",
    kaged_api: 1,
    description: "Markdown-file-backed agent memory.",
    author: "kaged",
    license: "MIT",
    homepage: "https://github.com/...",
    command: ["/usr/bin/env", "bun", "./dist/index.js"],
    env: { LOG_LEVEL: "info" },
    capabilities: ["read:fs:config:/memory", "write:fs:config:/memory", "kaged:storage:read", "net:[]"],
    roles: ["observer"],
    hooks: ["on_session_start", "on_session_idle", "pre_compact", "post_compact"],
    methods: ["presets.list"],
    notifications: ["catalog.updated"],
    shutdown_timeout_sec: 5,
    health_interval_sec: 30,
    hook_timeout_sec: 10,
  });
  assert.deepEqual(tools.map(({ name }) => name), ["retain", "recall"]);
  assert.deepEqual(tools[1], {
    name: "recall",
    description: "Search long-term memory.",
    parameters_schema: {
      type: "object",
      properties: { query: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
      required: ["query"],
    },
  });
  assert.deepEqual(Object.keys(config?.properties as object), ["isolation", "store", "tags"]);
  assert.deepEqual(system, { type: "object", properties: {}, additionalProperties: false });
  assert.deepEqual(knobs.isolation, {
    type: "enum",
    label: "Isolation scope",
    description: "Per-agent or per-project memory.",
    values: ["agent", "project"],
    default: "agent",
    binds_to: "config.isolation",
  });
});

test("K-037 K-038 the knob sample of the document parses, without a warning", async () => {
  const { manifest, warnings } = await parseManifest(KNOB_SAMPLE, { file: FILE });
  assert.deepEqual(warnings, []);
  assert.deepEqual(Object.values(manifest.knobs).map(({ type, default: start }) => [type, start]), [
    ["enum", "mid"],
    ["int_range", 3],
    ["path", "config:/memory"],
    ["model_alias", null],
  ]);
});
