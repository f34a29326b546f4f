/**
 * Reads kinds of one's own from their hookspecs, and makes the contract of each hook.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { METHOD_NAME } from "../../core/manifest/schema.ts";
import type { Files } from "../../core/ports/ports.ts";
import { compileSchema } from "../../core/schema/compile_schema.ts";
import type { JsonSchema } from "../../core/schema/json_schema.ts";
import { namedSchema } from "../../hookspec/emit/json_schema.ts";
import { readHookspec } from "../../hookspec/read_hookspec.ts";
import type { HookSpec, KindSpec, NamedType, RecordShape, SpecType } from "../../hookspec/types.ts";
import type { PayloadSchema } from "../dispatch/types.ts";
import type { Kind, KindHook } from "./types.ts";

/** Kinds of the host itself. */
const HOST_KINDS: readonly string[] = ["agent_lifecycle", "orchestrator", "tool"];

const DEFINITIONS = "#/$defs/";

/**
 * Reads the kinds of hookspecs, each of them a folder.
 *
 * @throws {HostError} `hookspec.*` when a hookspec cannot be used; `hookspec.kind_taken` for a kind that the host or
 * another hookspec has, and for a method of two kinds; `hookspec.reserved_method` for one of the plugin protocol.
 */
export async function readKinds(dirs: readonly string[], files: Files): Promise<Kind[]> {
  const kinds: (Kind & { readonly major: number })[] = [];
  const origins = new Map<string, string>();
  const owners = new Map<string, string>();
  for (const dir of dirs) {
    for (const spec of (await readHookspec(dir, files)).kinds) {
      const place = `${dir}/${spec.file}`;
      const origin = HOST_KINDS.includes(spec.kind) ? "the host itself" : origins.get(`${spec.kind} ${spec.major}`);
      if (origin !== undefined) {
        throw taken(place, `Kind "${spec.kind}" is described by ${origin} already`, "Give the kind another name");
      }
      origins.set(`${spec.kind} ${spec.major}`, place);
      const kind = await kindOf(spec);
      for (const { wireMethod } of kind.hooks) {
        if (wireMethod !== null) checkMethod(wireMethod, kind.kind, place, owners);
      }
      kinds.push({ ...kind, major: spec.major });
    }
  }
  return kinds.sort((a, b) => a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.major - b.major)
    .map(({ major: _, ...kind }) => kind);
}

/** A method means one hook of one kind: a plugin could not tell two apart. */
function checkMethod(method: string, kind: string, place: string, owners: Map<string, string>): void {
  if (!METHOD_NAME.test(method)) {
    throw new HostError("hookspec.reserved_method", `No plugin may have the method "${method}" (${place})`, {
      data: { method, kind, file: place },
      hint: "Write a wire_method_template of two to four words that begins with neither kaged nor system",
    });
  }
  const owner = owners.get(method) ?? kind;
  owners.set(method, owner);
  if (owner === kind) return;
  const message = `Method "${method}" belongs to the kind "${owner}" already`;
  throw taken(place, message, "Write another wire_method_template, with the name of the kind in it");
}

function taken(file: string, message: string, hint: string): HostError {
  return new HostError("hookspec.kind_taken", `${message} (${file})`, { data: { file }, hint });
}

async function kindOf(spec: KindSpec): Promise<Kind> {
  const { kind, version, description } = spec;
  return { kind, version, description, hooks: await Promise.all(spec.hooks.map((hook) => hookOf(hook, spec))) };
}

async function hookOf(hook: HookSpec, { kind, types, pluginTimeoutMs }: KindSpec): Promise<KindHook> {
  const { name, dispatch, description, mcpToolName } = hook;
  const [inputSchema, outputSchema] = [schemaOf(hook.input, types), schemaOf(hook.output, types)];
  return {
    name,
    dispatch,
    description,
    mcpToolName,
    // An exposed hook leaves the host, whether or not its kind says under which name.
    wireMethod: hook.wireMethod ?? (mcpToolName === null ? null : `${kind}.${name}`),
    inputSchema,
    outputSchema,
    input: await payloadSchema(inputSchema),
    output: await payloadSchema(outputSchema),
    timeoutMs: hook.defaultTimeoutMs ?? pluginTimeoutMs,
  };
}

/** Returns the JSON Schema of a named type, with the types that it is made of below `$defs`. */
function schemaOf(name: string, types: readonly NamedType[]): JsonSchema {
  const byName = new Map(types.map((type) => [type.name, type]));
  const used = new Set<string>();
  const collect = (shape: RecordShape | SpecType): void => {
    if (shape.type === "record") shape.fields.forEach(({ type }) => collect(type));
    else if (shape.type === "list") collect(shape.items);
    else if (shape.type === "map") collect(shape.values);
    else if (shape.type === "union") shape.options.forEach(collect);
    else if (shape.type === "named" && !used.has(shape.name)) {
      used.add(shape.name);
      collect(byName.get(shape.name)!.shape);
    }
  };
  collect(byName.get(name)!.shape);
  const definitions = [...used].map((one) => [one, namedSchema(byName.get(one)!, DEFINITIONS)] as const);
  return {
    ...namedSchema(byName.get(name)!, DEFINITIONS),
    ...(definitions.length > 0 && { $defs: Object.fromEntries(definitions) }),
  };
}

async function payloadSchema(schema: JsonSchema): Promise<PayloadSchema> {
  const { issues } = await compileSchema(schema);
  return {
    "~standard": {
      validate: (value) => ({
        issues: issues(value).map(({ path, message }) => ({ message, path: path === "" ? [] : [path] })),
      }),
    },
  };
}
