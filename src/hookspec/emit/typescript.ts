/**
 * A kind as a TypeScript module: an interface and a valibot schema for each type, the plugin's interface, and what is
 * known of each hook. Everything exported has its type written out.
 *
 * @module
 */
import { camelCase, pluginTypeName } from "../names.ts";
import { DISPATCH_CLASSES, type HookSpec, type KindSpec, type NamedType, type SpecType } from "../types.ts";
import { generatedHead, JSON_TYPES, notesInWords, takesNothing, type TypeWriter, wrapped, writeType } from "./text.ts";

const WIDTH = 120;

/** Returns the module of a kind. */
export function emitTypeScript(spec: KindSpec): string {
  return [
    `// ${generatedHead(spec)}`,
    `${doc(`${spec.description}\n@module`)}\nimport * as v from "valibot";\n`,
    `${doc("Name of this kind.")}\nexport const KIND = ${text(spec.kind)};\n`,
    `${doc("Version of this kind.")}\nexport const KIND_API_VERSION = ${text(spec.version)};\n`,
    ...(spec.pluginTimeoutMs === null ? [] : [
      `${doc("Time a plugin gets for any of these hooks, unless its manifest says otherwise.")}\n` +
      `export const PLUGIN_TIMEOUT_MS = ${spec.pluginTimeoutMs};\n`,
    ]),
    METADATA,
    `${doc("Every hook of this kind, by its canonical name.")}\nexport type HookName =\n${
      spec.hooks.map(({ name }) => `  | ${text(name)}`).join("\n")
    };\n`,
    `${doc("Every hook, in the order of the file.")}\nexport const HOOKS: readonly HookMetadata[] = [\n${
      spec.hooks.map(metadata).join("\n")
    }\n];\n`,
    SCHEMA,
    ...spec.types.map(namedType),
    payloads(spec),
    plugin(spec),
  ].join("\n");
}

const METADATA = `/** How a hook is dispatched. The list is closed. */
export type DispatchClass = ${DISPATCH_CLASSES.map(text).join(" | ")};

/** Facts about one hook that hold before anything is called. */
export interface HookMetadata {
  readonly name: HookName;
  /** Name of its method in this language. */
  readonly method: string;
  /** When it fires or what it does. */
  readonly description: string;
  readonly dispatch: DispatchClass;
  /** Method it is called by on the wire, or null when it never leaves the process. */
  readonly wireMethod: string | null;
  /** Whether it is offered as an MCP tool. */
  readonly mcpExposed: boolean;
  /** Name of that tool, with {plugin} in it, or null. */
  readonly mcpToolName: string | null;
  /** How its work is done, or null when nothing is said. */
  readonly executionModel: "async" | "sync" | "thread_cpu_bound" | "process_cpu_bound" | null;
  /** Name in the portable hook model, or null. */
  readonly portableName: string | null;
  /** Names on other platforms; the first of each is the one to write. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Whether it fires for the primary agent alone. */
  readonly scope: "primary" | "any";
  /** Time a handler gets that says nothing else, or null when nothing is said. */
  readonly defaultTimeoutMs: number | null;
}
`;

const SCHEMA = `/** Checks a payload, in the words of Standard Schema (standardschema.dev). */
export interface PayloadSchema<T> {
  /** Standard Schema, version 1. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the mistakes in a value, or the value itself when it fits. */
    readonly validate: (value: unknown) => PayloadVerdict<T> | Promise<PayloadVerdict<T>>;
  };
}

/** The verdict of a {@link PayloadSchema} on a value. */
export type PayloadVerdict<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

// The library takes a list for a map.
const map: v.GenericSchema<Record<string, unknown>> = v.custom(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "Expected a map",
);
`;

function metadata(hook: HookSpec): string {
  const { name, dispatch, description, portableName, aliases, scope, wireMethod, mcpToolName } = hook;
  const platforms = Object.entries(aliases).map(([platform, names]) => `${platform}: [${names.map(text).join(", ")}]`);
  return `  {
    name: ${text(name)},
    method: ${text(camelCase(name))},
    description: ${text(description)},
    dispatch: ${text(dispatch)},
    wireMethod: ${text(wireMethod)},
    mcpExposed: ${mcpToolName !== null},
    mcpToolName: ${text(mcpToolName)},
    executionModel: ${text(hook.executionModel)},
    portableName: ${text(portableName)},
    aliases: {${platforms.length === 0 ? "" : ` ${platforms.join(", ")} `}},
    scope: ${text(scope)},
    defaultTimeoutMs: ${hook.defaultTimeoutMs},
  },`;
}

