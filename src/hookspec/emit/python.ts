/**
 * A kind as a Python module: a pydantic model for each record and a Protocol for the plugin, in the part of pydantic
 * that versions 1 and 2 share. Models convert nothing: 5 is no text, 5.7 no integer and True no number.
 *
 * @module
 */
import { pluginTypeName } from "../names.ts";
import type { HookSpec, KindSpec, NamedType, SpecField, SpecType } from "../types.ts";
import { defaultArgument, limitedName, limitedTypes } from "./python_values.ts";
import { generatedHead, notesInWords, takesNothing, type TypeWriter, wrapped, writeType } from "./text.ts";

const WIDTH = 100;

/** Returns the module of a kind. */
export function emitPython(spec: KindSpec): string {
  return `# ${generatedHead(spec)}
${docString(spec.description, "")}

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Protocol, Union, runtime_checkable

from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, StrictStr
from pydantic import confloat, conint, constr

KIND = ${text(spec.kind)}
KIND_API_VERSION = ${text(spec.version)}

# Dispatch class, wire method and MCP tool of each hook.
HOOKS: Dict[str, Dict[str, Any]] = {
${spec.hooks.map(metadata).join("\n")}
}
${limitedTypes(spec)}
${spec.types.map((one) => namedType(one, spec.types)).join("\n")}

@runtime_checkable
class ${pluginTypeName(spec.kind)}(Protocol):
${docString(`The hooks that a plugin of the kind ${spec.kind} offers.`, "    ")}

${spec.hooks.map((hook) => method(hook, spec)).join("\n")}`;
}

function metadata({ name, dispatch, wireMethod, mcpToolName }: HookSpec): string {
  const [wire, tool] = [wireMethod, mcpToolName].map(text);
  return `    ${text(name)}: {"dispatch": ${text(dispatch)}, "wire_method": ${wire}, "mcp_tool_name": ${tool}},`;
}

function namedType({ name, description, shape }: NamedType, types: readonly NamedType[]): string {
  if (shape.type !== "record") {
    const words = `${description}${notesInWords({ type: shape }, { bounds: false })}`.trim();
    const about = words === "" ? "" : comment(words, "");
    return `\n${about}${name} = ${type(shape)}\n`;
  }
  // Keyword arguments of a class set the configuration in both versions; a class Config is deprecated in one.
  const fields = shape.fields.map((one) => field(one, types)).join("");
  const about = description === "" ? "" : `${docString(description, "    ")}\n`;
  const body = `${about}${about !== "" && fields !== "" ? "\n" : ""}${fields}`;
  return `\nclass ${name}(BaseModel, extra="${shape.isOpen ? "allow" : "forbid"}"):\n${body || "    pass\n"}`;
}

function field(
  { name, description, isRequired, type: inner, default: absent }: SpecField,
  types: readonly NamedType[],
): string {
  // Models fill in the default of an optional field, and bound everything but lists.
  const words = notesInWords({ type: inner, ...(isRequired && { default: absent }) }, {
    bounds: inner.type === "list",
  });
  const about = `${description}${words}`.trim();
  const note = about === "" ? "" : comment(about, "    ");
  const declared = isRequired || absent !== undefined ? type(inner) : optional(inner);
  return `${note}    ${name}: ${declared} = Field(${isRequired ? "..." : defaultArgument(absent, inner, types)})\n`;
}

function method(hook: HookSpec, spec: KindSpec): string {
  const { name, description, dispatch, input, output } = hook;
  return `    def ${name}(self${takesNothing(hook, spec) ? "" : `, input: ${input}`}) -> ${output}:  # ${dispatch}
${docString(description, "        ")}
        ...
`;
}

const WRITER: TypeWriter = {
  plain: {
    any: "Any",
    null: "None",
    boolean: "StrictBool",
    string: "StrictStr",
    integer: "StrictInt",
    // Pydantic 1 takes no integer for a strict float, though every integer is a number.
    number: "Union[StrictInt, StrictFloat]",
  },
  choice: (values) => `Literal[${values.map(text).join(", ")}]`,
  list: (item) => `List[${type(item)}]`,
  map: (value) => `Dict[str, ${type(value)}]`,
  union: (options) => `Union[${options.map(type).join(", ")}]`,
};

function type(spec: SpecType): string {
  return limitedName(spec) ?? writeType(spec, WRITER);
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
