import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { fillReferences, originOf, referenceReader } from "../../../src/core/project/references.ts";
import { parseLocalConfig } from "../../../src/core/project/local_config.ts";
import { systemSide } from "../../../src/core/project/plugin_config.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { manifestOf } from "./project_text.ts";

const runtime = await detectRuntime();
const env = (name: string): string | null => name === "SET" ? "from-env" : null;
const sources = { env, read: referenceReader(runtime) };

test("K-032 a value is a text, a variable, a file, what a command prints, or a literal", async (t) => {
  const file = join(await scratchDir(t), "token");
  await runtime.files.write(file, "from ${SET} file\n\n");
  const value = {
    plain: "abc",
    variable: "a-${SET}",
    file: `file:${file}`,
    command: "cmd: printf '%s\\n' \"x $((1 + 1))\"",
    literal: "literal:file:/x ${SET}",
    nested: { list: ["literal:cmd:", 7, true] },
  };
  assert.deepEqual((await fillReferences(value, sources)).value, {
    plain: "abc",
    variable: "a-from-env",
    file: "from ${SET} file\n",
    command: "x 2",
    literal: "file:/x ${SET}",
    nested: { list: ["cmd:", 7, true] },
  });
});

test("K-032 a reference that fails is named with its reason, and nothing that it printed", async (t) => {
  const dir = await scratchDir(t);
  await runtime.files.write(join(dir, "empty"), "");
  const value = {
    relative: "file:token",
    absent: `file:${dir}/absent`,
    folder: `file:${dir}`,
    empty: `file:${dir}/empty`,
    failing: "cmd:echo hunter2; echo hunter2 >&2; exit 3",
    silent: "cmd:true",
    loud: "cmd:yes hunter2",
    long: "cmd:head -c 65537 /dev/zero | tr '\\0' x",
    large: `file:${dir}/large`,
    none: "cmd:",
  };
  await runtime.files.write(join(dir, "large"), "x".repeat(65_537));
  const { failed } = await fillReferences(value, sources);
  assert.deepEqual(failed.map(({ path, message }) => [path.join("."), message]).sort(), [
    ["absent", `file:${dir}/absent gives no value: There is no such file, or it is in a folder that you may not enter`],
    ["empty", `file:${dir}/empty gives no value: The file is empty`],
    ["failing", "cmd:echo … gives no value: The command ended with exit code 3"],
    ["folder", `file:${dir} gives no value: It is no file`],
    ["large", `file:${dir}/large gives no value: It is larger than 65536 bytes`],
    ["long", "cmd:head … gives no value: The command printed more than 65536 bytes"],
    ["loud", "cmd:yes … gives no value: The command printed more than 65536 bytes"],
    ["none", "cmd: gives no value: It names no command"],
    ["relative", "file:token gives no value: The path is not absolute"],
    ["silent", "cmd:true gives no value: The command printed nothing"],
  ]);
});

test("K-032 a reference that fails is a problem of the plugin's config, at its line of local.toml", async () => {
  const manifest = await manifestOf("service", "system_config_schema: { type: object, required: [token] }\n");
  const { secrets } = await parseLocalConfig('[plugins."@x/s"]\ntoken = "file:/nowhere/x"\n', { file: "/l.toml" });
  const { problems } = await systemSide(manifest, secrets.get("@x/s"), sources);
  assert.deepEqual(
    problems.map(({ code, side, errors }) => [code, side, errors.map(({ path, line }) => [path, line])]),
    [
      ["project.reference_failed", "system", [["token", 2]]],
    ],
  );
});

test("originOf() says where a value comes from, and nothing of the value", () => {
  const origins = ["s3cret", "${A}-${B}", "file:/run/x", "cmd:pass show x", "cmd:token", "literal:file:", "$${A}", 7];
  assert.deepEqual(origins.map(originOf), [
    "local.toml",
    "${A} ${B}",
    "file:/run/x",
    "cmd:pass …",
    "cmd:token",
    "local.toml",
    "local.toml",
    "local.toml",
  ]);
});
