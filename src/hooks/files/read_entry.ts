/**
 * One hook as a file writes it, by the keys of its dialect.
 *
 * @module
 */
import { type DocumentReport, formatPath } from "../../core/documents/document_report.ts";
import { Fields, FLAG, LIST, NUMBER, SOME_TEXT, TEXT } from "../../core/documents/fields.ts";
import type { DocumentPath } from "../../core/documents/places.ts";
import { defined } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { type CommandDialect, DIALECTS } from "./dialects/all.ts";
import type { DialectEvent, DialectSpec, EntryKeys } from "./dialects/types.ts";
import { readAction } from "./read_action.ts";
import { shellWord } from "./shell_words.ts";
import type { FileHook, HookCommands, UnusedHook } from "./types.ts";

/** Keys that this host adds to the native formats. */
const ADDED = ["priority", "advisory", "onFailure"];
/** Keys that all agents have, or that other agents' files carry along. */
const SHARED = ["type", "matcher", "command", "args", "shell", "async", "if", ...ADDED];
/** Keys of types that are no commands. */
const OF_TYPES = ["url", "headers", "allowedEnvVars", "server", "tool", "input", "prompt", "model"];
/** Types of any agent: one that a dialect does not have is left out, one that nobody has is a mistake. */
const TYPES = ["prompt", "agent", "http", "mcp_tool"];

/** Upper bound for every hook: an agent that waits longer looks dead. */
const MAX_SECONDS = 600;

/** Facts about an entry that stand outside it. */
export interface EntryContext {
  /** The file as people know it, below its folder. */
  readonly name: string;
  readonly dialect: CommandDialect;
  /** Name of the moment as written. */
  readonly nativeName: string;
  readonly event: DialectEvent;
  /** Matcher of the group around it. */
  readonly matcher?: string;
  /** The agent it is for, or null for all. */
  readonly agent: string | null;
}

/** An entry that was read: a hook, one that cannot run here, or nothing once the report has the reason. */
export type EntryRead = { readonly hook: FileHook } | { readonly unused: UnusedHook } | null;

/** Reads one entry of a list, by the keys of its dialect. */
export function readEntry(
  value: unknown,
  path: DocumentPath,
  report: DocumentReport,
  context: EntryContext,
): EntryRead {
  const { name, dialect, nativeName, event, agent } = context;
  const spec = DIALECTS[dialect];
  const entry = new Fields(value, path, report);
  if (!entry.isMap) return null;
  const where = formatPath(path);
  const id = `${name}:${where.replace(/^hooks\./, "")}`;
  const { line } = report.placeOf(path, "value");
  const unused = (reason: string): EntryRead => ({ unused: { id, line, reason } });
  const type = typeOf(entry, spec);
  if (type === null) return null;
  if ("leftOut" in type) return unused(type.leftOut);
  entry.expectKeys(keysOf(spec.entry), "warn");
  warnOfUndone(entry, spec.entry);
  const action = type.is === "command" ? null : readAction(entry, type.is);
  if (type.is !== "command" && action === null) return null;
  const never = action === null ? null : neverAt(action.type, event);
  if (never !== null) return unused(never);
  const commands = action ? {} : commandsOf(entry, spec.entry);
  if (action === null && Object.keys(commands).length === 0) {
    const hint = spec.entry.shape === "nested" ? 'Write "command"' : 'Write "bash" or "command"';
    report.error("hook.no_command", path, { hint });
  }
  const condition = entry.get("if", SOME_TEXT);
  if (condition !== undefined && event.matches !== "tool") {
    return unused(`It has an "if", and hooks with one run at calls of tools only`);
  }
  const flag = (key: string): boolean => entry.data[key] === null ? false : entry.get(key, FLAG) ?? false;
  const cwd = spec.entry.cwd === undefined ? undefined : entry.get(spec.entry.cwd, SOME_TEXT);
  const matcher = entry.get("matcher", TEXT) ?? context.matcher;
  const priority = entry.get("priority", NUMBER);
  const isClosed = dialect === "cursor" && flag("failClosed");
  const onFailure = entry.choice("onFailure", ["pass", "block"], "wrong_type") ?? (isClosed ? "block" : undefined);
  const isAll = matcher === "" || matcher === "*" || matcher === "**";
  const hook: FileHook = {
    id,
    hook: event.hook,
    nativeName,
    dialect,
    file: report.file,
    line,
    path: where,
    commands,
    env: spec.entry.env === undefined ? {} : envOf(entry, spec.entry.env),
    timeoutMs: timeoutOf(entry, spec, event, action?.type),
    background: (flag("async") || flag("asyncRewake")) && !event.waits,
    ...(flag("asyncRewake") && !event.waits && { rewakes: true }),
    agent,
    advisory: flag("advisory"),
    ...(action && { action }),
    ...defined({ condition, cwd, priority, onFailure, matcher: isAll ? undefined : matcher }),
  };
  return { hook };
}

function keysOf(keys: EntryKeys): string[] {
  const { bash, powershell, command, program, timeout, idle, types } = keys;
  const own = [bash, powershell, command, program, timeout, idle, Object.keys(keys.undone ?? {})].flat();
  const others = Object.values(types).includes("runs") ? OF_TYPES : [];
  const places = [keys.cwd, keys.env].filter((key) => key !== undefined);
  return [...new Set([...SHARED, ...own, ...others, ...places])];
}

