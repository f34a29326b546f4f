/**
 * The capability grammar: rights that a plugin may ask for, one string each.
 *
 * @module
 */
import { ERRORS, HostError, type HostErrorCode } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { shown } from "../values/shown_value.ts";
import { canonicalHost } from "./net_host.ts";

/** A capability, taken apart. */
export type Capability =
  | { readonly kind: "fs"; readonly access: "read" | "write"; readonly path: string }
  | { readonly kind: "exec"; readonly binary: string; readonly path: string }
  | { readonly kind: "net"; readonly scope: "none" | "all" }
  | { readonly kind: "net"; readonly scope: "host"; readonly host: string; readonly port: number | "*" }
  | { readonly kind: "storage"; readonly access: "read" | "write" };

/** Why a text is no capability. */
export interface CapabilityProblem {
  /** The rule that the text breaks: `capability.<reason>`. */
  readonly code: HostErrorCode;
  readonly message: string;
  readonly hint?: string;
}

/** A capability, or why it is none. */
export type CapabilityResult =
  | { readonly ok: true; readonly capability: Capability }
  | { readonly ok: false; readonly problem: CapabilityProblem };

const FORMS = ["read:fs:", "write:fs:", "exec:", "net:", "kaged:storage:read", "kaged:storage:write"] as const;
const BINARY = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,254}$/;
const PORT = /^[1-9][0-9]{0,4}$/;
/** Folders a path may be relative to, besides the root of the file system. */
const PATH_PREFIXES: readonly string[] = ["config:", "project:", "plugin:"];

const MAX_PATH_BYTES = 4096;
// Controls, line separators and direction marks: the path shown at consent must be the path that is granted.
// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const GLOB = /[*?[\]{}]/;

/**
 * Reads one capability. Besides the string it takes the maps that `- net: []` and `- net: ["host:port"]` become in
 * YAML, with at most one host; {@link capabilityEntries} splits longer ones. Paths and hosts come back canonical.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(parseCapability("net:API.example.com.:443"), {
 *   ok: true,
 *   capability: { kind: "net", scope: "host", host: "api.example.com", port: 443 },
 * });
 * ```
 */
export function parseCapability(input: unknown): CapabilityResult {
  const entries = capabilityEntries(input);
  const [text] = entries;
  if (entries.length !== 1 || typeof text !== "string") return refuse(notACapability(input));
  for (const access of ["read", "write"] as const) {
    const prefix = `${access}:fs:`;
    if (text.startsWith(prefix)) {
      const path = canonicalPath(text.slice(prefix.length));
      return typeof path === "string" ? accept({ kind: "fs", access, path }) : refuse(path);
    }
    if (text === `kaged:storage:${access}`) return accept({ kind: "storage", access });
  }
  if (text.startsWith("exec:")) return parseExec(text.slice("exec:".length));
  if (text.startsWith("net:")) return parseNet(text.slice("net:".length));
  const hint = didYouMean(text.split("/")[0]!, FORMS, `Use one of ${FORMS.map((form) => `${form}…`).join(", ")}`);
  return refuse(problem("capability.unknown", text, hint.replace("read…", "read").replace("write…", "write")));
}

/** Returns the capability strings an entry of the manifest's list stands for: `{net: []}` is `net:[]`. */
export function capabilityEntries(entry: unknown): unknown[] {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [entry];
  const keys = Object.keys(entry);
  const hosts = keys.length === 1 && Object.hasOwn(entry, "net") ? (entry as { net: unknown }).net : undefined;
  if (!Array.isArray(hosts)) return [entry];
  if (hosts.length === 0) return ["net:[]"];
  return hosts.map((host) => typeof host === "string" ? `net:${host}` : host);
}

/** Returns the one spelling of a capability. */
export function formatCapability(capability: Capability): string {
  switch (capability.kind) {
    case "fs":
      return `${capability.access}:fs:${capability.path}`;
    case "exec":
      return `exec:${capability.binary}:${capability.path}`;
    case "storage":
      return `kaged:storage:${capability.access}`;
    case "net":
      if (capability.scope === "host") return `net:${capability.host}:${capability.port}`;
      return capability.scope === "all" ? "net:*" : "net:[]";
  }
}

/**
 * Reads the capabilities of a checked manifest.
 *
 * @throws {HostError} `capability.invalid` when one of them is none.
 */
