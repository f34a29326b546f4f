import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { DEFAULT_HOOK_SETTINGS } from "../../../src/core/project/hook_settings.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import type { Issue } from "../../../src/core/project/types.ts";

const parse = async (text: string) => (await parseOperatorConfig(text, { file: "config.toml" })).hooks;

test("B-018 hooks get nothing beyond the project unless config.toml says so", async () => {
  assert.deepEqual(await parse(""), DEFAULT_HOOK_SETTINGS);
  const text = `[hooks]
network = ["api.example.com:443"]
readable = ["/srv/data"]
writable = ["/srv/out"]
env = ["APPINSIGHTS_CONNECTION_STRING"]
git_writable = true
agent_hooks = true
surface = "cloud"
plugins = ["/srv/plugin"]
disable = [".github/hooks/a.json"]
turn_markers = ["<turn>"]
unsandboxed = false
`;
  assert.deepEqual(await parse(text), {
    network: ["api.example.com:443"],
    readable: ["/srv/data"],
    writable: ["/srv/out"],
    env: ["APPINSIGHTS_CONNECTION_STRING"],
    git_writable: true,
    agent_hooks: true,
    surface: "cloud",
    plugins: ["/srv/plugin"],
    disable: [".github/hooks/a.json"],
    turn_markers: ["<turn>"],
  });
});

test("B-018 a setting that would not hold, or would hold for too much, is refused at its place", async () => {
  const text = `[hooks]
network = ["*", "no host", 3]
readable = ["~/x", "/a/../b"]
writable = "/srv"
env = ["LD_PRELOAD"]
git_writable = "yes"
surface = "phone"
unsandboxed = true
networks = []
`;
  await assert.rejects(parse(text), (error: HostError) => {
    const issues = (error.data as { issues: Issue[] }).issues.map(({ line, code, path }) => `${line} ${code} ${path}`);
    assert.deepEqual(issues, [
      "2 config.invalid_value hooks.network[0]",
      "2 config.invalid_value hooks.network[1]",
      "2 config.invalid_value hooks.network[2]",
      "3 config.invalid_value hooks.readable[0]",
      "3 config.invalid_value hooks.readable[1]",
      "4 config.wrong_type hooks.writable",
      "5 config.invalid_value hooks.env[0]",
      "6 config.wrong_type hooks.git_writable",
      "7 config.invalid_value hooks.surface",
      "8 config.invalid_value hooks.unsandboxed",
      "9 config.unknown_key hooks.networks",
    ]);
    return true;
  });
});

test("B-018 the settings that docs/hook-files.md shows are settings", async () => {
  const guide = await readFile(new URL("../../../docs/hook-files.md", import.meta.url), "utf8");
  const shown = /```toml\n([^]*?)```/.exec(guide)?.[1] ?? "";
  assert.deepEqual((await parse(shown)).network, ["api.example.com:443"]);
});
