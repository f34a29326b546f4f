/**
 * Resolves each declaration of a plugin: alone for `isolation: agent`, over a base for `isolation: project`
 * (Plugin host, Isolation).
 *
 * @module
 */
import type { IssueText } from "../documents/document_report.ts";
import type { HostError, HostErrorCode } from "../errors/host_error.ts";
import { defined } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { START_KEYS, startsOf } from "./start_settings.ts";
import {
  type AgentSpec,
  type Isolation,
  type PluginDeclaration,
  type Project,
  type StartSettings,
  stepsTo,
} from "./types.ts";

/** A declaration with everything it inherits. */
export interface EffectiveDeclaration {
  readonly package: string;
  /** Folder or address to install it from, or null. */
  readonly source: string | null;
  /** Ranges that must all hold the plugin's version. */
  readonly versions: readonly string[];
  readonly isolation: Isolation;
  /** Hooks to fire, or null for all of the manifest's. */
  readonly hooks: readonly string[] | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly starts?: StartSettings;
}

interface Written {
  readonly agent: AgentSpec;
  readonly declaration: PluginDeclaration;
}

/** One declaration, by one agent. */
export interface CascadeEntry extends Written {
  /** The declaration it is based on, when it shares another agent's. */
  readonly base: CascadeEntry | null;
  /** The declaration with everything it inherits, or why there is none. */
  readonly outcome: EffectiveDeclaration | HostError;
}

/** Returns an entry for each declaration, in tree order. */
export function cascade(project: Project): CascadeEntry[] {
  const written = project.agents.flatMap((agent) => agent.plugins.map((declaration) => ({ agent, declaration })));
  const entries = new Map<Written, CascadeEntry>();
  for (const group of Map.groupBy(written, ({ declaration }) => declaration.key).values()) {
    const first = group.find(({ agent }) => agent.parent === null) ??
      group.find(({ declaration }) => declaration.package !== undefined);
    const base = first ? alone(project, first) : null;
    for (const one of group) entries.set(one, one === first ? base! : other(project, one, base));
  }
  return written.map((one) => entries.get(one)!);
}

/** Resolves a declaration that is based on no other. */
function alone(project: Project, written: Written): CascadeEntry {
  const { package: pkg, source = null, version, isolation = "agent", hooks = null, config = {} } = written.declaration;
  const starts = startsOf(written.declaration);
  const versions = version === undefined ? [] : [version];
  const outcome = pkg === undefined
    ? missingPackage(project, written, null)
    : { package: pkg, source, versions, isolation, hooks, config, ...defined({ starts }) };
  return { ...written, base: null, outcome };
}

/** Resolves a declaration whose key another agent declares first. */
function other(project: Project, written: Written, base: CascadeEntry | null): CascadeEntry {
  const { declaration } = written;
  const refuse = (outcome: HostError): CascadeEntry => ({ ...written, base: null, outcome });
  if (!base) return refuse(missingPackage(project, written, null));
  const governing = base.declaration.isolation ?? "agent";
  if (declaration.isolation !== undefined && declaration.isolation !== governing) {
    return refuse(forbidden(project, written, { field: "isolation", base, value: governing }));
  }
  if (governing === "agent") {
    return declaration.package === undefined ? refuse(missingPackage(project, written, base)) : alone(project, written);
  }
  const { package: pkg } = base.declaration;
  if (declaration.package !== undefined && pkg !== undefined && declaration.package !== pkg) {
    return refuse(forbidden(project, written, { field: "package", base, value: pkg }));
  }
  const field = START_KEYS.find((key) => declaration[key] !== undefined && declaration[key] !== base.declaration[key]);
  if (field) {
    return refuse(forbidden(project, written, { field, base, value: String(base.declaration[field] ?? "not set") }));
  }
  const { outcome } = base;
  if (!("versions" in outcome)) return { ...written, base, outcome: baseRefused(project, written, base) };
  const { source, version, hooks, config } = declaration;
  return {
    ...written,
    base,
    outcome: {
      ...outcome,
      source: source ?? outcome.source,
      versions: version === undefined ? outcome.versions : [...outcome.versions, version],
      hooks: hooks ?? outcome.hooks,
      config: { ...outcome.config, ...config },
    },
  };
}

/** Returns the error of a declaration whose base was refused. */
export function baseRefused(project: Project, written: Written, base: CascadeEntry): HostError {
  const { key } = written.declaration;
  const { path } = base.agent;
  const message = `Plugin ${shown(key)} shares the declaration of "${path}", which was refused`;
  return failure(project, written, { code: "project.base_refused", message, part: "key", data: { base: path } });
}

function missingPackage(project: Project, written: Written, base: CascadeEntry | null): HostError {
  const message = `Plugin ${shown(written.declaration.key)} is declared without its package`;
  const hint = base
    ? `Write package: here, or isolation: project at ${base.declaration.at.path} to share that one`
    : "Write package: under it";
  return failure(project, written, { code: "project.missing_package", message, hint, part: "key" });
}

function forbidden(
  project: Project,
  written: Written,
  { field, base, value }: { readonly field: string; readonly base: CascadeEntry; readonly value: string },
): HostError {
  const message = `Plugin ${shown(written.declaration.key)} is declared on "${base.agent.path}" with ${field} ` +
    `${shown(value)}, which no other agent can override`;
  const hint = `Remove ${field} here, or use another key`;
  const data = { field, base: base.agent.path };
  return failure(project, written, { code: "project.forbidden_override", field, message, hint, data });
}

/** An error about a declaration, or about one of its fields. */
interface Failure extends IssueText {
  readonly code: HostErrorCode;
  readonly field?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Returns an error about a declaration at its place; its data name the agent. */
export function failure(
  { document: { report } }: Project,
  { agent, declaration }: Written,
  { code, field, data, ...text }: Failure,
): HostError {
  const path = [...stepsTo(agent.path, "plugins", declaration.key), ...(field === undefined ? [] : [field])];
  return report.failure(code, path, { ...text, data: { agent_path: agent.path, ...data } });
}
