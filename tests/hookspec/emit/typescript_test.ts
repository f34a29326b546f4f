import assert from "node:assert/strict";
import { test } from "node:test";
import type { HookEvent as PortableEvent, HookResponse as PortableResponse } from "../../../src/hooks/engine/types.ts";
import type { CompactionHookParams } from "../../../src/core/compaction/types.ts";
import type { TranscriptParams } from "../../../src/host/transcript.ts";
import { namedSchema } from "../../../src/hookspec/emit/json_schema.ts";
import * as lifecycle from "../../../src/core/contract/generated/agent_lifecycle.ts";
import * as orchestrator from "../../../src/core/contract/generated/orchestrator.ts";
import * as tool from "../../../src/core/contract/generated/tool.ts";
import type { KindSpec, NamedType, SpecType } from "../../../src/hookspec/types.ts";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";
import { ownHookspec } from "../sample_hookspec.ts";
import fc from "../../support/fast_check.ts";

const GENERATED: Readonly<
  Record<string, { HOOK_SCHEMAS: Record<string, Record<"input" | "output", tool.PayloadSchema<unknown>>> }>
> = {
  agent_lifecycle: lifecycle,
  orchestrator,
  tool,
};

function fits(schema: tool.PayloadSchema<unknown>, value: unknown): boolean {
  const verdict = schema["~standard"].validate(value);
  assert.ok(!(verdict instanceof Promise));
  return verdict.issues === undefined;
}

/** Values that are nearly always of a type, and now and then something else. */
function nearly(type: SpecType, types: readonly NamedType[]): fc.Arbitrary<unknown> {
  const junk = fc.constantFrom<unknown>(null, true, -1, 1.5, "", "x", [], {}, [1], { a: 1 });
  return fc.oneof({ arbitrary: exactly(type, types), weight: 20 }, { arbitrary: junk, weight: 1 });
}

function exactly(type: SpecType, types: readonly NamedType[]): fc.Arbitrary<unknown> {
  switch (type.type) {
    case "any":
      return fc.jsonValue({ maxDepth: 1 });
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "string":
      return type.values ? fc.constantFrom(...type.values) : fc.string({ maxLength: 3, unit: "binary" });
    case "integer":
      return fc.integer({ min: -2, max: 9 });
    case "number":
      return fc.constantFrom(-1, 0, 0.5, 7);
    case "list":
      return fc.array(nearly(type.items, types), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.constantFrom("a", "b"), nearly(type.values, types), { maxKeys: 2 });
    case "union":
      return fc.oneof(...type.options.map((option) => nearly(option, types)));
    case "named": {
      const { shape } = types.find(({ name }) => name === type.name)!;
      if (shape.type !== "record") return exactly(shape, types);
      const fields: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
        shape.fields.map((field) => [field.name, nearly(field.type, types)]),
      );
      const required = shape.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
      const more: Record<string, fc.Arbitrary<unknown>> = { ...fields, more: fc.constant(1) };
      const whole = fc.record(more, { requiredKeys: required });
      return fc.oneof({ arbitrary: whole, weight: 9 }, {
        arbitrary: fc.record(fields, { requiredKeys: [] }),
        weight: 1,
      });
    }
  }
}

test("D-005 the emitted schemas say what the JSON Schemas say, of values right and wrong", async () => {
  const verdicts = { true: 0, false: 0 };
  for (const { kind, hooks, types } of (await ownHookspec()).kinds) {
    const $defs = Object.fromEntries(types.map((type) => [type.name, namedSchema(type, "#/$defs/")]));
    for (const hook of hooks) {
      for (const side of ["input", "output"] as const) {
        const { issues } = await compileSchema({ $ref: `#/$defs/${hook[side]}`, $defs });
        const emitted = GENERATED[kind]!.HOOK_SCHEMAS[hook.name]![side];
        fc.assert(
          fc.property(nearly({ type: "named", name: hook[side] }, types), (value) => {
            const isFine = issues(value).length === 0;
            verdicts[`${isFine}`]++;
            assert.equal(fits(emitted, value), isFine, `${hook.name} ${side} ${JSON.stringify(value)}`);
          }),
          { numRuns: 40 },
        );
      }
    }
  }
  assert.ok(verdicts.true > 100 && verdicts.false > 100, JSON.stringify(verdicts));
});

test("D-005 X-19 a generated module knows every hook of its kind", async () => {
  const byKind = new Map((await ownHookspec()).kinds.map((spec): [string, KindSpec] => [spec.kind, spec]));
  for (const { KIND, KIND_API_VERSION, HOOKS } of [lifecycle, orchestrator, tool]) {
    const spec = byKind.get(KIND)!;
    assert.equal(KIND_API_VERSION, spec.version);
    assert.deepEqual(
      HOOKS.map(({ name, dispatch }) => [name, dispatch]),
      spec.hooks.map(({ name, dispatch }) => [name, dispatch]),
    );
  }
  assert.deepEqual(tool.HOOKS.map(({ method, mcpToolName }) => [method, mcpToolName]), [
    ["getSchema", null],
    ["execute", "tool.{plugin}.execute"],
  ]);
});

test("D-008 the portable envelopes and what the host sends are the payloads of the lifecycle hooks", () => {
  // The compiler is the test: each pair must be assignable both ways, or what the host sends to what is described.
  const event = (given: PortableEvent): lifecycle.HookEvent => given;
  const sameEvent = (given: lifecycle.HookEvent): PortableEvent => given;
  // Plugins cannot ask: a further choice of action would need a new major version of their contract.
  type PluginResponse = PortableResponse & { readonly action: Exclude<PortableResponse["action"], "ask"> };
  const response = (given: PluginResponse): lifecycle.HookOutput => given;
  const sameResponse = (given: Omit<lifecycle.HookResponse, "metadata">): PortableResponse => given;
  const compaction = (given: CompactionHookParams): lifecycle.CompactionInput => given;
  const idle = (given: TranscriptParams): lifecycle.SessionIdleInput => given;
  assert.equal([event, sameEvent, response, sameResponse, compaction, idle].length, 6);
});

test("D-008 every portable hook has its portable name in the event's envelope", () => {
  const { input } = lifecycle.HOOK_SCHEMAS.session_end;
  const named = (hook: string | null) => fits(input, { hook, timestamp: "t", sessionId: "s", agent: "primary" });
  const portable = lifecycle.HOOKS.map(({ portableName }) => portableName).filter((name) => name !== null);
  assert.equal(portable.length, 11);
  for (const name of portable) assert.ok(named(name), name);
  assert.ok(!named("on_session_idle"));
});

test("D-008 X-19 a tool call takes { name, args } and gives { result, elapsed_ms }", () => {
  const { input, output } = tool.HOOK_SCHEMAS.execute;
  assert.ok(fits(input, { name: "add", args: {} }));
  assert.ok(!fits(input, { function: "add", args: {} }));
  assert.ok(!fits(input, { name: "add", args: [] }), "a list is no map");
  assert.ok(fits(output, { result: null, elapsed_ms: 0 }));
  assert.ok(!fits(output, { elapsed_ms: 0 }));
  assert.ok(!fits(output, { result: 1, elapsed_ms: 0.5 }));
});
