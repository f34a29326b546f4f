/**
 * A kind as a Go package: a struct for each record and an interface for the plugin, as gofmt writes them.
 *
 * @module
 */
import { pascalCase, pluginTypeName } from "../names.ts";
import type { HookSpec, KindSpec, NamedType, SpecField, SpecType } from "../types.ts";
import { generatedHead, notesInWords, takesNothing, type TypeWriter, wrapped, writeType } from "./text.ts";

const WIDTH = 100;

/** Returns the package of a kind: one file. */
export function emitGo(spec: KindSpec): string {
  return `// Code ${generatedHead(spec).replace("Generated", "generated").replace("do not edit", "DO NOT EDIT")}

${comment(spec.description, "")}package ${spec.kind.replaceAll("_", "")}

// Kind is the name of this kind.
const Kind = ${text(spec.kind)}

// KindAPIVersion is its version.
const KindAPIVersion = ${text(spec.version)}

// HookMetadata holds facts about one hook that hold before anything is called.
type HookMetadata struct {
	// Name is the canonical name.
	Name string
	// Dispatch is how it is dispatched.
	Dispatch string
	// WireMethod calls it on the wire; empty when it never leaves the process.
	WireMethod string
	// MCPToolName names its MCP tool, with {plugin} in it; empty when it is not offered as one.
	MCPToolName string
}

// Hooks holds every hook, in the order of the file.
var Hooks = []HookMetadata{
${spec.hooks.map(metadata).join("\n")}
}

${spec.types.map(namedType).join("\n")}
${plugin(spec)}`;
}

function metadata({ name, dispatch, wireMethod, mcpToolName }: HookSpec): string {
  const [wire, tool] = [wireMethod ?? "", mcpToolName ?? ""].map(text);
  return `\t{Name: ${text(name)}, Dispatch: ${text(dispatch)}, WireMethod: ${wire}, MCPToolName: ${tool}},`;
}

function namedType({ name, description, shape }: NamedType): string {
  const notes = shape.type === "record" ? "" : notesInWords({ type: shape }, { bounds: false });
  const about = comment(`${name}: ${description === "" ? "see its fields." : description}${notes}`, "");
  if (shape.type !== "record") return `${about}${union(shape, "")}type ${name} = ${type(shape)}\n`;
  if (shape.fields.length === 0) return `${about}type ${name} struct{}\n`;
  return `${about}type ${name} struct {\n${shape.fields.map(field).join("")}}\n`;
}

/** A comment stands before each field, so that gofmt lines nothing up across fields. */
function field({ name, description, isRequired, type: inner, default: absent }: SpecField): string {
  const notes = notesInWords({ type: inner, default: absent }, { bounds: true });
  const about = `${description === "" ? "see its type." : description}${notes}`;
  const note = comment(`${pascalCase(name)}: ${about}`, "\t");
  const tag = `\`json:"${name}${isRequired ? "" : ",omitempty"}"\``;
  return `${note}${union(inner, "\t")}\t${pascalCase(name)} ${isRequired ? type(inner) : optional(inner)} ${tag}\n`;
}

/** Says what an \`any\` that stands for several types, or a string that stands for a choice, may be. */
function union(spec: SpecType, indent: string): string {
  const isChoice = spec.type === "string" && spec.values !== undefined;
  if (!isChoice && (spec.type !== "union" || type(spec) !== "any")) return "";
  return comment(`One of: ${alternatives(spec).join(", ")}.`, indent);
}

function alternatives(spec: SpecType): string[] {
  if (spec.type === "union") return spec.options.flatMap(alternatives);
  return spec.type === "string" && spec.values ? spec.values.map(text) : [spec.type === "null" ? "null" : type(spec)];
}

const WRITER: TypeWriter = {
  plain: { any: "any", null: "any", boolean: "bool", string: "string", integer: "int", number: "float64" },
  list: (item) => `[]${type(item)}`,
  map: (value) => `map[string]${type(value)}`,
  union(options) {
    const [only, ...others] = options.filter((option) => option.type !== "null");
    return only !== undefined && others.length === 0 ? optional(only) : "any";
  },
};

function type(spec: SpecType): string {
  return writeType(spec, WRITER);
}

/** A type that can also be absent: what Go has a nil for stays as it is. */
function optional(spec: SpecType): string {
  const plain = type(spec);
  return /^(?:any$|\[|map\[|\*)/.test(plain) ? plain : `*${plain}`;
}

function plugin(spec: KindSpec): string {
  const { kind } = spec;
  const methods = spec.hooks.map((hook) => {
    const { name, description, dispatch, input, output } = hook;
    const note = comment(`${pascalCase(name)} (${dispatch}): ${description}`, "\t");
    return `${note}\t${pascalCase(name)}(${takesNothing(hook, spec) ? "" : `input ${input}`}) (${output}, error)\n`;
  });
  return `// ${pluginTypeName(kind)} has the hooks that a plugin of the kind ${kind} offers.
type ${pluginTypeName(kind)} interface {
${methods.join("")}}
`;
}

function comment(about: string, indent: string): string {
  return wrapped(about, WIDTH - 3).map((line) => `${indent}// ${line}\n`).join("");
}

/** JSON text is Go text, too. */
function text(value: string): string {
  return JSON.stringify(value);
}
