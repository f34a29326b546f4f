/**
 * Checks the fields of a manifest against each other. Each rule reads what it needs from data of any shape, so that a
 * mistake in one field never hides one in another.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import type { DocumentPath } from "../documents/places.ts";
import { KIND, KIND_API_VERSION } from "../contract/generated/agent_lifecycle.ts";
import { kindMismatch } from "../contract/kind_compatibility.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { followPath } from "../values/relative_path.ts";
import { isSemanticVersion } from "../values/semantic_version.ts";
import { shown } from "../values/shown_value.ts";
import { capabilityEntries, formatCapability, parseCapability } from "./capability.ts";
import { canonicalHook } from "../contract/hook_names.ts";
import { itemsOf, stringsOf } from "./listed_items.ts";
import { BUILTIN_NAMES, RECORD_KEYS } from "./manifest.ts";

/** Data of any shape under the manifest's keys. */
type Data = Record<string, unknown>;

/** Methods of the protocol that have two segments, as a tool's full name has. */
const SYSTEM_METHODS: readonly string[] = [
  "config.update",
  "projects.activated",
  "projects.deactivated",
  "system.cancel",
  "system.progress",
  "system.rate_limited",
];

/** Checks every rule between fields. */
export function checkRules(data: Data, report: DocumentReport): void {
  checkNames(data, report);
  checkCommand(data, report);
  checkRoles(data, report);
  checkTools(data, report);
  checkConfigSchemas(data, report);
  checkMcpRules(data, report);
  checkKindVersion(data, report);
  for (const list of ["roles", "hooks", "methods", "notifications"]) warnOfDuplicates(stringsOf(data, list), report);
}

/** A plugin written for other hooks than the host has is refused, with the reason; the others go on. */
function checkKindVersion({ kind_api_version: version }: Data, report: DocumentReport): void {
  if (typeof version !== "string" || !isSemanticVersion(version)) return;
  const mismatch = kindMismatch(version, KIND_API_VERSION);
  if (mismatch === null) return;
  const message = `Version ${version} of ${KIND} does not go with ${KIND_API_VERSION}: ${mismatch}`;
  report.error("manifest.kind_api_mismatch", ["kind_api_version"], { message });
}

/** Checks every capability. Returns them in canonical form, each once. */
export function checkCapabilities(data: Data, report: DocumentReport): string[] {
  const found: [string, DocumentPath][] = [];
  for (const [item, itemPath] of itemsOf(data, "capabilities")) {
    const entries = capabilityEntries(item);
    entries.forEach((entry, index) => {
      const path = entries.length > 1 ? [...itemPath, "net", index] : itemPath;
      const result = parseCapability(entry);
      if (result.ok) found.push([formatCapability(result.capability), path]);
      else report.error(result.problem.code, path, result.problem);
    });
  }
  const none = found.find(([text]) => text === "net:[]");
  const other = found.find(([text]) => text.startsWith("net:") && text !== "net:[]");
  if (none && other) {
    report.error("capability.net_contradiction", none[1], { message: `net:[] stands beside ${shown(other[0])}` });
  }
  warnOfDuplicates(found, report);
  return [...new Set(found.map(([text]) => text))];
}

function checkNames({ name }: Data, report: DocumentReport): void {
  if (typeof name === "string" && BUILTIN_NAMES.includes(name)) {
    report.warn("manifest.builtin_name", ["name"], { message: `${shown(name)} is also a group of built-in tools` });
  }
}

function checkCommand(data: Data, report: DocumentReport): void {
  const [program] = itemsOf(data, "command");
  if (typeof program?.[0] !== "string" || program[0].startsWith("/") || !program[0].includes("/")) return;
  if (followPath([], program[0]) === null) report.error("manifest.outside_command", program[1]);
}

function checkRoles(data: Data, report: DocumentReport): void {
  if (Object.hasOwn(data, "role") && Object.hasOwn(data, "roles")) {
    report.error("manifest.role_and_roles", ["role"], { part: "key" });
  }
  const roles = [...stringsOf(data, "roles"), [data.role, ["role"]] as const];
  const compactor = roles.find(([role]) => role === "compactor");
  const hooks = stringsOf(data, "hooks").map(([hook]) => canonicalHook(hook));
  if (compactor && !hooks.includes("pre_compact")) report.error("manifest.compactor_without_hook", compactor[1]);
}

