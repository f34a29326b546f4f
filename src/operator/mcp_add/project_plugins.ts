/**
 * Gives a plugin to an agent of a project, or takes it away: one field of `project.yaml` changes, and the rest of the
 * file stays as it was written, comments included.
 *
 * @module
 */
import { formatPath } from "../../core/documents/document_report.ts";
import { setYamlValue } from "../../core/documents/edit_yaml.ts";
import { removeYamlField } from "../../core/documents/remove_yaml.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { replaceText } from "../../core/files/replace_text.ts";
import type { Files, Ids } from "../../core/ports/ports.ts";
import { parseProject, projectOf, readProject } from "../../core/project/read_project.ts";
import { type AgentSpec, type Project, stepsTo } from "../../core/project/types.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";

/** A change of a project file, before it is written. */
export interface ProjectChange {
  readonly file: string;
  /** The text before; null for a file that is to be made. */
  readonly before: string | null;
  readonly text: string;
  /** Agents whose plugins differ afterwards. */
  readonly agents: readonly string[];
}

/**
 * Returns the change that gives a plugin to an agent; null where the agent has it. A folder without a project.yaml gets
 * one with this agent alone, if that is the primary one.
 *
 * @throws {HostError} `mcp_add.agent_unknown`, `project.*`, or `mcp_add.edit_refused`.
 */
export async function addToAgent(
  { dir, agent, plugin, files }: {
    readonly dir: string;
    readonly agent: string;
    readonly plugin: string;
    readonly files: Files;
  },
): Promise<ProjectChange | null> {
  const file = `${dir}/project.yaml`;
  const isThere = await files.target(file).catch(() => null) !== null;
  const project = isThere ? await readProject(dir, files) : await parseProject("primary: {}\n", { dir });
  const found = requireAgent(project, agent);
  if (found.plugins.some(({ key, package: pkg = key }) => pkg === plugin)) return null;
  const { document } = project;
  const path = stepsTo(agent, "plugins", freeKey(found, plugin), "package");
  const after = isThere
    ? await setYamlValue(document, path, plugin)
    : (await parseProject(`primary:\n  plugins:\n    ${plugin}: { package: ${plugin} }\n`, { dir })).document;
  if (!after) throw refused(path, file);
  await projectOf(after, dir);
  return { file, before: isThere ? document.text : null, text: after.text, agents: [agent] };
}

/** Returns the change that takes a plugin away from every agent; null where none has it. Throws `project.*`. */
export async function removeFromAgents(dir: string, plugin: string, files: Files): Promise<ProjectChange | null> {
  const project = await readProject(dir, files);
  let { document } = project;
  const agents: string[] = [];
  for (const { path: agent, plugins } of project.agents) {
    for (const { key } of plugins.filter(({ key, package: pkg = key }) => pkg === plugin)) {
      const path = stepsTo(agent, "plugins", key);
      const after = await removeYamlField(document, path);
      if (!after) throw refused(path, project.file);
      document = after;
      agents.push(agent);
    }
  }
  if (agents.length === 0) return null;
  await projectOf(document, dir);
  return { file: project.file, before: project.document.text, text: document.text, agents };
}

/** Returns the agents of a project that declare a plugin. */
export function agentsWith({ agents }: Project, plugin: string): string[] {
  const has = ({ plugins }: AgentSpec): boolean => plugins.some(({ key, package: pkg = key }) => pkg === plugin);
  return agents.filter(has).map(({ path }) => path);
}

/** Writes a change. Throws `mcp_add.edit_refused` when the file has changed meanwhile. */
export async function writeProject(
  { file, before, text }: ProjectChange,
  ports: { readonly files: Files; readonly ids: Ids },
): Promise<void> {
  const path = before === null ? file : await ports.files.realPath(file);
  await replaceText(path, { before, text, code: "mcp_add.edit_refused" }, ports);
}

function requireAgent(project: Project, agent: string): AgentSpec {
  const found = project.agents.find(({ path }) => path === agent);
  if (found) return found;
  const paths = project.agents.map(({ path }) => path);
  throw new HostError("mcp_add.agent_unknown", `The project "${project.id}" has no agent ${JSON.stringify(agent)}`, {
    data: { agent, agents: paths },
    hint: didYouMean(agent, paths, `Agents: ${paths.join(", ")}`),
  });
}

/** The plugin's own name is its key, unless another plugin has that key. */
function freeKey({ plugins }: AgentSpec, plugin: string): string {
  const taken = new Set(plugins.map(({ key }) => key));
  let key = plugin;
  for (let number = 2; taken.has(key); number++) key = `${plugin}-${number}`;
  return key;
}

function refused(path: readonly string[], file: string): HostError {
  return new HostError("mcp_add.edit_refused", `Cannot change ${formatPath(path)} without touching something else`, {
    data: { file, path: formatPath(path) },
    hint: "Edit project.yaml by hand: an anchor, an alias or an unusual layout stands in the way",
  });
}
