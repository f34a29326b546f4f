import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { HostError } from "../../src/core/errors/host_error.ts";
import { emitHookspec } from "../../src/hookspec/emit/emit_hookspec.ts";
import { parseHookspec } from "../../src/hookspec/parse_hookspec.ts";
import { readHookspec } from "../../src/hookspec/read_hookspec.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { changed, SAMPLE } from "./sample_hookspec.ts";
import fc from "../support/fast_check.ts";

const KEYS =
  "type properties required items anyOf $ref $defs enum const additionalProperties minimum description name hooks kind " +
  "dispatch input_schema output_schema mcp_exposed aliases kind_api_version __proto__ constructor a";
const WORDS =
  "string object array null integer greeter greet singleton 1.0.0 schemas/greet.input.json #/$defs/a greet.input.json # a";

const OUTPUT = "kinds/greeter/schemas/greet.output.json";
const FILES = [OUTPUT, "kinds/greeter/v1.yaml", "_meta/dispatch_classes.yaml", "_meta/targets.yaml"];

/** Data that is nearly a schema or a kind. */
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, "", ...WORDS.split(" ")),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS.split(" ")), tie("value"), { maxKeys: 5 }),
  ),
})).value;

/** Schemas that are sound. */
const sound = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>({}, { type: "string" }, { type: ["integer", "null"], minimum: 0 }, { enum: ["a", "b"] }),
    tie("schema").map((items) => ({ type: "array", items })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema")).map((properties) => ({ type: "object", properties })),
  ),
})).schema;

test("D-001 whatever a file holds, it is read, or refused as a hookspec that is not in order", async () => {
  const outcomes = { read: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.tuple(fc.constantFrom(...FILES), anything), sound.map((data) => [OUTPUT, data] as const)),
      async ([file, data]) => {
        try {
          emitHookspec(await parseHookspec(changed({ [file]: JSON.stringify(data) })));
          outcomes.read++;
        } catch (thrown) {
          assert.ok(thrown instanceof HostError && thrown.code === "hookspec.invalid", String(thrown));
          outcomes.refused++;
        }
      },
    ),
    { numRuns: 600 },
  );
  assert.ok(outcomes.read > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
});

test("D-001 what else lies in the folder of a hookspec is none of it", async (t) => {
  const dir = await scratchDir(t);
  for (const [path, text] of Object.entries({ ...SAMPLE, "kinds/README.md": "x", "kinds/greeter/notes.txt": "y" })) {
    await mkdir(join(dir, path, ".."), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  const { kinds, targets } = await readHookspec(`${dir}/`, (await detectRuntime()).files);
  assert.deepEqual([kinds.map(({ kind }) => kind), targets.go], [["greeter"], "generated/go"]);
});
