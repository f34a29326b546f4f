/**
 * One file `kinds/<kind>/v<N>.yaml`: a kind, its version and its hooks.
 *
 * @module
 */
import { Fields, FLAG, SOME_TEXT, type ValueType } from "../core/documents/fields.ts";
import type { DocumentPath } from "../core/documents/places.ts";
import { isSemanticVersion } from "../core/values/semantic_version.ts";
import { shown } from "../core/values/shown_value.ts";
import { isReservedHook, isReservedKind, pascalCase, SNAKE_CASE } from "./names.ts";
import type { SchemaReader } from "./schema_reader.ts";
import { MILLISECONDS, oneLine, type SpecDocument } from "./spec_document.ts";
import { DISPATCH_CLASSES, EXECUTION_MODELS, type HookSpec, type KindSpec, MCP_TOOL_NAME_TEMPLATE } from "./types.ts";

const FILE_NAME = /^v(0|[1-9][0-9]{0,5})\.yaml$/;
const WIRE_METHOD = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*\.\{hook\}$/;
/** A name on another platform: letters and digits, in any case. */
const FOREIGN_NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
/** The hooks of a kind: at least one. */
const HOOKS: ValueType<readonly unknown[]> = {
  name: "a list with a hook in it",
  fits: (value): value is unknown[] => Array.isArray(value) && value.length > 0,
};

/** Returns the kind a file describes, or null when it has no name; mistakes go to the files' reports. */
export function parseKind(document: SpecDocument, folder: string, schemas: SchemaReader): KindSpec | null {
  const { path, data, report } = document;
  const fields = new Fields(data, [], report);
  const kind = fields.require("kind", SOME_TEXT);
  if (kind !== undefined && !SNAKE_CASE.test(kind)) {
    fields.error("invalid_name", "kind", { message: `Kind ${shown(kind)} is not snake_case` });
  } else if (kind !== undefined && isReservedKind(kind)) {
    fields.error("reserved_name", "kind", { message: `No kind may be called "${kind}"` });
  } else if (kind !== undefined && kind !== folder) {
    fields.error("kind_misplaced", "kind", { message: `Kind "${kind}" stands in the folder ${shown(folder)}` });
  }
  const { version, major } = versionIn(fields, path);
  const template = fields.get("wire_method_template", SOME_TEXT);
  if (template !== undefined && !WIRE_METHOD.test(template)) {
    fields.error("invalid_template", "wire_method_template", {
      message: `${shown(template)} names no method`,
      hint: "Write words in lower case between dots and end with {hook}, such as app.hook.{hook}",
    });
  }
  const list = fields.require("hooks", HOOKS) ?? [];
  const description = oneLine(fields.require("description", SOME_TEXT) ?? "");
  const pluginTimeoutMs = fields.get("plugin_timeout_ms", MILLISECONDS) ?? null;
  fields.expectKeys();
  const reader = new HookReader(document, schemas, { kind: kind ?? "", template: template ?? null });
  const hooks = list.map((item, index) => reader.read(item, index)).filter((hook) => hook !== null);
  if (kind === undefined) return null;
  const head = { kind, version, major, description, file: path };
  return { ...head, wireMethodTemplate: template ?? null, pluginTimeoutMs, hooks, types: schemas.types };
}

/** Reads the version, and holds it against the name of the file. */
function versionIn(fields: Fields, path: string): { version: string; major: number } {
  const name = path.split("/").at(-1)!;
  const major = Number(FILE_NAME.exec(name)?.[1] ?? NaN);
  const version = fields.require("kind_api_version", SOME_TEXT);
  if (version === undefined) return { version: "0.0.0", major };
  if (!isSemanticVersion(version)) {
    fields.error("invalid_version", "kind_api_version", { message: `${shown(version)} is not a SemVer version` });
  } else if (Number(version.split(".")[0]) !== major) {
    fields.error("version_misplaced", "kind_api_version", {
      message: `Version ${version} stands in ${shown(name)}`,
      hint: `Call the file v${parseInt(version)}.yaml`,
    });
  }
  return { version, major };
}

/** Reads the hooks of one kind. */
class HookReader {
  readonly #document: SpecDocument;
  readonly #schemas: SchemaReader;
  readonly #kind: { readonly kind: string; readonly template: string | null };
  readonly #names = new Set<string>();
  readonly #foreign = new Map<string, string>();

  constructor(document: SpecDocument, schemas: SchemaReader, kind: { kind: string; template: string | null }) {
    this.#document = document;
    this.#schemas = schemas;
    this.#kind = kind;
  }

