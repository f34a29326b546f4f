/**
 * A kind as a Python module: a pydantic model for each record and a Protocol for the plugin, in the part of pydantic
 * that versions 1 and 2 share.
 *
 * @module
 */
import { pluginTypeName } from "../names.ts";
import type { HookSpec, KindSpec, NamedType, SpecField, SpecType } from "../types.ts";
import { boundsInWords, generatedHead, takesNothing, type TypeWriter, wrapped, writeType } from "./text.ts";

const WIDTH = 100;

/** Returns the module of a kind. */
export function emitPython(spec: KindSpec): string {
  return `# ${generatedHead(spec)}
${docString(spec.description, "")}

from typing import Any, Dict, List, Literal, Optional, Protocol, Union, runtime_checkable

from pydantic import BaseModel, Field

KIND = ${text(spec.kind)}
KIND_API_VERSION = ${text(spec.version)}

# Dispatch class, wire method and MCP tool of each hook.
HOOKS: Dict[str, Dict[str, Any]] = {
${spec.hooks.map(metadata).join("\n")}
}

${spec.types.map(namedType).join("\n")}

@runtime_checkable
class ${pluginTypeName(spec.kind)}(Protocol):
${docString(`The hooks that a plugin of the kind ${spec.kind} offers.`, "    ")}

${spec.hooks.map((hook) => method(hook, spec)).join("\n")}`;
}

function metadata({ name, dispatch, wireMethod, mcpToolName }: HookSpec): string {
  const [wire, tool] = [wireMethod, mcpToolName].map(text);
  return `    ${text(name)}: {"dispatch": ${text(dispatch)}, "wire_method": ${wire}, "mcp_tool_name": ${tool}},`;
}

function namedType({ name, description, shape }: NamedType): string {
  if (shape.type !== "record") {
    const about = description === "" ? "" : comment(description, "");
    return `\n${about}${name} = ${type(shape)}\n`;
  }
  // Keyword arguments of a class set the configuration in both versions; a class Config is deprecated in one.
  const fields = shape.fields.map(field).join("");
  const about = description === "" ? "" : `${docString(description, "    ")}\n`;
  const body = `${about}${about !== "" && fields !== "" ? "\n" : ""}${fields}`;
  return `\nclass ${name}(BaseModel, extra="${shape.isOpen ? "allow" : "forbid"}"):\n${body || "    pass\n"}`;
}

function field({ name, description, isRequired, type: inner }: SpecField): string {
  const words = unchecked(inner);
  const about = `${description}${words === "" ? "" : ` (${words})`}`.trim();
  const note = about === "" ? "" : comment(about, "    ");
  const declared = isRequired ? type(inner) : optional(inner);
  return `${note}    ${name}: ${declared} = Field(${[isRequired ? "..." : "None", ...limits(inner)].join(", ")})\n`;
}

/** Limits that both versions know under one name, on a field that is nothing but such a value. */
function limits(spec: SpecType): string[] {
  const known: Record<string, number | undefined> = spec.type === "integer" || spec.type === "number"
    ? { ge: spec.minimum, le: spec.maximum }
    : spec.type === "string" && !spec.values
    ? { min_length: spec.minLength, max_length: spec.maxLength }
    : {};
  return Object.entries(known).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${value}`]);
}

/** Returns the bounds that the model does not check, in words. */
function unchecked(spec: SpecType): string {
  return spec.type === "list" ? boundsInWords(spec) : "";
}

function method(hook: HookSpec, spec: KindSpec): string {
  const { name, description, dispatch, input, output } = hook;
  return `    def ${name}(self${takesNothing(hook, spec) ? "" : `, input: ${input}`}) -> ${output}:  # ${dispatch}
${docString(description, "        ")}
        ...
`;
}

const WRITER: TypeWriter = {
  plain: { any: "Any", null: "None", boolean: "bool", string: "str", integer: "int", number: "float" },
  choice: (values) => `Literal[${values.map(text).join(", ")}]`,
  list: (item) => `List[${type(item)}]`,
  map: (value) => `Dict[str, ${type(value)}]`,
  union: (options) => `Union[${options.map(type).join(", ")}]`,
};

function type(spec: SpecType): string {
  return writeType(spec, WRITER);
}

function optional(spec: SpecType): string {
  return spec.type === "any" ? "Any" : `Optional[${type(spec)}]`;
}

function docString(about: string, indent: string): string {
  const safe = about.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  const single = `${indent}"""${safe}"""`;
  if (single.length <= WIDTH) return single;
  const [first = "", ...rest] = wrapped(safe, WIDTH - indent.length - 3);
  return [`${indent}"""${first}`, ...rest.map((line) => `${indent}${line}`), `${indent}"""`].join("\n");
}

function comment(about: string, indent: string): string {
  return wrapped(about, WIDTH - indent.length - 2).map((line) => `${indent}# ${line}\n`).join("");
}

/** JSON text is Python text, too. */
function text(value: string | null): string {
  return value === null ? "None" : JSON.stringify(value);
}
