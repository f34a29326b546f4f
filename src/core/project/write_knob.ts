/**
 * Writes a knob's value into the text of a project file: that value changes, and not one character besides.
 *
 * @module
 */
import { formatPath } from "../documents/document_report.ts";
import { setYamlValue } from "../documents/edit_yaml.ts";
import { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { defined } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { cascade, type EffectiveDeclaration } from "./cascade.ts";
import { knobProblem } from "../manifest/knob_value.ts";
import { configError, pluginConfig } from "./plugin_config.ts";
import { parseProject, projectOf } from "./read_project.ts";
import { type Project, stepsTo } from "./types.ts";

/** A new value for one knob of one plugin. */
export interface KnobWrite {
  readonly agentPath: string;
  /** Key the plugin is declared under. */
  readonly key: string;
  readonly knob: string;
  readonly value: unknown;
  readonly manifest: Manifest;
  /** The project's folder, for messages. */
  readonly dir: string;
}

/** A project file after a knob was turned. */
export interface KnobWritten {
  readonly text: string;
  /** The project as the new text has it. */
  readonly project: Project;
  /** The project-side config of that declaration after the change, with what it inherits. */
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * Returns the text with the knob's value in the config of that agent's declaration.
 *
 * @throws {HostError} `knob.unknown`, `knob.value_invalid` when the knob or the schema refuses the value,
 * `knob.edit_refused` when the file cannot be changed in that one place, or `project.invalid`.
 */
export async function writeKnob(text: string, write: KnobWrite): Promise<KnobWritten> {
  const { agentPath, key, knob: name, value, manifest, dir } = write;
  const knob = Object.hasOwn(manifest.knobs, name) ? manifest.knobs[name]! : null;
  if (!knob) throw unknownKnob(manifest, name);
  const problem = await knobProblem(knob, value);
  if (problem !== null) throw invalid(write, problem);
  const field = knob.binds_to.slice("config.".length);
  const before = await parseProject(text, { dir });
  const declaration = declarationOf(before, write);
  const config = { ...declaration.config, [field]: value };
  const checked = await pluginConfig(manifest, {
    declared: config,
    isolation: declaration.isolation,
    system: { values: {}, problems: [], undeclared: [] },
  });
  if (!("config" in checked)) {
    const own = checked.find(({ errors }) => errors.some(({ path }) => path === field || path.startsWith(field)));
    const { errors } = own ?? checked[0]!;
    const cause = configError(own ?? checked[0]!, { plugin: manifest.name, agent: agentPath, file: before.file });
    const reasons = errors.map(({ path, message }) => path === field ? message : `${path}: ${message}`);
    throw invalid(write, reasons.join("; "), cause);
  }
  const path = stepsTo(agentPath, "plugins", key, "config", field);
  const after = await setYamlValue(before.document, path, value);
  if (after) return { project: await projectOf(after, dir), text: after.text, config };
  throw new HostError("knob.edit_refused", `Cannot set ${formatPath(path)} without touching something else`, {
    data: { path: formatPath(path) },
    hint: "Edit project.yaml by hand: an anchor, an alias or an unusual layout stands in the way",
  });
}

/** Returns the error for a knob that a plugin does not have. */
export function unknownKnob({ name, knobs }: Manifest, knob: string): HostError {
  const names = Object.keys(knobs);
  return new HostError("knob.unknown", `Plugin "${name}" has no knob ${shown(knob)}`, {
    data: { name, knob },
    hint: didYouMean(knob, names, names.length > 0 ? `Knobs: ${names.join(", ")}` : "It has none"),
  });
}

function declarationOf(project: Project, { agentPath, key }: KnobWrite): EffectiveDeclaration {
  const entry = cascade(project).find(({ agent, declaration }) => agent.path === agentPath && declaration.key === key);
  if (!entry) {
    throw new HostError("knob.unknown", `Agent ${shown(agentPath)} declares no plugin ${shown(key)}`, {
      data: { agent_path: agentPath, key },
      hint: "Name an agent of the project and the key of one of its plugins",
    });
  }
  if (!("versions" in entry.outcome)) throw entry.outcome;
  return entry.outcome;
}

function invalid({ manifest, knob, agentPath }: KnobWrite, reason: string, cause?: HostError): HostError {
  const { name } = manifest;
  return new HostError("knob.value_invalid", `Knob "${knob}" of "${name}" does not take this value: ${reason}`, {
    data: { name, knob, agent_path: agentPath, reason },
    ...defined({ hint: cause?.hint, cause }),
  });
}
