/**
 * Promises that the command broke to people who used it for the first time.
 */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { echoGround, install } from "./support_newcomer.ts";

const config_schema = { type: "object", properties: { depth: { type: "integer", default: 3 } } } as const;
const system_config_schema = {
  type: "object",
  properties: { api_key: { type: "string" } },
  required: ["api_key"],
} as const;

// A folder of that name in the working directory was run in the place of the installed plugin.
test("N-012 kaged plugin call takes a bare name for the installed plugin, never for a folder of the working directory", async (t) => {
  const ground = await echoGround(t);
  await install(ground, "./echo");
  await writeFile(join(ground.dir, "echo/index.js"), "throw new Error('the folder ran');");
  const { code, stdout, stderr } = await ground.kaged(["plugin", "call", "echo", "echo.params", '{"a":1}']);
  assert.doesNotMatch(stderr, /the folder ran/);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /"a": 1/);
});

// Both commands started the plugin with neither the defaults of its schemas nor the secret that it requires.
test("kaged plugin call and check --conformance fill in the defaults of schemas, and start nothing without a required secret", async (t) => {
  const plain = await echoGround(t, { manifest: { config_schema } });
  const { stdout } = await plain.kaged(["plugin", "call", "./echo", "echo.config", "--json"]);
  assert.deepEqual(JSON.parse(stdout), { result: { depth: 3 } });
  const { kaged } = await echoGround(t, { manifest: { system_config_schema } });
  for (const command of [["call", "./echo", "echo.config"], ["check", "./echo", "--conformance"]]) {
    const { code, stdout, stderr } = await kaged(["plugin", ...command]);
    assert.equal(code, 1, `${command}: ${stdout}`);
    assert.match(stderr, /^error\[project\.config_invalid\].*api_key/, command.join(" "));
  }
});

// `project resolve` failed, and `project load` said that the project was ready.
test("kaged project load fails where project resolve does: for a secret that is missing", async (t) => {
  const ground = await echoGround(t, { manifest: { system_config_schema } });
  await install(ground, "./echo");
  await mkdir(join(ground.dir, "music"));
  await writeFile(join(ground.dir, "music/project.yaml"), "primary: { plugins: { e: { package: echo } } }\n");
  const resolve = await ground.kaged(["project", "resolve", "music"]);
  const load = await ground.kaged(["project", "load", "music"]);
  assert.deepEqual([resolve.code, load.code], [1, 1], load.stdout);
  assert.match(load.stderr, /api_key/);
});

// No command set a secret, and where the package has the plugin's name the table that the guide showed stood twice.
test("N-023 kaged secret set gives a secret to a plugin whose package has its name, and the project resolves", async (t) => {
  const ground = await echoGround(t, { manifest: { system_config_schema } });
  await install(ground, "./echo");
  const set = await ground.kaged(["secret", "set", "echo", "api_key"], "s3cr3t-of-mine\n");
  assert.equal(set.code, 0, set.stderr);
  await mkdir(join(ground.dir, "music"));
  await writeFile(join(ground.dir, "music/project.yaml"), "primary: { plugins: { e: { package: echo } } }\n");
  const { code, stderr } = await ground.kaged(["project", "resolve", "music"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(await readFile(join(ground.home, "local.toml"), "utf8"), /^api_key = "s3cr3t-of-mine"$/m);
});

// A second table by hand was answered with "A key stands twice", which names no way out.
test("a second table of a plugin in local.toml is answered with the way out, and the command that sets a secret", async (t) => {
  const ground = await echoGround(t, { manifest: { system_config_schema } });
  await install(ground, "./echo");
  const file = join(ground.home, "local.toml");
  await writeFile(file, `${await readFile(file, "utf8")}\n[plugins."echo"]\napi_key = "k"\n`);
  const { code, stderr } = await ground.kaged(["plugin", "list"]);
  assert.equal(code, 1);
  assert.match(stderr, /kaged secret set/);
});

// Both ended with 0 for a name that nobody knows.
test("kaged plugin info and logs fail for a plugin that nobody knows, also where another one is installed", async (t) => {
  const ground = await echoGround(t);
  await install(ground, "./echo");
  const runs = [await ground.kaged(["plugin", "info", "ecko"]), await ground.kaged(["plugin", "logs", "ecko"])];
  assert.deepEqual(runs.map(({ code }) => code), [1, 1]);
  for (const { stderr } of runs) assert.match(stderr, /^error\[plugin\.unknown\]: No plugin "ecko"/);
});

// The stack in the data of an error was one line of JSON, full of \n.
test("kaged plugin call prints a stack in a plugin's error line by line", async (t) => {
  const index = `import { refuse, serve } from "./wire.js";
    const stack = "Error: no\\n    at deep (index.js:1:1)";
    serve({ "echo.params": ({ id }) => refuse(id, -32050, "Broken", { stack }) });`;
  const { kaged } = await echoGround(t, { files: { "index.js": index } });
  const { stderr } = await kaged(["plugin", "call", "./echo", "echo.params"]);
  assert.match(stderr, /error\[plugin\.error\]: Broken/);
  assert.doesNotMatch(stderr, /\\n/);
  assert.match(stderr, /^\W*at deep \(index\.js:1:1\)$/m);
});

// A plugin that is installed in a version that the project does not take was called "not installed".
test("kaged project load names the version that is installed where the project takes another", async (t) => {
  const ground = await echoGround(t);
  await install(ground, "./echo");
  await mkdir(join(ground.dir, "music"));
  const project = 'primary: { plugins: { e: { package: echo, version: "^2" } } }\n';
  await writeFile(join(ground.dir, "music/project.yaml"), project);
  const { code, stdout } = await ground.kaged(["project", "load", "music"]);
  assert.equal(code, 1);
  assert.match(stdout, /1\.0\.0/);
  assert.doesNotMatch(stdout, /not installed$/m);
});

// The guide showed a time where the command writes a version.
test("the record of an installed plugin in docs/projects.md is like the one that kaged plugin install writes", async (t) => {
  const ground = await echoGround(t);
  await install(ground, "./echo");
  const written = /^installed = (.*)$/m.exec(await readFile(join(ground.home, "local.toml"), "utf8"));
  const guide = await readFile(new URL("../../docs/projects.md", import.meta.url), "utf8");
  const shown = /^installed = (.*)$/m.exec(guide);
  const shape = (text = ""): string => text.replaceAll(/\d+/g, "0");
  assert.equal(shape(shown?.[1]), shape(written?.[1]));
});
