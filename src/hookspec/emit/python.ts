/**
 * A kind as a Python module: a pydantic model for each record and a Protocol for the plugin, in the part of pydantic
 * that versions 1 and 2 share.
 *
 * @module
 */
import { pluginTypeName } from "../names.ts";
import type { HookSpec, KindSpec, NamedType, SpecField, SpecType } from "../types.ts";
import { boundsInWords, generatedHead, wrapped } from "./text.ts";

const WIDTH = 100;

/** Returns the module of a kind. */
export function emitPython(spec: KindSpec): string {
  return `# ${generatedHead(spec)}
${docString(spec.description, "")}

from typing import Any, Dict, List, Literal, Optional, Protocol, Union, runtime_checkable

from pydantic import BaseModel, Field

KIND = ${text(spec.kind)}
KIND_API_VERSION = ${text(spec.version)}

# How each hook is dispatched, what it is called on the wire, and what its MCP tool is called.
HOOKS: Dict[str, Dict[str, Any]] = {
${spec.hooks.map((hook) => metadata(hook, spec)).join("\n")}
}

${spec.types.map(namedType).join("\n")}

@runtime_checkable
class ${pluginTypeName(spec.kind)}(Protocol):
${docString(`What a plugin of the kind ${spec.kind} offers.`, "    ")}

${spec.hooks.map((hook) => method(hook, spec)).join("\n")}`;
}

function metadata({ name, dispatch, mcpToolNameTemplate }: HookSpec, { kind, wireMethodTemplate }: KindSpec): string {
  const wire = wireMethodTemplate?.replace("{hook}", name) ?? null;
  const tool = mcpToolNameTemplate?.replace("{kind}", kind).replace("{hook}", name) ?? null;
  return `    ${text(name)}: {"dispatch": ${text(dispatch)}, "wire_method": ${text(wire)}, "mcp_tool_name": ${
    text(tool)
  }},`;
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

/** What the model does not check, in words. */
function unchecked(spec: SpecType): string {
  return spec.type === "list" ? boundsInWords(spec) : "";
}

function method({ name, description, dispatch, input, output }: HookSpec, { types }: KindSpec): string {
  const shape = types.find((type) => type.name === input)!.shape;
  const takesNothing = shape.type === "record" && shape.fields.length === 0;
  return `    def ${name}(self${takesNothing ? "" : `, input: ${input}`}) -> ${output}:  # ${dispatch}
${docString(description, "        ")}
        ...
`;
}

function type(spec: SpecType): string {
  switch (spec.type) {
    case "any":
      return "Any";
    case "null":
      return "None";
    case "boolean":
      return "bool";
    case "string":
      return spec.values ? `Literal[${spec.values.map(text).join(", ")}]` : "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "list":
      return `List[${type(spec.items)}]`;
    case "map":
      return `Dict[str, ${type(spec.values)}]`;
    case "union":
      return `Union[${spec.options.map(type).join(", ")}]`;
    case "named":
      return spec.name;
  }
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
