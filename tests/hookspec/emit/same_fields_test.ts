/** Reads the emitted texts of every language back into one table of fields, and compares. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitGo } from "../../../src/hookspec/emit/go.ts";
import { emitOpenRpc } from "../../../src/hookspec/emit/openrpc.ts";
import { emitPython } from "../../../src/hookspec/emit/python.ts";
import { emitTypeScript } from "../../../src/hookspec/emit/typescript.ts";
import type { KindSpec } from "../../../src/hookspec/types.ts";
import { ownHookspec } from "../sample_hookspec.ts";

/** `Type.field` → `required type`, in words that every language shares. */
type Fields = Record<string, string>;

function fieldsOf(
  text: string,
  block: RegExp,
  line: RegExp,
  read: (match: RegExpMatchArray) => [string, string],
): Fields {
  const fields: Fields = {};
  for (const [, type, body] of text.matchAll(block)) {
    for (const match of body!.matchAll(line)) {
      const [name, value] = read(match);
      fields[`${type}.${name}`] = value;
    }
  }
  return fields;
}

function typeScriptFields(spec: KindSpec): Fields {
  const text = emitTypeScript(spec).replace(
    /export interface (?:HookMetadata|PayloadSchema|HookPayloads)[^]*?\n}\n/g,
    "",
  );
  return fieldsOf(
    text,
    /export interface (\w+) \{\n([^]*?)\n\}/g,
    /^ {2}readonly (\w+)(\??): (.*);$/gm,
    ([, name, mark, type]) => [
      name!,
      `${mark === "?" ? "optional" : "required"} ${typeScriptType(type!)}`,
    ],
  );
}

function typeScriptType(type: string): string {
  const options = split(type, " | ");
  if (options.every((option) => option.startsWith('"'))) return "string";
  if (options.length > 1) return options.map(typeScriptType).sort().join("|");
  const list = /^readonly \(?(.*?)\)?\[\]$/.exec(type);
  if (list) return `list<${typeScriptType(list[1]!)}>`;
  if (type === "Readonly<Record<string, unknown>>") return "map";
  return { unknown: "any" }[type] ?? type;
}

function pythonFields(spec: KindSpec): Fields {
  return fieldsOf(
    emitPython(spec),
    /^class (\w+)\(BaseModel, extra="\w+"\):\n((?: {4}.*\n|\n(?= {4}))*)/gm,
    /^ {4}(\w+): (.*) = Field\((\.\.\.|None).*\)$/gm,
    ([, name, type, mark]) => {
      const inner = mark === "None" ? /^Optional\[(.*)\]$/.exec(type!)?.[1] ?? type! : type!;
      return [name!, `${mark === "None" ? "optional" : "required"} ${pythonType(inner)}`];
    },
  );
}

function pythonType(type: string): string {
  const [, outer, inner] = /^(\w+)\[(.*)\]$/.exec(type) ?? [];
  const [, limited] = /^(?:Strict|_)(Str|Int|Num|Bool)/.exec(type) ?? [];
  if (limited) return { Str: "string", Int: "number", Num: "number", Bool: "boolean" }[limited]!;
  if (type === "Union[StrictInt, StrictFloat]") return "number";
  if (outer === "Literal") return "string";
  if (outer === "Union") return split(inner!, ", ").map(pythonType).sort().join("|");
  if (outer === "List") return `list<${pythonType(inner!)}>`;
  if (outer === "Dict") return "map";
  return { Any: "any", None: "null" }[type] ?? type;
}

function goFields(spec: KindSpec): Fields {
  return fieldsOf(
    emitGo(spec),
    /^type (\w+) struct \{\n([^]*?)\n\}/gm,
    /^\t\w+ (\S+) `json:"(\w+)(,omitempty)?"`$/gm,
    ([, type, name, mark]) => [
      name!,
      `${mark ? "optional" : "required"} ${goType(type!)}`,
    ],
  );
}

function goType(type: string): string {
  if (type.startsWith("*")) return goType(type.slice(1));
  if (type.startsWith("[]")) return `list<${goType(type.slice(2))}>`;
  if (type.startsWith("map[string]")) return "map";
  return { int: "number", float64: "number", bool: "boolean" }[type] ?? type;
}