function namedType({ name, description, shape }: NamedType): string {
  const notes = shape.type === "record" ? "" : notesInWords({ type: shape }, { bounds: false });
  const about = doc(`${description === "" ? `The type ${name}.` : description}${notes}`);
  const check = `const ${schemaName(name)}: v.GenericSchema<unknown, ${name}> =`;
  if (shape.type !== "record") return `${about}\nexport type ${name} = ${type(shape)};\n\n${check} ${schema(shape)};\n`;
  const fields = shape.fields.map((field) => {
    const notes = notesInWords({ type: field.type }, { bounds: false });
    const absent = field.default === undefined ? "" : `\n@default ${JSON.stringify(field.default)}`;
    const description = field.description === "" ? `The field ${field.name}.` : field.description;
    const note = doc(`${description}${notes}${absent}`, "  ");
    return `${note}\n  readonly ${field.name}${field.isRequired ? "" : "?"}: ${type(field.type)};\n`;
  });
  const entries = shape.fields.map((field) => {
    const inner = schema(field.type);
    return `    ${field.name}: ${field.isRequired ? inner : `v.exactOptional(${inner})`},\n`;
  });
  const object = `${shape.isOpen ? "v.looseObject" : "v.strictObject"}({${
    entries.length === 0 ? "" : `\n${entries.join("")}  `
  }})`;
  // A type alias, not an interface, where there are no fields: an empty interface means something else.
  const declared = fields.length > 0
    ? `export interface ${name} {\n${fields.join("")}}`
    : `export type ${name} = Readonly<Record<string, ${shape.isOpen ? "unknown" : "never"}>>;`;
  return `${about}\n${declared}\n\n${check} v.pipe(\n  map,\n  ${object},\n);\n`;
}

/** Writes the payload types of each hook, and their schemas. */
function payloads({ hooks }: KindSpec): string {
  const types = hooks.map(({ name, input, output }) =>
    `  ${doc(`Of ${name}.`)}\n  readonly ${name}: { readonly input: ${input}; readonly output: ${output} };\n`
  );
  const schemas = hooks.map(({ name, input, output }) =>
    `  ${name}: { input: ${schemaName(input)}, output: ${schemaName(output)} },\n`
  );
  return `${doc("The input and the output of each hook.")}
export interface HookPayloads {
${types.join("")}}

${doc("The schemas of each hook's input and output.")}
export type HookSchemas = {
  readonly [Name in HookName]: {
    readonly input: PayloadSchema<HookPayloads[Name]["input"]>;
    readonly output: PayloadSchema<HookPayloads[Name]["output"]>;
  };
};

${doc("Checks the input and the output of each hook.")}
export const HOOK_SCHEMAS: HookSchemas = {
${schemas.join("")}};
`;
}

function plugin(spec: KindSpec): string {
  const { kind } = spec;
  const methods = spec.hooks.map((hook) => {
    const { name, description, dispatch, input, output } = hook;
    const call = `${camelCase(name)}(${takesNothing(hook, spec) ? "" : `input: ${input}`})`;
    return `${doc(description, "  ")}\n  ${call}: ${output} | Promise<${output}>; // ${dispatch}\n`;
  });
  return `${doc(`The hooks that a plugin of the kind ${kind} offers.`)}
export interface ${pluginTypeName(kind)} {
${methods.join("")}}
`;
}

const WRITER: TypeWriter = {
  plain: { ...JSON_TYPES, any: "unknown", integer: "number" },
  choice: (values) => values.map(text).join(" | "),
  list: (item) => `readonly ${grouped(item)}[]`,
  map: (value) => `Readonly<Record<string, ${type(value)}>>`,
  union: (options) => options.map(type).join(" | "),
};

function type(spec: SpecType): string {
  return writeType(spec, WRITER);
}

/** A type as it stands before `[]`. */
function grouped(spec: SpecType): string {
  const isPlain = spec.type !== "union" && spec.type !== "list" && !(spec.type === "string" && spec.values);
  return isPlain ? type(spec) : `(${type(spec)})`;
}

function schema(spec: SpecType): string {
  switch (spec.type) {
    case "any":
      return "v.unknown()";
    case "string":
      if (spec.values) return `v.picklist([${spec.values.map(text).join(", ")}])`;
      return piped("v.string()", [
        bound(spec.minLength, (least) => `v.check((value) => [...value].length >= ${least}, "Is too short")`),
        bound(spec.maxLength, (most) => `v.check((value) => [...value].length <= ${most}, "Is too long")`),
      ]);
    case "integer":
    case "number":
      return piped("v.number()", [
        spec.type === "integer" ? "v.integer()" : null,
        bound(spec.minimum, (least) => `v.minValue(${least})`),
        bound(spec.maximum, (most) => `v.maxValue(${most})`),
      ]);
    case "list":
      return piped(`v.array(${schema(spec.items)})`, [
        bound(spec.minItems, (least) => `v.minLength(${least})`),
        bound(spec.maxItems, (most) => `v.maxLength(${most})`),
      ]);
    case "map":
      return `v.pipe(map, v.record(v.string(), ${schema(spec.values)}))`;
    case "union":
      return `v.union([${spec.options.map(schema).join(", ")}])`;
    case "named":
      return schemaName(spec.name);
    default:
      return `v.${spec.type}()`;
  }
}

function bound(value: number | undefined, write: (value: number) => string): string | null {
  return value === undefined ? null : write(value);
}

function piped(first: string, actions: readonly (string | null)[]): string {
  const all = [first, ...actions.filter((action) => action !== null)];
  return all.length === 1 ? first : `v.pipe(${all.join(", ")})`;
}

function schemaName(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}Schema`;
}

/** A doc comment; each line of `about` becomes a paragraph. */
function doc(about: string, indent = ""): string {
  const paragraphs = about.replaceAll("*/", "*\\/").split("\n");
  const single = `${indent}/** ${paragraphs[0]} */`;
  if (paragraphs.length === 1 && single.length <= WIDTH) return single;
  const lines = paragraphs.flatMap((line, index) => [
    ...(index === 0 ? [] : [""]),
    ...wrapped(line, WIDTH - indent.length - 3),
  ]);
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`).join("")}${indent} */`;
}

function text(value: string | null): string {
  return JSON.stringify(value);
}
