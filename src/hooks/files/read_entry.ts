/**
 * One command hook as a file writes it. Both families of files share this and differ in their keys.
 *
 * @module
 */
import { type DocumentReport, formatPath } from "../../core/documents/document_report.ts";
import { Fields, FLAG, NUMBER, SOME_TEXT, TEXT } from "../../core/documents/fields.ts";
import type { DocumentPath } from "../../core/documents/places.ts";
import { defined } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { NativeEvent } from "./event_names.ts";
import { shellWord } from "./shell_words.ts";
import type { FileHook, HookCommands, HookDialect } from "./types.ts";

/** Keys that this host adds to the native formats. */
const ADDED = ["priority", "advisory", "onFailure"];
const SHARED = ["type", "command", "timeout", "env", "cwd", "matcher", "description", ...ADDED];
const KEYS: Readonly<Record<"flat" | "nested", readonly string[]>> = {
  flat: [...SHARED, "bash", "powershell", "timeoutSec", "windows", "linux", "osx", "comment"],
  nested: [...SHARED, "args", "shell", "async", "statusMessage", "once"],
};
/** Types of Claude Code that are no commands: they need a model, a server or the network. */
const OTHER_TYPES = ["prompt", "agent", "http", "mcp_tool"];

/** Timeout of a hook without one, by the documents of its dialect. */
const DEFAULT_TIMEOUT_MS: Readonly<Record<Exclude<HookDialect, "mcp">, number>> = {
  copilot: 30_000,
  agent: 30_000,
  claude: 60_000,
  plugin: 60_000,
};

/** Upper bound for every hook: an agent that waits longer looks dead. */
const MAX_SECONDS = 600;

/** Facts about an entry that stand outside it. */
export interface EntryContext {
  /** The file as people know it, below its folder. */
  readonly name: string;
  readonly dialect: Exclude<HookDialect, "mcp">;
  /** The set of its keys: those of `.github/hooks`, or those inside a matcher group of Claude Code. */
  readonly family: "flat" | "nested";
  /** Name of the moment as written. */
  readonly nativeName: string;
  readonly event: NativeEvent;
  /** Matcher of the group around it. */
  readonly matcher?: string;
  /** The agent it is for, or null for all. */
  readonly agent: string | null;
}

/** Reads one entry; null when it is no command hook, and then the report has the reason. */
export function readEntry(
  value: unknown,
  path: DocumentPath,
  report: DocumentReport,
  { name, dialect, family, nativeName, event, agent, ...group }: EntryContext,
): FileHook | null {
  const entry = new Fields(value, path, report);
  if (!entry.isMap || !isCommand(entry)) return null;
  entry.expectKeys(KEYS[family], "warn");
  const commands = family === "flat" ? flatCommands(entry) : nestedCommand(entry);
  if (Object.keys(commands).length === 0) {
    const hint = family === "flat" ? 'Write "bash" or "command"' : 'Write "command"';
    report.error("hook.no_command", path, { hint });
  }
  const flag = (key: string): boolean => entry.data[key] === null ? false : entry.get(key, FLAG) ?? false;
  const cwd = entry.get("cwd", SOME_TEXT);
  const matcher = entry.get("matcher", TEXT) ?? group.matcher;
  const priority = entry.get("priority", NUMBER);
  const onFailure = entry.choice("onFailure", ["pass", "block"], "wrong_type");
  const where = formatPath(path);
  return {
    id: `${name}:${where.replace(/^hooks\./, "")}`,
    hook: event.hook,
    nativeName,
    dialect,
    file: report.file,
    line: report.placeOf(path, "value").line,
    path: where,
    commands,
    env: envOf(entry),
    timeoutMs: timeoutOf(
      entry,
      family === "flat" ? ["timeoutSec", "timeout"] : ["timeout"],
      DEFAULT_TIMEOUT_MS[dialect],
    ),
    background: flag("async"),
    agent,
    advisory: flag("advisory"),
    ...defined({ cwd, priority, onFailure, matcher: matcher === "" || matcher === "*" ? undefined : matcher }),
  };
}

function isCommand(entry: Fields): boolean {
  const { type } = entry.data;
  if (type === "command") return true;
  if (typeof type === "string" && OTHER_TYPES.includes(type)) {
    const message = `A hook of type ${shown(type)} is left out: only commands run here`;
    entry.report.warn("hook.type_unsupported", entry.at("type"), { message });
    return false;
  }
  const message = type === undefined ? "A hook has no type" : `${shown(type)} is no type of hook`;
  const hint = 'Write "type": "command"';
  entry.error(type === undefined ? "missing_field" : "type_unknown", "type", { message, hint });
  return false;
}

function flatCommands(entry: Fields): HookCommands {
  const bash = entry.get("bash", SOME_TEXT) ?? entry.get("linux", SOME_TEXT);
  const powershell = entry.get("powershell", SOME_TEXT) ?? entry.get("windows", SOME_TEXT);
  const command = entry.get("command", SOME_TEXT);
  return defined({ bash, powershell, command });
}

/** Returns a command of Claude Code: shell text, or words that no shell takes apart. */
function nestedCommand(entry: Fields): HookCommands {
  const { command, args, shell } = entry.data;
  const isPlain = !Array.isArray(command) && args === undefined;
  const words = [command, args ?? []].flat();
  let script: string | undefined;
  if (isPlain) script = entry.get("command", SOME_TEXT);
  else if ((args === undefined || args === null || Array.isArray(args)) && words.every(isWord)) {
    script = words.map(shellWord).join(" ");
  } else {
    const message = "A command is neither a text nor a list of texts";
    entry.error("wrong_type", Array.isArray(args ?? []) ? "command" : "args", { message });
  }
  if (script === undefined) return {};
  return shell === "powershell" ? { powershell: script } : { bash: script };
}

const isWord = (word: unknown): word is string => typeof word === "string" && word !== "";

function envOf(entry: Fields): Record<string, string> {
  const env = entry.fields("env");
  return Object.fromEntries(
    Object.entries(env.data).flatMap(([name, value]): [string, string][] => {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith("LD_")) {
        env.error("env_invalid", name, { message: `${shown(name)} is no variable a hook may set`, part: "key" });
        return [];
      }
      if (typeof value === "string" && !value.includes("\0")) return [[name, value]];
      env.get(name, SOME_TEXT);
      return [];
    }),
  );
}

/** Returns the timeout of an entry in milliseconds. Files give seconds, and absurd values are warned of (X-16). */
function timeoutOf(entry: Fields, keys: readonly string[], defaultMs: number): number {
  const key = keys.find((name) => entry.has(name));
  if (key === undefined) return defaultMs;
  const seconds = entry.data[key];
  const warn = (message: string, hint: string): void =>
    entry.report.warn("hook.timeout_absurd", entry.at(key), { message, hint });
  if (typeof seconds !== "number" || seconds <= 0) {
    entry.error("timeout_invalid", key, { message: `A timeout is not a number of seconds above 0: ${shown(seconds)}` });
    return defaultMs;
  }
  if (seconds > MAX_SECONDS) {
    const isMs = seconds >= 1000 && Number.isInteger(seconds / 100);
    const hint = `Write seconds, at most ${MAX_SECONDS}${isMs ? `; ${seconds} ms would be ${seconds / 1000}` : ""}`;
    warn(`${seconds} seconds is longer than any hook gets: ${MAX_SECONDS} are used`, hint);
    return MAX_SECONDS * 1000;
  }
  if (seconds < 0.1) {
    warn(`${seconds} seconds is less than a shell takes to start`, "Write seconds: 1 is the least that makes sense");
  }
  return Math.max(1, seconds * 1000);
}
