/**
 * One command hook as a file writes it. Both families of files share this: what differs is which keys there are.
 *
 * @module
 */
import { typeName } from "../../core/project/values.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { type DocumentPath, type DocumentReport, formatPath } from "../../core/documents/document_report.ts";
import type { NativeEvent } from "./event_names.ts";
import { DEFAULT_TIMEOUT_MS, readTimeout } from "./hook_timeout.ts";
import { shellWord } from "./shell_words.ts";
import type { FileHook, HookCommands, HookDialect } from "./types.ts";

/** Keys of the native formats, and the few that this host adds to them. */
const SHARED = [
  "type",
  "command",
  "timeout",
  "env",
  "cwd",
  "matcher",
  "description",
  "priority",
  "advisory",
  "onFailure",
];
const KEYS: Readonly<Record<"flat" | "nested", readonly string[]>> = {
  flat: [...SHARED, "bash", "powershell", "timeoutSec", "windows", "linux", "osx", "comment"],
  nested: [...SHARED, "args", "shell", "async", "statusMessage", "once"],
};
/** Types that Claude Code has and that need a model, a server or the network: never a command. */
const OTHER_TYPES = ["prompt", "agent", "http", "mcp_tool"];

/** What is known of an entry before it is read. */
export interface EntryContext {
  /** The file, absolute. */
  readonly file: string;
  /** The file as people know it, below its folder. */
  readonly name: string;
  /** Kind of the file. */
  readonly dialect: Exclude<HookDialect, "mcp">;
  /** Which keys there are: those of `.github/hooks`, or those inside a matcher group of Claude Code. */
  readonly family: "flat" | "nested";
  /** The moment as written. */
  readonly nativeName: string;
  /** What it means. */
  readonly event: NativeEvent;
  /** Matcher of the group around it. */
  readonly matcher?: string;
  /** The agent it is for, or null. */
  readonly agent: string | null;
  /** Where issues go. */
  readonly report: DocumentReport;
}

/** Reads one entry; null when it is no command hook, for which the report says why. */
export function readEntry(entry: unknown, path: DocumentPath, context: EntryContext): FileHook | null {
  const { report, family, dialect, event, file, name } = context;
  if (!isMap(entry)) {
    report.error("hook.wrong_type", path, { message: `Expected a hook, which is a map, got ${typeName(entry)}` });
    return null;
  }
  if (!isCommand(entry, path, report)) return null;
  warnOfKeys(entry, KEYS[family], path, report);
  const commands = commandsOf(entry, path, context);
  if (Object.keys(commands).length === 0) {
    const hint = family === "flat" ? 'Write "bash" or "command"' : 'Write "command"';
    report.error("hook.no_command", path, { hint });
  }
  const cwd = text(entry, "cwd", path, report);
  const matcher = text(entry, "matcher", path, report) ?? context.matcher;
  const priority = entry["priority"];
  if (priority !== undefined && !Number.isFinite(priority)) {
    report.error("hook.wrong_type", [...path, "priority"], { message: "A priority is not a number" });
  }
  const where = formatPath(path);
  return {
    id: `${name}:${where.replace(/^hooks\./, "")}`,
    hook: event.hook,
    nativeName: context.nativeName,
    dialect,
    file,
    line: report.placeOf(path, "value").line,
    path: where,
    commands,
    ...(cwd !== undefined && { cwd }),
    env: envOf(entry, path, report),
    timeoutMs: readTimeout(entry, path, {
      keys: family === "flat" ? ["timeoutSec", "timeout"] : ["timeout"],
      defaultMs: DEFAULT_TIMEOUT_MS[dialect],
      report,
    }),
    ...(matcher !== undefined && matcher !== "" && matcher !== "*" && { matcher }),
    background: flag(entry, "async", path, report),
    agent: context.agent,
    ...(typeof priority === "number" && { priority }),
    ...onFailureOf(entry, path, report),
    advisory: flag(entry, "advisory", path, report),
  };
}

function isCommand(entry: Record<string, unknown>, path: DocumentPath, report: DocumentReport): boolean {
  const type = entry["type"];
  if (type === "command") return true;
  if (typeof type === "string" && OTHER_TYPES.includes(type)) {
    const message = `A hook of type ${shown(type)} is left out: only commands run here`;
    report.warn("hook.type_unsupported", [...path, "type"], { message });
    return false;
  }
  const message = type === undefined ? "A hook has no type" : `${shown(type)} is no type of hook`;
  report.error(type === undefined ? "hook.missing_field" : "hook.type_unknown", [...path, "type"], {
    message,
    hint: 'Write "type": "command"',
  });
  return false;
}

