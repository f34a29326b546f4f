/** Projects to test with, and what comes of them in short. */
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { Manifest } from "../../../src/core/manifest/manifest.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { parseLocalConfig } from "../../../src/core/project/local_config.ts";
import { parseProject } from "../../../src/core/project/read_project.ts";
import { resolveProject } from "../../../src/core/project/resolve_project.ts";
import type { Issue, Project, ResolvedPlugin, ResolvedProject } from "../../../src/core/project/types.ts";

export const DIR = "/projects/My Music";
export const FILE: string = `${DIR}/project.yaml`;
export const LOCAL = "/home/local.toml";

/** The project a text holds. */
export function projectOf(text: string): Promise<Project> {
  return parseProject(text, { dir: DIR });
}

/** What is wrong with a text, in full. */
export async function issuesOf(text: string): Promise<Issue[]> {
  try {
    await projectOf(text);
    return [];
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "project.invalid") {
      return (thrown.data as { issues: Issue[] }).issues;
    }
    throw thrown;
  }
}

/** What is wrong with a text: `code line:column path`. */
export async function problems(text: string): Promise<string[]> {
  return (await issuesOf(text)).map(({ code, line, column, path }) => `${code} ${line}:${column} ${path}`.trim());
}

/** A manifest: the least one, and `more` lines. */
export async function manifestOf(name: string, more = "", version = "0.1.0"): Promise<Manifest> {
  const text = `name: ${name}
version: ${version}
kaged_api: 1
description: A plugin
command: [js, ./plugin.js]
capabilities: []
${more}`;
  return (await parseManifest(text, { file: `/plugins/${name}/kaged-plugin.yaml` })).manifest;
}

/** What a project is resolved with. */
export interface With {
  /** Manifests by package. */
  readonly plugins?: Readonly<Record<string, Manifest>>;
  /** Text of local.toml. */
  readonly local?: string;
  /** Environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Resolves a text. */
export async function resolve(
  text: string,
  { plugins = {}, local = "", env = {} }: With = {},
): Promise<ResolvedProject> {
  return await resolveProject({
    project: await projectOf(text),
    local: await parseLocalConfig(local, { file: LOCAL }),
    locate: (pkg) => {
      const manifest = Object.hasOwn(plugins, pkg) ? plugins[pkg]! : null;
      return Promise.resolve(manifest && { dir: `/plugins/${manifest.name}`, manifest, warnings: [] });
    },
    env: (name) => Object.hasOwn(env, name) ? env[name]! : null,
  });
}

/** A plugin of an agent, or undefined. */
export function pluginOf(resolved: ResolvedProject, agent: string, key: string): ResolvedPlugin | undefined {
  return resolved.agents.find(({ path }) => path === agent)?.plugins.find((plugin) => plugin.key === key);
}

/** Refusals in short: `agent/key code`. */
export function refusalsOf({ refusals }: ResolvedProject): string[] {
  return refusals.map(({ agent, key, error }) => `${agent}/${key} ${error.code}`);
}

/** Warnings in short: `code line:column path`. */
export function warningsOf({ warnings }: ResolvedProject): string[] {
  return warnings.map(({ code, line, column, path }) => `${code} ${line}:${column} ${path}`);
}