function openRpcFields(spec: KindSpec): Fields {
  const { components: { schemas } } = JSON.parse(emitOpenRpc(spec));
  const fields: Fields = {};
  for (const [type, { properties = {}, required = [] }] of Object.entries(schemas as Record<string, OpenSchema>)) {
    for (const [name, schema] of Object.entries(properties)) {
      fields[`${type}.${name}`] = `${required.includes(name) ? "required" : "optional"} ${openType(schema)}`;
    }
  }
  return fields;
}

interface OpenSchema {
  properties?: Record<string, OpenSchema>;
  required?: string[];
  type?: string;
  items?: OpenSchema;
  anyOf?: OpenSchema[];
  $ref?: string;
}

function openType({ type, items, anyOf, $ref }: OpenSchema): string {
  if ($ref) return $ref.split("/").at(-1)!;
  if (anyOf) return anyOf.map(openType).sort().join("|");
  if (type === "array") return `list<${openType(items ?? {})}>`;
  return { integer: "number", object: "map" }[type ?? "any"] ?? type ?? "any";
}

/** Splits at what stands outside all brackets. */
function split(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if ("[(<".includes(text[at]!)) depth++;
    if ("])>".includes(text[at]!)) depth--;
    if (depth === 0 && text.startsWith(separator, at)) {
      parts.push("");
      at += separator.length - 1;
    } else parts.push(parts.pop() + text[at]!);
  }
  return parts;
}

test("D-007 every field has the same name and the same type in every language", async () => {
  let count = 0;
  for (const spec of (await ownHookspec()).kinds) {
    const expected = openRpcFields(spec);
    count += Object.keys(expected).length;
    assert.deepEqual(typeScriptFields(spec), expected, `TypeScript of ${spec.kind}`);
    assert.deepEqual(pythonFields(spec), expected, `Python of ${spec.kind}`);
    // Go has no word for "one of several": what the others spell out is any there, and null is nil.
    const inGo = Object.entries(expected).map((
      [field, type],
    ) => [field, type.replace(/(?<= )(?:null\|(\w+)|\S*\|\S*)$/, (_, only) => only ?? "any")]);
    assert.deepEqual(goFields(spec), Object.fromEntries(inGo), `Go of ${spec.kind}`);
  }
  assert.ok(count > 60, `${count} fields`);
});

test("D-007 the dispatch class of every hook stands in every language", async () => {
  for (const spec of (await ownHookspec()).kinds) {
    const [typeScript, python, go] = [emitTypeScript(spec), emitPython(spec), emitGo(spec)];
    const { methods } = JSON.parse(emitOpenRpc(spec)) as { methods: Record<string, string>[] };
    for (const { name, dispatch } of spec.hooks) {
      const pascal = name.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
      const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1);
      assert.match(typeScript, new RegExp(`\\n  ${camel}\\(.*; // ${dispatch}\\n`), name);
      assert.match(python, new RegExp(`def ${name}\\(.*\\).*: {2}# ${dispatch}\\n`), name);
      assert.match(go, new RegExp(`// ${pascal} \\(${dispatch}\\): `), name);
      for (const method of methods) if (method["x-hook"] === name) assert.equal(method["x-dispatch"], dispatch);
    }
  }
});

test("D-004 hooks are camelCase in TypeScript, snake_case in Python and PascalCase in Go", async () => {
  const tool = (await ownHookspec()).kinds.find(({ kind }) => kind === "tool")!;
  assert.match(
    emitTypeScript(tool),
    /export interface ToolPlugin \{[^]*\n {2}getSchema\(\): GetSchemaOutput \|[^]*\n {2}execute\(input: ExecuteInput\)/,
  );
  assert.match(
    emitPython(tool),
    /class ToolPlugin\(Protocol\):[^]*\n {4}def get_schema\(self\) -> GetSchemaOutput:[^]*\n {4}def execute\(self, input: ExecuteInput\)/,
  );
  assert.match(
    emitGo(tool),
    /type ToolPlugin interface \{[^]*\n\tGetSchema\(\) \(GetSchemaOutput, error\)[^]*\n\tExecute\(input ExecuteInput\)/,
  );
});
