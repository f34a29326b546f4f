/**
 * `kaged config`: looks at and changes `config.toml`, how hosts run on this machine.
 *
 * @module
 */
import type { Command } from "commander";
import { liveHosts } from "../../adapters/shared/live_hosts.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { CONFIG_SETTINGS, type Setting, settingOf } from "../../core/project/config_settings.ts";
import type { TomlValue } from "../../core/documents/edit_toml.ts";
import { operate, type Operator } from "../operator.ts";
import { jsonOr } from "../options.ts";
import type { Terminal } from "../terminal.ts";

/** Adds `config list`, `get`, `set` and `unset`. */
export function addConfig(parent: Command, terminal: Terminal): void {
  const config = parent.command("config")
    .summary("look at and change config.toml")
    .description("Looks at and changes config.toml in the operator's folder: how hosts run on this machine.");
  const list = config.command("list")
    .summary("show what is set")
    .description("Shows every setting that config.toml sets.")
    .addHelpText("after", LIST_EXAMPLES);
  operate(list, terminal, listAll);
  const get = config.command("get")
    .summary("show one setting")
    .description("Shows one setting; fails when config.toml does not set it.")
    .argument("<key>", "the setting, such as limits.memory_mb")
    .addHelpText("after", GET_EXAMPLES);
  operate(get, terminal, getOne);
  const set = config.command("set")
    .summary("change a setting")
    .description(
      "Changes a setting, after the whole file has been checked with it. Comments and order stay as they are. Hosts take\n" +
        "it up with their next start, settings of approvals at once.",
    )
    .argument("<key>", "the setting, such as limits.memory_mb")
    .argument("<value...>", "its value; several, or a JSON list, for a setting that takes a list")
    .addHelpText("after", SET_EXAMPLES);
  operate(set, terminal, change);
  const unset = config.command("unset")
    .summary("remove a setting")
    .description("Removes a setting: what holds without it holds again.")
    .argument("<key>", "the setting, such as limits.memory_mb")
    .addHelpText("after", "\nExamples:\n  kaged config unset limits.memory_mb");
  operate(unset, terminal, (operator, key: string) => change(operator, key, null));
}

const SETTINGS = `
Settings:
${Object.entries(CONFIG_SETTINGS).map(([key, kind]) => `  ${key.padEnd(34)} ${kind}`).join("\n")}
`;

const LIST_EXAMPLES = `
Examples:
  kaged config list
With --json it prints { "file", "settings": { "<key>": value } }.
${SETTINGS}`;

const GET_EXAMPLES = `
Examples:
  kaged config get limits.memory_mb
With --json it prints { "key", "value" }.`;

const SET_EXAMPLES = `
Examples:
  kaged config set limits.memory_mb 256
  kaged config set plugin_limits.notes.pids 20
  kaged config set runtimes.deno /opt/deno/bin/deno
  kaged config set hooks.network api.example.org:443 registry.example.org:443
${SETTINGS}`;

async function listAll({ home, runtime, json, terminal: { out, err } }: Operator): Promise<void> {
  const { readConfigFile } = await import("../../core/project/edit_config.ts");
  const { file, settings, warnings } = await readConfigFile(home, runtime.files);
  for (const { message, hint, line, column } of warnings) {
    err.warning(`${file}:${line}:${column}: ${message}. ${hint}`);
  }
  if (json) return out.json({ file, settings: Object.fromEntries(settings) });
  if (settings.size === 0) return out.line(`${file} sets nothing`);
  for (const [key, value] of settings) out.line(`${key} = ${JSON.stringify(value)}`);
}

async function getOne({ home, runtime, json, terminal: { out } }: Operator, key: string): Promise<void> {
  const { readConfigFile } = await import("../../core/project/edit_config.ts");
  settingOf(key);
  const { file, settings } = await readConfigFile(home, runtime.files);
  if (!settings.has(key)) {
    throw new HostError("config.not_set", `"${file}" does not set ${key}`, {
      data: { key },
      hint: `Set it with: kaged config set ${key} <value>`,
    });
  }
  const value = settings.get(key);
  if (json) out.json({ key, value });
  else out.line(typeof value === "string" ? value : JSON.stringify(value));
}

/** Sets a setting to the value in the words; null removes it. */
async function change(operator: Operator, key: string, words: readonly string[] | null): Promise<void> {
  const { writeSetting } = await import("../../core/project/edit_config.ts");
  const { home, runtime, json, terminal: { out, err } } = operator;
  const setting = settingOf(key);
  const value = words && valueOf(words, setting);
  const isChanged = await writeSetting(home, setting, value, runtime);
  if (json) return out.json({ key, value, changed: isChanged });
  const shown = value === null ? `${key} is not set` : `${key} = ${JSON.stringify(value)}`;
  out.done(`${shown}${isChanged ? "" : ", as before"}`);
  // Rules on tools, and the settings beside them, are taken up while hosts run.
  const isLive = key.startsWith("approvals.");
  const { length: count } = isChanged && !isLive ? await liveHosts(home) : [];
  const hosts = count === 1 ? "1 running host goes on as it was; it takes" : `${count} running hosts go on; they take`;
  if (count > 0) err.line(err.paint.dim(`  ${hosts} this up with the next start`));
}

/** Reads the words of a command line as what the setting holds; a wrong kind is for the file's own check to refuse. */
function valueOf(words: readonly string[], { kind }: Setting): TomlValue {
  if (words.length > 1) return words;
  const [word = ""] = words;
  const value = jsonOr(word);
  if (kind === "list") return Array.isArray(value) ? value as string[] : [word];
  if (kind === "text" || !["number", "boolean"].includes(typeof value)) return word;
  return value as TomlValue;
}
