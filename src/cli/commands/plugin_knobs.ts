/**
 * `kaged plugin knobs`: looks at a plugin's settings in a project, and turns one.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { ResolvedPlugin } from "../../core/project/types.ts";
import { operate, type Operator } from "../operator.ts";
import { addPluginOption, jsonOr, pluginFolders, type ProjectFlags } from "../options.ts";
import { turnInHost } from "../../http/running_hosts.ts";
import type { Terminal } from "../terminal.ts";

interface KnobFlags extends ProjectFlags {
  readonly project: string;
  readonly agent: string;
}

/** Adds `plugin knobs get` and `plugin knobs set`. */
export function addPluginKnobs(parent: Command, terminal: Terminal): void {
  const knobs = parent.command("knobs")
    .summary("look at and turn a plugin's settings in a project")
    .description("Looks at and turns the settings a plugin offers; they are kept in project.yaml.");
  const get = knobs.command("get")
    .summary("show how far each knob is turned")
    .description("Shows a plugin's knobs and their values for an agent.")
    .argument("<name>", "the plugin's name")
    .argument("[knob]", "one knob")
    .addHelpText("after", GET_EXAMPLES);
  operate(addKnobOptions(get), terminal, show);
  const set = knobs.command("set")
    .summary("turn a knob")
    .description(
      "Turns a knob: checks the value, hands it to the plugin where a host runs the project, and changes project.yaml in\n" +
        "that one place.",
    )
    .argument("<name>", "the plugin's name")
    .argument("<knob>", "the knob")
    .argument("<value>", "JSON; what is none is taken as text")
    .addHelpText("after", SET_EXAMPLES);
  operate(addKnobOptions(set), terminal, turn);
}

function addKnobOptions(command: Command): Command {
  return addPluginOption(
    command
      .requiredOption("--project <dir>", "folder that holds project.yaml")
      .option("--agent <path>", "agent, such as primary.subagents.researcher", "primary"),
  );
}

const GET_EXAMPLES = `
Example:
  kaged plugin knobs get memory-markdown --project .
With --json it prints { "name", "agent", "knobs": { "<knob>": { "type", "label", "value", … } } }.`;

const SET_EXAMPLES = `
Examples:
  kaged plugin knobs set memory-markdown recall_limit 8 --project .
  kaged plugin knobs set memory-markdown store project:/notes --project . --agent primary.subagents.researcher`;

async function find({ runtime, home, terminal }: Operator, name: string, flags: KnobFlags) {
  const [{ loadHostProject }, { HostModel }] = await Promise.all([
    import("../../host/host_project.ts"),
    import("../../host/model.ts"),
  ]);
  const dir = await runtime.files.realPath(resolve(terminal.cwd, flags.project));
  const plugins = pluginFolders(flags, terminal);
  const loaded = await loadHostProject({ dir, home, plugins, runtime });
  const model = new HostModel(loaded.resolved);
  const own = model.agent(flags.agent).plugins;
  const plugin = own.find((one) => one.plugin === name);
  if (plugin) return { model, loaded, plugin };
  const refusal = loaded.resolved.refusals.find(({ agent, key }) => agent === flags.agent && key === name);
  throw refusal?.error ?? new HostError("knob.unknown", `Agent "${flags.agent}" has no plugin "${name}"`, {
    data: { plugin: name, agent_path: flags.agent },
    hint: `Its plugins: ${own.map((one) => one.plugin).join(", ") || "none"}`,
  });
}

async function show(operator: Operator, name: string, knob: string | undefined, flags: KnobFlags): Promise<void> {
  const { plugin } = await find(operator, name, flags);
  const all = knobsOf(plugin);
  if (knob !== undefined && !Object.hasOwn(all, knob)) {
    const { unknownKnob } = await import("../../core/project/write_knob.ts");
    throw unknownKnob(plugin.manifest, knob);
  }
  const shown = knob === undefined ? all : { [knob]: all[knob]! };
  const { out } = operator.terminal;
  if (operator.json) return out.json({ name, agent: flags.agent, knobs: shown });
  if (Object.keys(shown).length === 0) return out.line(`${name} has no knobs`);
  for (const [key, { type, label, value }] of Object.entries(shown)) {
    out.line(`${key} = ${JSON.stringify(value)}  ` + out.paint.dim(`${label} (${type})`));
  }
}

async function turn(operator: Operator, name: string, knob: string, text: string, flags: KnobFlags): Promise<void> {
  const { turnKnob } = await import("../../host/turn_knob.ts");
  const { model, loaded, plugin } = await find(operator, name, flags);
  const value = valueOf(text, plugin, knob);
  const { runtime: { files, ids }, home, audit, json, terminal: { out } } = operator;
  const { agent } = flags;
  if (!await turnInHost(home, loaded.resolved, { plugin: name, knob, agent, value })) {
    // Nobody runs the project: there is no plugin to ask, and the file alone changes.
    const updateConfig = () => Promise.resolve();
    await turnKnob({ agent, key: plugin.key, knob, value }, { model, loaded, updateConfig, files, ids });
    audit.emit("plugin.knob_write", { name, instance: plugin.instance }, { knob, agent_path: agent });
  }
  if (json) out.json({ name, agent, knob, value });
  else out.done(`${name}.${knob} = ${JSON.stringify(value)}`);
}

type Knobs = Record<string, { readonly type: string; readonly label: string; readonly value: unknown }>;

function knobsOf({ manifest, shownConfig }: ResolvedPlugin): Knobs {
  return Object.fromEntries(
    Object.entries(manifest.knobs).map(([name, knob]) => {
      const field = knob.binds_to.slice("config.".length);
      const value = (Object.hasOwn(shownConfig, field) ? shownConfig[field] : knob.default) ?? null;
      return [name, { ...knob, value }];
    }),
  );
}

/** A word that is no JSON is a text; so is any word for a knob that takes texts. */
function valueOf(text: string, { manifest }: ResolvedPlugin, knob: string): unknown {
  const type = Object.hasOwn(manifest.knobs, knob) ? manifest.knobs[knob]!.type : null;
  const takesText = type !== null && ["enum", "text", "multiline", "path"].includes(type);
  const value = jsonOr(text);
  return takesText && typeof value !== "string" ? text : value;
}
