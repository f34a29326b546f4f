import assert from "node:assert/strict";
import { test } from "node:test";
import { cageEnv } from "../../../src/core/cage/compile_cage.ts";
import { manifestOf } from "../../support/cage_requests.ts";

const options = {
  places: { installDir: "/srv/notes", home: "/home/op/kaged", projectDir: "/home/op/music" },
  logLevel: "debug",
};

test("K-047 the environment is the host's own list", () => {
  assert.deepEqual(cageEnv(manifestOf(), options), {
    KAGED_PLUGIN_NAME: "caged",
    KAGED_PLUGIN_DIR: "/srv/notes",
    KAGED_API_VERSION: "1",
    KAGED_LOG_LEVEL: "debug",
    HOME: "/srv/notes",
    PATH: "/usr/bin:/usr/local/bin",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    DENO_DIR: "/tmp/.deno",
    DENO_NO_PROMPT: "1",
    DENO_NO_UPDATE_CHECK: "1",
  });
});

test("K-047 the manifest's variables come on top, but cannot change who the plugin is", () => {
  const lies = { KAGED_PLUGIN_NAME: "other", KAGED_PLUGIN_DIR: "/", KAGED_API_VERSION: "2" };
  const env = cageEnv(manifestOf({ env: { ...lies, HOME: "/tmp", KAGED_LOG_LEVEL: "error", MINE: "é" } }), options);
  assert.deepEqual(
    [env.KAGED_PLUGIN_NAME, env.KAGED_PLUGIN_DIR, env.KAGED_API_VERSION, env.HOME, env.KAGED_LOG_LEVEL, env.MINE],
    ["caged", "/srv/notes", "1", "/tmp", "error", "é"],
  );
});

test("variables of the loader and names that are none are refused", () => {
  for (const name of ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_", "", "A=B", "A\0B"]) {
    assert.throws(() => cageEnv(manifestOf({ env: { [name]: "x" } }), options), { code: "manifest.invalid" }, name);
  }
});

test("a plugin's environment names config:/ and project:/ when it was granted something there, and only then", () => {
  const folders = (
    capabilities: string[],
    env: Record<string, string> = {},
    projectDir: string | null = "/p",
  ): unknown => {
    const all = cageEnv(manifestOf({ capabilities, env }), {
      ...options,
      places: { ...options.places, projectDir },
    });
    return [all.KAGED_CONFIG_DIR, all.KAGED_PROJECT_DIR];
  };
  assert.deepEqual(folders(["read:fs:config:/memory", "net:[]"]), ["/home/op/kaged/files", undefined]);
  assert.deepEqual(folders(["write:fs:project:/out"]), [undefined, "/p"]);
  assert.deepEqual(folders(["write:fs:/srv/config:/x", "read:fs:plugin:/data"]), [undefined, undefined]);
  assert.deepEqual(folders(["read:fs:project:/"], {}, null), [undefined, undefined]);
  assert.deepEqual(folders(["read:fs:config:/a"], { KAGED_CONFIG_DIR: "/lie" }), ["/home/op/kaged/files", undefined]);
});
