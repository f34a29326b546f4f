/**
 * Turns a knob: the plugin is asked first, then the project file is changed. So a value that is refused never reaches
 * the file, and a file that cannot be written never leaves the plugin with a value of its own.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Files, Ids } from "../core/ports/ports.ts";
import { writeKnob } from "../core/project/write_knob.ts";
import type { ResolvedInstance, ResolvedProject } from "../core/project/types.ts";
import { replaceText } from "../core/files/replace_text.ts";
import { checkKnob } from "./check_knob.ts";
import type { HostProject } from "./host_project.ts";
import { type HostModel, refusedError } from "./model.ts";

/** A knob and its new value. */
export interface KnobTurn {
  readonly agent: string;
  /** Key the plugin is declared under. */
  readonly key: string;
  readonly knob: string;
  readonly value: unknown;
}

/** The parts of a host that turning a knob uses. */
export interface KnobPorts {
  readonly model: HostModel;
  readonly loaded: HostProject;
  /** Hands a running instance its config; rejects when the plugin refuses it. */
  updateConfig(instance: string, config: Readonly<Record<string, unknown>>): Promise<void>;
  readonly files: Files;
  readonly ids: Ids;
}

/**
 * Turns a knob. Returns the instance it is about.
 *
 * @throws {HostError} `agent.unknown`, `knob.*`, `plugin.refused`, `plugin.config_invalid` when the plugin refuses the value, or why it or
 * the file could not be reached. Nothing has changed then.
 */
export async function turnKnob(
  turn: KnobTurn,
  { model, loaded, updateConfig, files, ids }: KnobPorts,
): Promise<string> {
  const { agent, key, knob, value } = turn;
  const plugin = model.plugin(agent, key);
  if (!plugin) {
    const refused = model.refused.find((one) => one.key === key && one.agents.includes(agent));
    if (refused) throw refusedError(refused);
    throw new HostError("knob.unknown", `Agent "${agent}" has no plugin "${key}"`, {
      data: { agent_path: agent, key },
      hint: `Its plugins: ${model.agent(agent).plugins.map((one) => one.key).join(", ") || "none"}`,
    });
  }
  const { manifest, instance } = plugin;
  const declared = Object.hasOwn(manifest.knobs, knob) ? manifest.knobs[knob]! : null;
  if (declared) await checkKnob(knob, declared, value, { ...loaded.knobPlaces, files });
  const file = await files.realPath(loaded.project.file);
  const before = await files.readText(file);
  const write = { agentPath: agent, key, knob, value, manifest, dir: loaded.project.dir };
  const { text, project } = await writeKnob(before, write);
  const fresh = await loaded.resolve(project);
  checkTaken(turn, fresh);
  const [old, next] = [model.project, fresh].map(({ instances }) => configOf(instances, instance));
  const isChanged = JSON.stringify(old) !== JSON.stringify(next);
  if (isChanged) await updateConfig(instance, next!);
  try {
    await replaceText(file, { before, text, code: "knob.edit_refused" }, { files, ids });
  } catch (error) {
    if (isChanged) await updateConfig(instance, old!).catch(() => {}); // It had that one before.
    throw error;
  }
  model.adoptConfig(instance, fresh);
  return instance;
}

/** The value may fit and the whole not: another side of the config, a file that was edited meanwhile. */
function checkTaken({ agent, key }: KnobTurn, { agents, refusals }: ResolvedProject): void {
  if (agents.some(({ path, plugins }) => path === agent && plugins.some((plugin) => plugin.key === key))) return;
  const refusal = refusals.find((one) => one.agent === agent && one.key === key);
  throw refusal?.error ?? new HostError("knob.unknown", `Agent "${agent}" no longer has a plugin "${key}"`);
}

function configOf(instances: readonly ResolvedInstance[], id: string): Readonly<Record<string, unknown>> {
  return instances.find(({ instance }) => instance === id)?.config ?? {};
}