/** Returns why an action never runs at a moment, there or here, or null. */
function neverAt(type: string, { hook, exit2 }: DialectEvent): string | null {
  if (type === "http" && hook === "SessionStart") return 'Hooks of type "http" do not run at the start of a session';
  const isQuestion = type === "prompt" || type === "agent";
  if (!isQuestion || exit2 === "block" || exit2 === "tell") return null;
  return `Hooks of type "${type}" do not run at this moment: nothing would follow from the answer`;
}

/** Returns the type of an entry, or why it is left out; null once the report has a mistake. */
function typeOf(
  entry: Fields,
  { entry: { type: usual, types }, title }: DialectSpec,
): { readonly is: string } | { readonly leftOut: string } | null {
  const type = entry.data["type"] ?? usual;
  if (type === "command") return { is: "command" };
  const known = typeof type === "string" && Object.hasOwn(types, type) ? types[type] : undefined;
  if (known === "runs") return { is: String(type) };
  if (known !== undefined || (typeof type === "string" && TYPES.includes(type))) {
    const leftOut = `A hook of type ${shown(type)} is left out: ${known ?? `${title} has no such hooks`}`;
    entry.report.warn("hook.type_unsupported", entry.at("type"), { message: leftOut });
    return { leftOut };
  }
  const isMissing = type === null || type === undefined;
  const message = isMissing ? "A hook has no type" : `${shown(type)} is no type of hook`;
  entry.error(isMissing ? "missing_field" : "type_unknown", "type", { message, hint: 'Write "type": "command"' });
  return null;
}

function warnOfUndone(entry: Fields, { undone = {} }: EntryKeys): void {
  for (const [key, reason] of Object.entries(undone)) {
    if (!entry.has(key)) continue;
    const message = `The key ${shown(key)} is not read: ${reason}`;
    entry.report.warn("hook.unknown_key", entry.at(key), {
      message,
      hint: "Leave it: other hosts read it",
      part: "key",
    });
  }
}

/** Returns the commands of an entry by their shells: shell text, or words that no shell takes apart. */
function commandsOf(entry: Fields, keys: EntryKeys): HookCommands {
  const first = (names: readonly string[]): string | undefined => {
    const key = names.find((name) => entry.has(name));
    return key === undefined ? undefined : entry.get(key, SOME_TEXT);
  };
  const { shell, args } = entry.data;
  const program = keys.program.find((name) => entry.has(name)) ?? keys.command[0]!;
  const isWords = Array.isArray(entry.data[program]) || (args !== undefined && entry.has(program));
  const words = isWords ? wordsOf(entry, program) : undefined;
  const command = words ?? (isWords ? undefined : first(keys.command));
  const powershell = first(keys.powershell);
  if (shell === "powershell") return defined({ powershell: powershell ?? command });
  const isNested = keys.shape === "nested";
  return defined({
    bash: first(keys.bash) ?? (isNested ? command : undefined),
    powershell,
    command: isNested ? undefined : command,
  });
}

/** Returns a program and its arguments as shell text. */
function wordsOf(entry: Fields, key: string): string | undefined {
  const { args = null } = entry.data;
  const words = [entry.data[key], args ?? []].flat();
  if ((args === null || LIST.fits(args)) && words.every(isWord)) return words.map(filledWord).join(" ");
  const message = "A command is neither a text nor a list of texts";
  entry.error("wrong_type", Array.isArray(args ?? []) ? key : "args", { message });
  return undefined;
}

/** A word in which nothing is the shell's to read but the folders that Claude Code fills in itself. */
function filledWord(word: string): string {
  const parts = word.split(/(\$\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\})/).filter((part) => part !== "");
  return parts.map((part) => part.startsWith("${CLAUDE_") ? `"${part}"` : shellWord(part)).join("");
}

const isWord = (word: unknown): word is string => typeof word === "string" && word !== "";

function envOf(entry: Fields, key: string): Record<string, string> {
  const env = entry.fields(key);
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

/** Questions to a model take less time than programs may. */
const TYPE_TIMEOUTS: Readonly<Record<string, number>> = { prompt: 30_000, agent: 60_000 };

/** Returns the timeout of an entry in milliseconds. Absurd values are warned of (X-16). */
function timeoutOf(entry: Fields, spec: DialectSpec, event: DialectEvent, type = "command"): number {
  const { timeout: keys, unitMs } = spec.entry;
  const defaultMs = TYPE_TIMEOUTS[type] ?? event.timeoutMs ?? spec.timeoutMs;
  const maxMs = event.maxTimeoutMs ?? MAX_SECONDS * 1000;
  const key = keys.find((name) => entry.has(name));
  if (key === undefined) return defaultMs;
  const given = entry.data[key];
  const unit = unitMs === 1 ? "milliseconds" : "seconds";
  const warn = (message: string, hint: string): void =>
    entry.report.warn("hook.timeout_absurd", entry.at(key), { message, hint });
  if (typeof given !== "number" || given <= 0) {
    entry.error("timeout_invalid", key, { message: `A timeout is not a number of ${unit} above 0: ${shown(given)}` });
    return defaultMs;
  }
  const ms = given * unitMs;
  if (ms > maxMs) {
    const isMs = unitMs !== 1 && given >= 1000 && Number.isInteger(given / 100);
    const hint = `Write ${unit}, at most ${maxMs / unitMs}${isMs ? `; ${given} ms would be ${given / 1000}` : ""}`;
    warn(`${given} ${unit} is longer than such a hook gets: ${maxMs / unitMs} are used`, hint);
    return maxMs;
  }
  if (ms < 100) {
    const least = `1 second is the least that makes sense, ${1000 / unitMs} in ${unit}`;
    warn(`${given} ${unit} is less than a shell takes to start`, `Write ${unit}: ${least}`);
  }
  return Math.max(1, ms);
}
