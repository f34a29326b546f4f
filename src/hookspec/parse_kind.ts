/**
 * One file `kinds/<kind>/v<N>.yaml`: a kind, its version and its hooks.
 *
 * @module
 */
import { isMap } from "../core/values/plain_data.ts";
import { isSemanticVersion } from "../core/values/semantic_version.ts";
import { shown } from "../core/values/shown_value.ts";
import { isReservedHook, isReservedKind, pascalCase, SNAKE_CASE } from "./names.ts";
import type { SchemaReader } from "./schema_reader.ts";
import { FieldReader, isBoolean, isMilliseconds, isText, oneLine, type SpecDocument } from "./spec_document.ts";
import { DISPATCH_CLASSES, EXECUTION_MODELS, type HookSpec, type KindSpec, MCP_TOOL_NAME_TEMPLATE } from "./types.ts";

const KIND_KEYS: readonly string[] = [
  "kind",
  "kind_api_version",
  "description",
  "wire_method_template",
  "plugin_timeout_ms",
  "hooks",
];
const HOOK_KEYS: readonly string[] = [
  "name",
  "dispatch",
  "description",
  "input_schema",
  "output_schema",
  "mcp_exposed",
  "mcp_tool_name_template",
  "execution_model",
  "portable_name",
  "aliases",
  "scope",
  "default_timeout_ms",
];
const FILE_NAME = /^v(0|[1-9][0-9]{0,5})\.yaml$/;
const WIRE_METHOD = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*\.\{hook\}$/;
/** A name on another platform: letters and digits, in any case. */
const FOREIGN_NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const TIME = "a whole number of milliseconds up to an hour";

/** Returns the kind a file describes, or null when it has no name; what is wrong goes to the files' reports. */
export function parseKind(document: SpecDocument, folder: string, schemas: SchemaReader): KindSpec | null {
  const { path, data, report } = document;
  const fields = new FieldReader(data, [], report, KIND_KEYS);
  const kind = fields.required("kind", "a text", isText);
  if (kind !== undefined && !SNAKE_CASE.test(kind)) {
    fields.error("hookspec.invalid_name", "kind", `Kind ${shown(kind)} is not snake_case`);
  } else if (kind !== undefined && isReservedKind(kind)) {
    fields.error("hookspec.reserved_name", "kind", `No kind may be called "${kind}"`);
  } else if (kind !== undefined && kind !== folder) {
    fields.error("hookspec.kind_misplaced", "kind", `Kind "${kind}" stands in the folder ${shown(folder)}`);
  }
  const { version, major } = versionIn(fields, path);
  const template = fields.optional("wire_method_template", "a text", isText);
  if (template !== undefined && !WIRE_METHOD.test(template)) {
    const hint = "Write words in lower case between dots and end with {hook}, such as app.hook.{hook}";
    fields.error("hookspec.invalid_template", "wire_method_template", `${shown(template)} names no method`, hint);
  }
  const list = fields.required("hooks", "a list with a hook in it", isFullList) ?? [];
  const description = oneLine(fields.required("description", "a text", isText) ?? "");
  const pluginTimeoutMs = fields.optional("plugin_timeout_ms", TIME, isMilliseconds) ?? null;
  const reader = new HookReader(document, schemas);
  const hooks = list.map((item, index) => reader.read(item, index)).filter((hook) => hook !== null);
  if (kind === undefined) return null;
  const head = { kind, version, major, description, file: path };
  return { ...head, wireMethodTemplate: template ?? null, pluginTimeoutMs, hooks, types: schemas.types };
}

/** Reads the version, and holds it against the name of the file. */
function versionIn(fields: FieldReader, path: string): { version: string; major: number } {
  const name = path.split("/").at(-1)!;
  const major = Number(FILE_NAME.exec(name)?.[1] ?? NaN);
  const version = fields.required("kind_api_version", "a text such as 1.0.0", isText);
  if (version === undefined) return { version: "0.0.0", major };
  if (!isSemanticVersion(version)) {
    fields.error("hookspec.invalid_version", "kind_api_version", `${shown(version)} is not a SemVer version`);
  } else if (Number(version.split(".")[0]) !== major) {
    const message = `Version ${version} stands in ${shown(name)}`;
    fields.error("hookspec.version_misplaced", "kind_api_version", message, `Call the file v${parseInt(version)}.yaml`);
  }
  return { version, major };
}

const isFullList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

/** Reads the hooks of one kind. */
class HookReader {
  readonly #document: SpecDocument;
  readonly #schemas: SchemaReader;
  readonly #names = new Set<string>();
  readonly #foreign = new Map<string, string>();

  constructor(document: SpecDocument, schemas: SchemaReader) {
    this.#document = document;
    this.#schemas = schemas;
  }

