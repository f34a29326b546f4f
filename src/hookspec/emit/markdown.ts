/**
 * A kind as a page for people.
 *
 * @module
 */
import type { HookSpec, KindSpec, NamedType, SpecType } from "../types.ts";
import { boundsInWords, generatedHead, JSON_TYPES, type TypeWriter, writeType } from "./text.ts";

/** Returns the page of a kind. */
export function emitMarkdown(spec: KindSpec): string {
  const timeout = spec.pluginTimeoutMs === null
    ? ""
    : `\nA plugin gets ${spec.pluginTimeoutMs} ms for a hook, unless its manifest says otherwise.\n`;
  const rows = spec.hooks.map(({ name, dispatch, description }) => {
    return `| [\`${name}\`](#${name}) | \`${dispatch}\` | ${cell(description)} |`;
  });
  return `<!-- ${generatedHead(spec)} -->

# Kind \`${spec.kind}\`, version ${spec.version}

${plain(spec.description)}
${timeout}
| hook | dispatch | |
| --- | --- | --- |
${rows.join("\n")}

${spec.hooks.map(section).join("\n")}
## Types

${spec.types.map(typeSection).join("\n")}`;
}

function section(hook: HookSpec): string {
  const { wireMethod: wire, mcpToolName: tool } = hook;
  const facts: [string, string][] = [
    ["dispatch", code(hook.dispatch)],
    ["takes", link(hook.input)],
    ["gives", link(hook.output)],
  ];
  if (wire !== null) facts.push(["on the wire", code(wire)]);
  facts.push(["MCP tool", tool === null ? "none" : code(tool)]);
  if (hook.executionModel !== null) facts.push(["execution", code(hook.executionModel)]);
  if (hook.portableName !== null) facts.push(["portable name", code(hook.portableName)]);
  for (const [platform, names] of Object.entries(hook.aliases)) {
    facts.push([`on ${platform}`, names.map(code).join(", ")]);
  }
  if (wire !== null) facts.push(["fires for", hook.scope === "primary" ? "the primary agent" : "any agent"]);
  if (hook.defaultTimeoutMs !== null) facts.push(["default timeout", `${hook.defaultTimeoutMs} ms`]);
  return `## ${hook.name}

${plain(hook.description)}

| | |
| --- | --- |
${facts.map(([name, value]) => `| ${name} | ${value} |`).join("\n")}
`;
}

function typeSection({ name, description, shape }: NamedType): string {
  const head = `### ${name}\n\n${description === "" ? "" : `${plain(description)}\n\n`}`;
  if (shape.type !== "record") return `${head}${type(shape)}\n`;
  if (shape.fields.length === 0) return `${head}No fields of its own.${shape.isOpen ? "" : " No others."}\n`;
  const rows = shape.fields.map(({ name, type: inner, isRequired, description, default: absent }) => {
    const about = [cell(description), ...(absent === undefined ? [] : [`Default: ${code(JSON.stringify(absent))}`])];
    return `| \`${name}\` | ${type(inner)} | ${isRequired ? "yes" : "no"} | ${about.join(" ").trim()} |`;
  });
  return `${head}| field | type | required | |
| --- | --- | --- | --- |
${rows.join("\n")}
${shape.isOpen ? "" : "\nNo other fields.\n"}`;
}

/** A type in words that also fit into a cell of a table. */
function type(spec: SpecType): string {
  const format = "format" in spec && spec.format !== undefined ? `format ${plain(spec.format)}` : "";
  const words = [boundsInWords(spec), format].filter((word) => word !== "").join("; ");
  return `${writeType(spec, WRITER)}${words === "" ? "" : ` (${words})`}`;
}

const WRITER: TypeWriter = {
  plain: { ...JSON_TYPES, any: "anything" },
  choice: (values) => values.map((value) => code(JSON.stringify(value))).join(" or "),
  list: (item) => `list of ${type(item)}`,
  map: (value) => `object whose values are ${type(value)}`,
  union: (options) => options.map(type).join(" or "),
  named: link,
};

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

function code(value: string): string {
  return `\`${value.replaceAll("|", "\\|")}\``;
}

/** Text that cannot become markup. */
function plain(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replace(/[[\]]/g, "\\$&");
}

function cell(text: string): string {
  return plain(text).replaceAll("|", "\\|");
}
