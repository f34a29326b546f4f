/**
 * A kind as an OpenRPC document: every hook that can be called from outside the process.
 *
 * @module
 */
import type { HookSpec, KindSpec, NamedType } from "../types.ts";
import { namedSchema, typeSchema } from "./json_schema.ts";
import { generatedHead } from "./text.ts";

const PREFIX = "#/components/schemas/";

/** Returns the document of a kind, as JSON text. */
export function emitOpenRpc(spec: KindSpec): string {
  const methods = spec.hooks.flatMap((hook) => methodsOf(hook, spec));
  const document = {
    openrpc: "1.3.2",
    info: {
      title: `Hooks of the kind ${spec.kind}`,
      description: `${spec.description} ${generatedHead(spec)}`,
      version: spec.version,
    },
    methods,
    components: { schemas: Object.fromEntries(spec.types.map((type) => [type.name, namedSchema(type, PREFIX)])) },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** A hook may be called on the wire, as an MCP tool, both, or neither. */
function methodsOf(hook: HookSpec, { types }: KindSpec): unknown[] {
  const calls = [{ name: hook.wireMethod, mcp: false }, { name: hook.mcpToolName, mcp: true }];
  const input = types.find(({ name }) => name === hook.input)!;
  const output = types.find(({ name }) => name === hook.output)!;
  return calls.filter(({ name }) => name !== null).map(({ name, mcp }) => ({
    name,
    summary: hook.description,
    paramStructure: "by-name",
    params: paramsOf(input),
    result: { name: "result", description: output.description, schema: { $ref: `${PREFIX}${output.name}` } },
    "x-hook": hook.name,
    "x-dispatch": hook.dispatch,
    "x-mcp-exposed": mcp,
  }));
}

/** Each field of what a hook takes is a parameter of its own. */
function paramsOf({ shape }: NamedType): unknown[] {
  if (shape.type !== "record") throw new TypeError("What a hook takes is a record");
  return shape.fields.map(({ name, description, isRequired, type, default: absent }) => ({
    name,
    ...(description !== "" && { description }),
    required: isRequired,
    schema: { ...typeSchema(type, PREFIX), ...(absent !== undefined && { default: absent }) },
  }));
}