  read(item: unknown, index: number): HookSpec | null {
    const fields = new Fields(item, ["hooks", index], this.#document.report);
    const name = this.#name(fields);
    const dispatch = fields.choice("dispatch", DISPATCH_CLASSES, "unknown_dispatch");
    if (!fields.has("dispatch")) fields.require("dispatch", SOME_TEXT);
    const description = oneLine(fields.require("description", SOME_TEXT) ?? "");
    const input = this.#schema(fields, "input_schema");
    const output = this.#schema(fields, "output_schema");
    const portableName = fields.get("portable_name", SOME_TEXT) ?? null;
    if (portableName !== null) this.#claim("portable", portableName, name, fields.at("portable_name"));
    const isExposed = isMcpTool(fields);
    const known = {
      description,
      executionModel: fields.choice("execution_model", EXECUTION_MODELS) ?? null,
      portableName,
      aliases: this.#aliases(fields.fields("aliases"), name),
      scope: fields.choice("scope", ["primary", "any"]) ?? "any" as const,
      defaultTimeoutMs: fields.get("default_timeout_ms", MILLISECONDS) ?? null,
    };
    fields.expectKeys();
    if (name === undefined || !dispatch || input === undefined || output === undefined) return null;
    const { kind, template } = this.#kind;
    const wireMethod = template?.replace("{hook}", name) ?? null;
    const mcpToolName = isExposed ? MCP_TOOL_NAME_TEMPLATE.replace("{kind}", kind).replace("{hook}", name) : null;
    return { name, dispatch, input, output, wireMethod, mcpToolName, ...known };
  }

  #name(fields: Fields): string | undefined {
    const name = fields.require("name", SOME_TEXT);
    if (name === undefined) return undefined;
    const refuse = (reason: string, message: string): void => fields.error(reason, "name", { message });
    if (!SNAKE_CASE.test(name)) refuse("invalid_name", `Hook ${shown(name)} is not snake_case`);
    else if (isReservedHook(name)) refuse("reserved_name", `"${name}" is a word of Python`);
    else if (this.#names.has(pascalCase(name))) refuse("duplicate_hook", `Hook "${name}" stands twice`);
    this.#names.add(pascalCase(name));
    return name;
  }

  /** Returns the type of the schema a hook names; the input must be an object, as params are. */
  #schema(fields: Fields, key: "input_schema" | "output_schema"): string | undefined {
    const file = fields.require(key, SOME_TEXT);
    if (file === undefined) return undefined;
    const type = this.#schemas.fromFile(file, this.#document, fields.at(key));
    const shape = type && this.#schemas.types.find(({ name }) => name === type)?.shape;
    if (shape && key === "input_schema" && shape.type !== "record") {
      fields.error("invalid_schema", key, {
        message: `${shown(file)} is not an object with known fields`,
        hint: 'Write "type": "object" with "properties"',
      });
    }
    return type ?? undefined;
  }

  #aliases(platforms: Fields, hook: string | undefined): Record<string, readonly string[]> {
    const aliases: Record<string, readonly string[]> = {};
    for (const [platform, names] of Object.entries(platforms.data)) {
      if (!SNAKE_CASE.test(platform)) platforms.error("invalid_name", platform, { part: "key" });
      else if (!Array.isArray(names) || names.length === 0) {
        platforms.error("wrong_type", platform, { message: `Expected a list of names, got ${shown(names)}` });
      } else {
        names.forEach((name, index) => this.#claim(platform, name, hook, [...platforms.at(platform), index]));
        aliases[platform] = names;
      }
    }
    return aliases;
  }

  /** Notes that a name on a platform means this hook; a name that means another already is an error. */
  #claim(platform: string, name: unknown, hook: string | undefined, path: DocumentPath): void {
    const { report } = this.#document;
    const holder = this.#foreign.get(`${platform} ${name}`);
    if (typeof name !== "string" || !FOREIGN_NAME.test(name)) {
      const hint = "Write letters and digits";
      report.error("hookspec.invalid_name", path, { message: `${shown(name)} is no name of a hook`, hint });
    } else if (holder !== undefined) {
      report.error("hookspec.duplicate_alias", path, { message: `"${name}" of ${platform} is "${holder}" already` });
    } else this.#foreign.set(`${platform} ${name}`, hook ?? "another hook");
  }
}

/** Whether a hook is offered as an MCP tool; there is one template for the names of such tools. */
function isMcpTool(fields: Fields): boolean {
  const template = fields.get("mcp_tool_name_template", SOME_TEXT) ?? MCP_TOOL_NAME_TEMPLATE;
  if (template !== MCP_TOOL_NAME_TEMPLATE) {
    fields.error("invalid_template", "mcp_tool_name_template", {
      message: `${shown(template)} is not how MCP tools are named`,
      hint: `Write "${MCP_TOOL_NAME_TEMPLATE}"`,
    });
  }
  return fields.require("mcp_exposed", FLAG) ?? false;
}