export function readCapabilities(texts: readonly string[]): Capability[] {
  return texts.map((text) => {
    const result = parseCapability(text);
    if (result.ok) return result.capability;
    const { message, hint, code } = result.problem;
    throw new HostError("capability.invalid", message, { data: { capability: text, code }, ...(hint && { hint }) });
  });
}

function parseExec(rest: string): CapabilityResult {
  const colon = rest.indexOf(":");
  const binary = colon === -1 ? rest : rest.slice(0, colon);
  if (!BINARY.test(binary)) return refuse(problem("capability.invalid_binary", binary));
  if (colon === -1) return refuse(problem("capability.missing_path", `exec:${rest}`, `Write exec:${binary}:plugin:/`));
  const path = canonicalPath(rest.slice(colon + 1));
  return typeof path === "string" ? accept({ kind: "exec", binary, path }) : refuse(path);
}

function parseNet(rest: string): CapabilityResult {
  if (rest === "*") return accept({ kind: "net", scope: "all" });
  if (rest.trim() === "[]") return accept({ kind: "net", scope: "none" });
  // The last colon outside brackets divides host and port.
  const colon = rest.endsWith("]") ? -1 : rest.lastIndexOf(":");
  const host = canonicalHost(colon === -1 ? rest : rest.slice(0, colon));
  if (host === null) {
    const hint = rest.startsWith("*") ? "Name each host in full, or ask for net:* where it must be all" : undefined;
    return refuse(problem("capability.invalid_host", rest, hint));
  }
  const port = colon === -1 ? "" : rest.slice(colon + 1);
  if (port === "*") return accept({ kind: "net", scope: "host", host, port });
  if (!PORT.test(port) || Number(port) > 65_535) {
    return refuse(problem("capability.invalid_port", rest, `Write net:${host}:443, or net:${host}:* for every port`));
  }
  return accept({ kind: "net", scope: "host", host, port: Number(port) });
}

function notACapability(input: unknown): CapabilityProblem {
  const [key, ...others] = typeof input === "object" && input !== null ? Object.keys(input) : [];
  const value = key === undefined ? undefined : (input as Record<string, unknown>)[key];
  // A space after the colon makes YAML read `net: host:443` as a map.
  const spaced = others.length === 0 && typeof value === "string" && !Array.isArray(input);
  const hint = spaced ? `Leave out the space: "${key}:${value}"` : undefined;
  return problem("capability.invalid", input, hint);
}

/**
 * Returns the canonical spelling of a path that is absolute or under `config:/`, `project:/`, `plugin:/`. Repeated
 * slashes, `.` segments and a final slash name the same place and go; `..` and globs could name another and are
 * refused. Returns the problem where there is one.
 */
function canonicalPath(text: string): string | CapabilityProblem {
  const refuse = (code: HostErrorCode, hint?: string) => problem(code, text, hint);
  if (text === "") return refuse("capability.missing_path");
  if (UNPRINTABLE.test(text) || !text.isWellFormed()) return refuse("capability.unprintable_path");
  if (new TextEncoder().encode(text).length >= MAX_PATH_BYTES) return refuse("capability.long_path");
  const prefix = PATH_PREFIXES.find((prefix) => text.startsWith(prefix)) ?? "";
  const place = text.slice(prefix.length);
  if (!place.startsWith("/")) return refuse("capability.relative_path", relativeHint(prefix, place));
  if (GLOB.test(place)) return refuse("capability.glob_path");
  const segments = place.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) return refuse("capability.parent_path");
  return `${prefix}/${segments.join("/")}`;
}

function relativeHint(prefix: string, place: string): string | undefined {
  if (prefix !== "") return `Write ${prefix}/${place}`;
  return place.startsWith("~") ? "There is no home folder in a cage: use config:/, project:/ or plugin:/" : undefined;
}

/** Makes a problem from its row of the error table and the value at fault. */
function problem(code: HostErrorCode, value: unknown, hint?: string): CapabilityProblem {
  const { cause, fix } = ERRORS[code];
  return { code, message: `${cause}: ${shown(value)}`, hint: hint ?? fix };
}

const accept = (capability: Capability): CapabilityResult => ({ ok: true, capability });
const refuse = (problem: CapabilityProblem): CapabilityResult => ({ ok: false, problem });