function checkTools(data: Data, report: DocumentReport): void {
  const methods = new Set([...SYSTEM_METHODS, ...stringsOf(data, "methods").map(([method]) => method)]);
  const names = new Set<string>();
  const tools = itemsOf(data, "tools");
  const { name: owner } = data;
  if (tools.length > 0 && typeof owner === "string" && owner.length === 1) {
    report.error("manifest.short_tool_owner", ["name"]);
  }
  for (const [tool, itemPath] of tools) {
    if (!isMap(tool) || typeof tool.name !== "string") continue;
    const path = [...itemPath, "name"];
    if (names.has(tool.name)) {
      report.error("manifest.duplicate_tool", path, { message: `Two tools are named ${shown(tool.name)}` });
    }
    names.add(tool.name);
    if (typeof owner !== "string") continue; // Reported already; and an object may refuse to become text.
    const wireName = `${owner}.${tool.name}`;
    if (methods.has(wireName)) {
      report.error("manifest.taken_tool_name", path, { message: `${shown(wireName)} is a method's name already` });
    }
  }
}

function checkConfigSchemas(data: Data, report: DocumentReport): void {
  const project = mapOf(mapOf(data, "config_schema"), "properties");
  const system = mapOf(mapOf(data, "system_config_schema"), "properties");
  for (const field of Object.keys(system)) {
    const path = ["system_config_schema", "properties", field];
    if (Object.hasOwn(project, field)) {
      const message = `Field ${shown(field)} is in config_schema too`;
      report.error("manifest.shared_config_field", path, { message, part: "key" });
    }
    if (RECORD_KEYS.includes(field)) {
      const message = `Field ${shown(field)} has a name the host keeps for install records`;
      report.error("manifest.reserved_config_field", path, { message, part: "key" });
    }
  }
}

/** Saying a thing twice means no more than saying it once, so it is a slip to point out and no reason to refuse. */
function warnOfDuplicates(entries: readonly (readonly [string, DocumentPath])[], report: DocumentReport): void {
  const seen = new Set<string>();
  for (const [entry, path] of entries) {
    const name = path[0] === "hooks" ? canonicalHook(entry) : entry;
    if (seen.has(name)) report.warn("manifest.duplicate_entry", path, { message: `${shown(name)} stands twice` });
    seen.add(name);
  }
}

/** Field → why an MCP server has no use for it. */
const NOT_OF_MCP: Readonly<Record<string, string>> = {
  tools: "An MCP server lists its tools itself, when it starts",
  methods: "An MCP server has no methods beside its tools",
  notifications: "An MCP server has no notifications of its own",
  hooks: "An MCP server is not called at hooks",
  role: "An MCP server has no role beside its tools",
  roles: "An MCP server has no role beside its tools",
  knobs: "An MCP server takes no config, so there is nothing to turn",
  config_schema: "An MCP server takes no config: give it what it needs in env and command, or in headers",
};

/** Refuses fields in the manifest of an MCP server that only make sense on the plugin wire. */
function checkMcpRules(data: Data, report: DocumentReport): void {
  if (data.runtime !== "mcp_stdio" && data.runtime !== "mcp_http") return;
  for (const [field, message] of Object.entries(NOT_OF_MCP)) {
    if (!isEmpty(data[field])) report.error("manifest.mcp_contradiction", [field], { message, part: "key" });
  }
  for (const [capability, path] of stringsOf(data, "capabilities")) {
    if (!capability.startsWith("kaged:")) continue;
    const message = "An MCP server cannot ask the host for anything";
    report.error("manifest.mcp_contradiction", path, { message });
  }
  if (typeof data.name === "string" && data.name.length === 1) report.error("manifest.short_tool_owner", ["name"]);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" ? Object.keys(value ?? {}).length === 0 : value === undefined;
}
