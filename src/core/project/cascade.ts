/**
 * What each declaration of a plugin comes to: alone for `isolation: agent`, over a base for `isolation: project`
 * (Plugin host, Isolation).
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import { shown } from "../values/shown_value.ts";
import { errorAt, stepsOf } from "./issue_at.ts";
import type { AgentSpec, Isolation, PluginDeclaration, Project } from "./types.ts";

/** A declaration with everything it inherits. */
export interface EffectiveDeclaration {
  /** Package. */
  readonly package: string;
  /** Where it can be had, or null. */
  readonly source: string | null;
  /** Ranges its version must be in. */
  readonly versions: readonly string[];
  /** For each agent, or shared. */
  readonly isolation: Isolation;
  /** Hooks to fire, or null for all of the manifest's. */
  readonly hooks: readonly string[] | null;
  /** Project-side config. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** One declaration, by one agent. */
export interface CascadeEntry {
  /** The agent. */
  readonly agent: AgentSpec;
  /** As written. */
  readonly declaration: PluginDeclaration;
  /** The declaration it is based on, when it shares another agent's. */
  readonly base: CascadeEntry | null;
  /** What it comes to, or why it cannot. */
  readonly outcome: EffectiveDeclaration | HostError;
}

/** Returns an entry for each declaration, in tree order. */
export function cascade(project: Project): CascadeEntry[] {
  const written = project.agents.flatMap((agent) => agent.plugins.map((declaration) => ({ agent, declaration })));
  const byKey = new Map<string, typeof written>();
  for (const one of written) byKey.set(one.declaration.key, [...byKey.get(one.declaration.key) ?? [], one]);
  const entries = new Map<PluginDeclaration, CascadeEntry>();
  for (const group of byKey.values()) {
    const first = group.find(({ agent }) => agent.parent === null) ??
      group.find(({ declaration }) => declaration.package !== undefined);
    if (first) entries.set(first.declaration, alone(project, first));
    const base = first ? entries.get(first.declaration)! : null;
    for (const one of group) {
      if (one !== first) entries.set(one.declaration, other(project, one, base));
    }
  }
  return written.map(({ declaration }) => entries.get(declaration)!);
}

interface Written {
  readonly agent: AgentSpec;
  readonly declaration: PluginDeclaration;
}

/** What a declaration comes to that is based on no other. */
function alone(project: Project, { agent, declaration }: Written): CascadeEntry {
  const { package: pkg, source = null, version, isolation = "agent", hooks = null, config = {} } = declaration;
  const outcome = pkg === undefined ? missingPackage(project, { agent, declaration }, null) : {
    package: pkg,
    source,
    versions: version === undefined ? [] : [version],
    isolation,
    hooks,
    config,
  };
  return { agent, declaration, base: null, outcome };
}

/** What a declaration comes to when another one of its key is the base. */
function other(project: Project, written: Written, base: CascadeEntry | null): CascadeEntry {
  const { agent, declaration } = written;
  const refuse = (outcome: HostError): CascadeEntry => ({ agent, declaration, base: null, outcome });
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
  const { outcome } = base;
  if (!("versions" in outcome)) return { agent, declaration, base, outcome: baseRefused(project, written, base) };
  const { source, version, hooks, config } = declaration;
  return {
    agent,
    declaration,
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

/** The error of a declaration whose base was refused. */
export function baseRefused(project: Project, { agent, declaration }: Written, base: CascadeEntry): HostError {
  const path = [...stepsOf(agent.path), "plugins", declaration.key];
  const message = `Plugin ${shown(declaration.key)} shares what "${base.agent.path}" declares, which was refused`;
  return errorAt(project, "project.base_refused", path, {
    message,
    part: "key",
    data: { agent_path: agent.path, base: base.agent.path },
  });
}

function missingPackage(project: Project, { agent, declaration }: Written, base: CascadeEntry | null): HostError {
  const path = [...stepsOf(agent.path), "plugins", declaration.key];
  const message = `Plugin ${shown(declaration.key)} is declared without its package`;
  const hint = base
    ? `Write package: here, or isolation: project at ${base.declaration.at.path} to share that one`
    : "Write package: under it";
  return errorAt(project, "project.missing_package", path, {
    message,
    hint,
    part: "key",
    data: { agent_path: agent.path },
  });
}

function forbidden(
  project: Project,
  { agent, declaration }: Written,
  { field, base, value }: { readonly field: string; readonly base: CascadeEntry; readonly value: string },
): HostError {
  const path = [...stepsOf(agent.path), "plugins", declaration.key, field];
  const message =
    `Plugin ${shown(declaration.key)} is declared on "${base.agent.path}" with ${field} ${shown(value)}, ` +
    "which no other agent can override";
  return errorAt(project, "project.forbidden_override", path, {
    message,
    hint: `Remove ${field} here, or use another key`,
    data: { agent_path: agent.path, field, base: base.agent.path },
  });
}
