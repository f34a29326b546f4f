import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema, draft07 } from "json-schema-library";
import * as openRpc from "@open-rpc/meta-schema";
import { namedSchema } from "../../../src/hookspec/emit/json_schema.ts";
import { emitOpenRpc } from "../../../src/hookspec/emit/openrpc.ts";
import { schemaProblems } from "../../../src/core/schema/schema_problems.ts";
import { ownHookspec } from "../sample_hookspec.ts";

interface OpenRpc {
  readonly info: { readonly version: string };
  readonly methods: {
    readonly name: string;
    readonly params: { readonly name: string; readonly required: boolean }[];
  }[];
}

/** The meta-schema of OpenRPC, without the one reference that leads out of it: what a JSON Schema is. */
function openRpcSchema(): Record<string, unknown> {
  // Its types leave out what the module holds.
  const { openrpcDocument: document } = openRpc as unknown as { openrpcDocument: unknown };
  return JSON.parse(
    JSON.stringify(document).replaceAll(
      '{"$ref":"https://meta.json-schema.tools"}',
      '{"type":["object","boolean"]}',
    ),
  );
}

const emitted = async (): Promise<Map<string, OpenRpc>> =>
  new Map((await ownHookspec()).kinds.map((spec) => [spec.kind, JSON.parse(emitOpenRpc(spec))]));

test("D-005 the OpenRPC documents follow the meta-schema of OpenRPC", async () => {
  const schema = compileSchema(openRpcSchema(), { drafts: [draft07] });
  for (const [kind, document] of await emitted()) assert.deepEqual(schema.validate(document).errors, [], kind);
  assert.equal(schema.validate({ openrpc: "1.3.2", info: { title: "x" }, methods: [] }).valid, false);
});

test("D-005 the schemas in them are sound JSON Schema 2020-12", async () => {
  for (const { kind, types } of (await ownHookspec()).kinds) {
    const $defs = Object.fromEntries(types.map((type) => [type.name, namedSchema(type, "#/$defs/")]));
    assert.deepEqual(await schemaProblems({ $defs }), [], kind);
  }
});

test("D-005 every exposed hook is registered under {kind}.{plugin}.{hook}, and no other of its kind", async () => {
  const { methods, info } = (await emitted()).get("tool")!;
  assert.deepEqual([info.version, methods.map(({ name }) => name)], ["1.0.0", ["tool.{plugin}.execute"]]);
  assert.deepEqual(methods[0]?.params.map(({ name, required }) => [name, required]), [["name", true], ["args", true]]);
  assert.deepEqual((await emitted()).get("orchestrator")?.methods, []);
});

test("D-005 a kind with a name on the wire has a method for every hook", async () => {
  const { methods } = (await emitted()).get("agent_lifecycle")!;
  assert.equal(methods.length, 12);
  assert.deepEqual(methods.slice(0, 2).map(({ name }) => name), [
    "kaged.hook.on_session_start",
    "kaged.hook.on_session_idle",
  ]);
});