  read(item: unknown, index: number): HookSpec | null {
    const fields = new FieldReader(item, ["hooks", index], this.#document.report, HOOK_KEYS);
    const name = this.#name(fields);
    const dispatch = fields.choice("dispatch", DISPATCH_CLASSES, "hookspec.unknown_dispatch");
    if (!fields.has("dispatch")) fields.required("dispatch", "a dispatch class", isText);
    const description = oneLine(fields.required("description", "a text", isText) ?? "");
    const input = this.#schema(fields, "input_schema");
    const output = this.#schema(fields, "output_schema");
    const portableName = this.#foreignName(fields, name);
    const known = {
      description,
      mcpToolNameTemplate: toolNameTemplate(fields),
      executionModel: fields.choice("execution_model", EXECUTION_MODELS) ?? null,
      portableName,
      aliases: this.#aliases(fields, name),
      scope: fields.choice("scope", ["primary", "any"]) ?? "any" as const,
      defaultTimeoutMs: fields.optional("default_timeout_ms", TIME, isMilliseconds) ?? null,
    };
    if (name === undefined || !dispatch || input === undefined || output === undefined) return null;
    return { name, dispatch, input, output, ...known };
  }

  #name(fields: FieldReader): string | undefined {
    const name = fields.required("name", "a text", isText);
    if (name === undefined) return undefined;
    if (!SNAKE_CASE.test(name)) fields.error("hookspec.invalid_name", "name", `Hook ${shown(name)} is not snake_case`);
    else if (isReservedHook(name)) fields.error("hookspec.reserved_name", "name", `"${name}" is a word of Python`);
    else if (this.#names.has(pascalCase(name))) {
      fields.error("hookspec.duplicate_hook", "name", `Hook "${name}" stands twice`);
    }
    this.#names.add(pascalCase(name));
    return name;
  }

  /** Returns the type of the schema a hook names; what it takes must be an object, as params are. */
  #schema(fields: FieldReader, key: "input_schema" | "output_schema"): string | undefined {
    const file = fields.required(key, "the path of a schema", isText);
    if (file === undefined) return undefined;
    const type = this.#schemas.fromFile(file, this.#document, [...fields.path, key]);
    const shape = type && this.#schemas.types.find(({ name }) => name === type)?.shape;
    if (shape && key === "input_schema" && shape.type !== "record") {
      const hint = 'Write "type": "object" with "properties"';
      fields.error("hookspec.invalid_schema", key, `${shown(file)} is not an object with known fields`, hint);
    }
    return type ?? undefined;
  }

  #foreignName(fields: FieldReader, hook: string | undefined): string | null {
    const name = fields.optional("portable_name", "a text", isText) ?? null;
    if (name !== null) this.#claim("portable", name, hook, [...fields.path, "portable_name"]);
    return name;
  }

  #aliases(fields: FieldReader, hook: string | undefined): Record<string, readonly string[]> {
    const aliases: Record<string, readonly string[]> = {};
    for (const [platform, names] of Object.entries(fields.optional("aliases", "a map", isMap) ?? {})) {
      const path = [...fields.path, "aliases", platform];
      const { report } = this.#document;
      if (!SNAKE_CASE.test(platform)) report.error("hookspec.invalid_name", path, { part: "key" });
      else if (!Array.isArray(names) || names.length === 0) {
        report.error("hookspec.wrong_type", path, { message: `Expected a list of names, got ${shown(names)}` });
      } else {
        names.forEach((name, index) => this.#claim(platform, name, hook, [...path, index]));
        aliases[platform] = names;
      }
    }
    return aliases;
  }

  #claim(platform: string, name: unknown, hook: string | undefined, path: readonly (string | number)[]): void {
    const { report } = this.#document;
    const holder = this.#foreign.get(`${platform} ${name}`);
    if (typeof name !== "string" || !FOREIGN_NAME.test(name)) {
      const hint = "Write letters and digits";
      report.error("hookspec.invalid_name", path, { message: `${shown(name)} is no name of a hook`, hint });
    } else if (holder !== undefined) {
      const message = `"${name}" of ${platform} is "${holder}" already`;
      report.error("hookspec.duplicate_alias", path, { message });
    } else this.#foreign.set(`${platform} ${name}`, hook ?? "another hook");
  }
}

/** Returns the template of a hook that is offered as an MCP tool, else null. */
function toolNameTemplate(fields: FieldReader): string | null {
  const isExposed = fields.required("mcp_exposed", "true or false", isBoolean);
  const template = fields.optional("mcp_tool_name_template", "a text", isText) ?? MCP_TOOL_NAME_TEMPLATE;
  if (template !== MCP_TOOL_NAME_TEMPLATE) {
    const message = `${shown(template)} is not how MCP tools are named`;
    fields.error("hookspec.invalid_template", "mcp_tool_name_template", message, `Write "${MCP_TOOL_NAME_TEMPLATE}"`);
  }
  return isExposed === true ? template : null;
}