function commandsOf(entry: Record<string, unknown>, path: DocumentPath, context: EntryContext): HookCommands {
  const { report, family } = context;
  if (family === "nested") {
    const command = nestedCommand(entry, path, report);
    if (command === undefined) return {};
    return entry["shell"] === "powershell" ? { powershell: command } : { bash: command };
  }
  const bash = text(entry, "bash", path, report) ?? text(entry, "linux", path, report);
  const powershell = text(entry, "powershell", path, report) ?? text(entry, "windows", path, report);
  const command = text(entry, "command", path, report);
  return {
    ...(bash !== undefined && { bash }),
    ...(powershell !== undefined && { powershell }),
    ...(command !== undefined && { command }),
  };
}

/** A command of Claude Code: shell text, or words that no shell takes apart. */
function nestedCommand(
  entry: Record<string, unknown>,
  path: DocumentPath,
  report: DocumentReport,
): string | undefined {
  const { command } = entry;
  const args = entry["args"] ?? [];
  const words = [...(Array.isArray(command) ? command : [command]), ...(Array.isArray(args) ? args : [null])];
  const isPlain = !Array.isArray(command) && entry["args"] === undefined;
  if (isPlain) return text(entry, "command", path, report);
  if (words.every((word): word is string => typeof word === "string" && word !== "")) {
    return words.map(shellWord).join(" ");
  }
  report.error("hook.wrong_type", [...path, Array.isArray(args) ? "command" : "args"], {
    message: "A command is neither a text nor a list of texts",
  });
  return undefined;
}

function text(
  entry: Record<string, unknown>,
  key: string,
  path: DocumentPath,
  report: DocumentReport,
): string | undefined {
  const value = Object.hasOwn(entry, key) ? entry[key] : undefined;
  if (value === undefined) return undefined;
  if (typeof value === "string" && !value.includes("\0") && (value.trim() !== "" || key === "matcher")) return value;
  const message = typeof value === "string"
    ? "The text is empty, or holds a NUL"
    : `Expected a text, got ${typeName(value)}`;
  report.error("hook.wrong_type", [...path, key], { message });
  return undefined;
}

function flag(entry: Record<string, unknown>, key: string, path: DocumentPath, report: DocumentReport): boolean {
  const value = entry[key] ?? false;
  if (typeof value === "boolean") return value;
  report.error("hook.wrong_type", [...path, key], { message: `Expected true or false, got ${typeName(value)}` });
  return false;
}

function onFailureOf(
  entry: Record<string, unknown>,
  path: DocumentPath,
  report: DocumentReport,
): Pick<FileHook, "onFailure"> {
  const value = entry["onFailure"];
  if (value === undefined) return {};
  if (value === "pass" || value === "block") return { onFailure: value };
  report.error("hook.wrong_type", [...path, "onFailure"], {
    message: `Expected "pass" or "block", got ${shown(value)}`,
  });
  return {};
}

function envOf(entry: Record<string, unknown>, path: DocumentPath, report: DocumentReport): Record<string, string> {
  const env = entry["env"] ?? {};
  if (!isMap(env)) {
    report.error("hook.wrong_type", [...path, "env"], { message: `Expected a map, got ${typeName(env)}` });
    return {};
  }
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]): [string, string][] => {
      const at = [...path, "env", name];
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith("LD_")) {
        report.error("hook.env_invalid", at, { message: `${shown(name)} is no variable a hook may set`, part: "key" });
      } else if (typeof value === "string" && !value.includes("\0")) return [[name, value]];
      else report.error("hook.wrong_type", at, { message: `Expected a text, got ${typeName(value)}` });
      return [];
    }),
  );
}

function warnOfKeys(
  entry: Record<string, unknown>,
  known: readonly string[],
  path: DocumentPath,
  report: DocumentReport,
): void {
  for (const key of Object.keys(entry)) {
    if (known.includes(key)) continue;
    report.warn("hook.unknown_key", [...path, key], {
      message: `The key ${shown(key)} is not read`,
      hint: didYouMean(key, known, `Keys here: ${known.join(", ")}`),
      part: "key",
    });
  }
}
