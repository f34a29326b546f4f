/**
 * Hookspecs of one's own: the files that follow from them, and the changes between two of them.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { dispatchSingleton } from "@kaged/plugin-host/hooks";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CLASSES = ["singleton", "broadcast_collect", "broadcast_notify", "chain", "capability"];
const KIND = `kind: greeter
kind_api_version: 1.2.3
description: Greets people.
hooks:
  - name: greet
    dispatch: singleton
    description: Says hello.
    input_schema: schemas/greet.input.json
    output_schema: schemas/greet.output.json
    mcp_exposed: false
`;

/** Writes a hookspec whose hook has these fields in its answer, and returns its folder. */
async function hookspec(t: TestContext, properties: Readonly<Record<string, unknown>>): Promise<string> {
  const dir = await scratchDir(t);
  const files = {
    "_meta/dispatch_classes.yaml": JSON.stringify({
      dispatch_classes: CLASSES.map((name) => ({ name, description: "One way" })),
    }),
    "kinds/greeter/v1.yaml": KIND,
    "kinds/greeter/schemas/greet.input.json": JSON.stringify({ type: "object", properties: {} }),
    "kinds/greeter/schemas/greet.output.json": JSON.stringify({ type: "object", properties }),
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(dir, dirname(name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return dir;
}

/** Returns the emitted texts by language. */
async function emitted(t: TestContext, properties: Readonly<Record<string, unknown>>): Promise<Map<string, string>> {
  const dir = await hookspec(t, properties);
  const out = join(dir, "out");
  const { code, stderr } = await runKaged(["hookspec", "emit", "--dir", dir, "--out", out]);
  assert.equal(code, 0, stderr);
  const names = (await readdir(out, { recursive: true })).filter((name) => /\.(ts|py|go|json|md)$/.test(name));
  const texts = names.map(async (name): Promise<[string, string]> => {
    return [name.split("/")[0]!, await readFile(join(out, name), "utf8")];
  });
  return new Map(await Promise.all(texts));
}

// They stood in the schema and in no language.
test("D-005 format and default of a field are in every file that a hookspec gives", async (t) => {
  const texts = await emitted(t, {
    at: { type: "string", format: "date-time" },
    word: { type: "string", default: "hello-there" },
  });
  assert.deepEqual([...texts.keys()].sort(), ["go", "markdown", "openrpc", "python", "typescript"]);
  for (const [language, text] of texts) {
    for (const word of ["date-time", "hello-there"]) assert.ok(text.includes(word), `${word} in ${language}`);
  }
});

// The models took 5 for "5", 5.7 for 5 and True for 1.
test("D-007 the models in Python take values of their own types alone", async (t) => {
  const python = (await emitted(t, { word: { type: "string" }, n: { type: "integer" }, ready: { type: "boolean" } }))
    .get("python") ?? "";
  for (const field of [/word: .*StrictStr/, /n: .*StrictInt/, /ready: .*StrictBool/]) assert.match(python, field);
});

// Another order of the same words asked for a major version.
test("D-013 the order of an enum's values is no change", async (t) => {
  const [old, now] = [["glad", "sad"], ["sad", "glad"]].map((words) => hookspec(t, { mood: { enum: words } }));
  const { code, stdout } = await runKaged(["hookspec", "diff", await old!, await now!]);
  assert.deepEqual([code, stdout], [0, "greeter 1.2.3: unchanged\n"]);
});

// It was accepted, and no value could ever fit.
test("a minimum above the maximum is an error at its place", async (t) => {
  const dir = await hookspec(t, { n: { type: "integer", minimum: 5, maximum: 1 } });
  const { code, stderr } = await runKaged(["hookspec", "emit", "--dir", dir, "--out", join(dir, "out")]);
  assert.equal(code, 1);
  assert.match(stderr, /greet\.output\.json:\d+:\d+.*minimum 5 is more than maximum 1/);
});

// The call that the guide shows did not compile: TS2345.
test("D-009 an element of HOOKS beside its HOOK_SCHEMAS is a contract for dispatchSingleton() under tsc --strict", async (t) => {
  const dir = await scratchDir(t);
  const { code } = await runKaged(["hookspec", "emit", "--dir", join(ROOT, "hookspec"), "--out", dir]);
  assert.equal(code, 0);
  await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
  await writeFile(
    join(dir, "use.ts"),
    `import { dispatchSingleton, type Participant } from "${
      fileURLToPath(import.meta.resolve("@kaged/plugin-host/hooks"))
    }";
    import { type ExecuteInput, type ExecuteOutput, HOOK_SCHEMAS, HOOKS } from "./typescript/tool.ts";
    const participants: Participant<ExecuteInput, ExecuteOutput>[] = [];
    declare const input: ExecuteInput;
    export const answer = dispatchSingleton({ ...HOOKS[1]!, ...HOOK_SCHEMAS.execute }, participants, input);\n`,
  );
  const flags = "--noEmit --strict --target esnext --module nodenext --lib esnext,dom --allowImportingTsExtensions";
  const { stdout } = spawnSync(
    join(ROOT, "node_modules/.bin/tsc"),
    [...flags.split(" "), "--skipLibCheck", "--types", "node", "use.ts"],
    { cwd: dir, encoding: "utf8" },
  );
  assert.equal(stdout, "");
});

// It asked the first of a chain, and left the others out.
test("D-009 dispatchSingleton() refuses the contract of a chain", async () => {
  const chain = { name: "rewrite", dispatch: "chain" } as never;
  const one = { name: "a", priority: 1, call: (text: string) => text };
  await assert.rejects(async () => await dispatchSingleton(chain, [one], "x"), /chain/);
});
