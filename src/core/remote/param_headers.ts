/**
 * Arguments of tools that a server elsewhere wants repeated as fields of the request (`x-mcp-header`, revision
 * 2026-07-28): proxies on the way can then tell calls apart without reading them.
 *
 * @module
 */
import { isMap, mapOf } from "../values/plain_data.ts";

/** An argument, and the field that repeats it. */
interface Declaration {
  readonly path: readonly string[];
  readonly header: string;
}

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];
/** Deepest that a schema is looked into; the schemas themselves are bounded elsewhere. */
const MAX_DEPTH = 32;

/** The declarations of one server's tools. */
export class ParamHeaders {
  readonly #byTool = new Map<string, readonly Declaration[]>();

  /**
   * Takes a list of tools. Returns those that may be used, and why each of the others may not: a server must not have
   * the host send fields that a proxy would read in two ways.
   */
  learn(tools: readonly unknown[]): { readonly tools: readonly unknown[]; readonly faults: readonly string[] } {
    const faults: string[] = [];
    const usable = tools.filter((tool) => {
      if (!isMap(tool) || typeof tool.name !== "string") return true;
      const found = declarationsOf(tool.inputSchema);
      if (typeof found === "string") {
        faults.push(`Tool ${JSON.stringify(tool.name).slice(0, 100)} is left out: ${found}`);
      } else this.#byTool.set(tool.name, found);
      return typeof found !== "string";
    });
    return { tools: usable, faults };
  }

  /** Returns the fields of a call. */
  of(tool: unknown, args: unknown): Record<string, string> {
    const declared = typeof tool === "string" ? this.#byTool.get(tool) ?? [] : [];
    return Object.fromEntries(declared.flatMap(({ path, header }) => {
      const value = path.reduce<unknown>((node, key) => isMap(node) ? node[key] : undefined, args);
      const text = textOf(value);
      return text === null ? [] : [[`Mcp-Param-${header}`, encoded(text)]];
    }));
  }
}

/** Returns what a schema declares, or why its tool may not be used. */
function declarationsOf(schema: unknown): Declaration[] | string {
  const found: Declaration[] = [];
  const fault = visit(schema, [], found);
  if (fault !== null) return fault;
  const names = found.map(({ header }) => header.toLowerCase());
  return new Set(names).size === names.length ? found : `two arguments have one ${KEY}`;
}

/** Only a chain of `properties` leads to one argument; anywhere else the same field could stand for several. */
function visit(node: unknown, path: readonly string[] | null, found: Declaration[], depth = 0): string | null {
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(node)) return firstFault(node.map((one) => visit(one, null, found, depth + 1)));
  if (!isMap(node)) return null;
  if (Object.hasOwn(node, KEY)) {
    const header = node[KEY];
    if (path === null || path.length === 0) return `${KEY} stands where no single argument is`;
    if (typeof header !== "string" || !TOKEN.test(header)) return `${KEY} of ${path.join(".")} is no name of a field`;
    if (!TYPES.includes(node.type)) return `${KEY} stands at ${path.join(".")}, which is no text, integer or boolean`;
    found.push({ path, header });
  }
  const below = Object.entries(node).flatMap(([key, child]) => {
    if (key === "enum" || key === "const" || key === "default" || key === "examples" || key === KEY) return [];
    if (key !== "properties" || !isMap(child)) return [visit(child, null, found, depth + 1)];
    return Object.entries(mapOf(node, key)).map(([name, one]) =>
      visit(one, path === null ? null : [...path, name], found, depth + 1)
    );
  });
  return firstFault(below);
}

function firstFault(faults: readonly (string | null)[]): string | null {
  return faults.find((fault) => fault !== null) ?? null;
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : null;
}

/** A text that a field cannot hold as it is goes as Base64, marked as such. */
function encoded(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  if (isPlain) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}
