/**
 * A hook file in the words of another dialect, with everything that is not the same there.
 *
 * @module
 */
import { yamlText } from "../../core/documents/edit_yaml.ts";
import { type CommandDialect, dialectEvent, DIALECTS, eventOf } from "./dialects/all.ts";
import { convertedPlaces } from "./convert_places.ts";
import { shellWord } from "./shell_words.ts";
import type { FileHook, ParsedHookFile } from "./types.ts";

/** Dialects that hooks can be written in. */
export type ConvertTarget = Exclude<CommandDialect, "opencode">;

/** Every dialect that hooks can be written in. */
export const CONVERT_TARGETS: readonly ConvertTarget[] = [
  "copilot",
  "claude",
  "plugin",
  "agent",
  "codex",
  "cursor",
  "gemini",
  "windsurf",
];

/** A part of a hook that is not carried over, or means something else there. */
export interface ConversionNote {
  /** Path in the file that was read. */
  readonly path: string;
  readonly line: number;
  /** Whether it is gone, or there and different. */
  readonly kind: "lost" | "changed";
  /** The difference and its reason. */
  readonly text: string;
}

/** A converted file, and how it differs from the first. */
export interface Conversion {
  readonly text: string;
  /** Hooks that were carried over. */
  readonly carried: number;
  /** Differences, in the order of the file. */
  readonly notes: readonly ConversionNote[];
}

type Place = Pick<FileHook, "path" | "line">;
type Note = (place: Place, kind: ConversionNote["kind"], text: string) => void;

/** Writes the hooks of a file in another dialect. `agent` names the agent that an `.agent.md` is for, if not its own. */
export async function convertHooks(
  parsed: ParsedHookFile,
  to: ConvertTarget,
  { agent }: { readonly agent?: string } = {},
): Promise<Conversion> {
  const notes: ConversionNote[] = [];
  const note: Note = ({ path, line }, kind, text) => void notes.push({ path, line, kind, text });
  for (const tool of parsed.tools) {
    note(tool, "lost", `The tool ${tool.tool} cannot be called from ${to}: it is no command`);
  }
  for (const { id, line, reason } of parsed.unused ?? []) note({ path: id, line }, "lost", reason);
  const events: Record<string, unknown[]> = {};
  let carried = 0;
  for (const hook of parsed.hooks) {
    const places = convertedPlaces(hook, to);
    if (places.length === 0) {
      note(hook, "lost", `${to} has no moment for ${hook.hook}`);
      continue;
    }
    const entry = entryIn(hook, to, note);
    if (entry === null) continue;
    for (const { name, matcher } of places) (events[name] ??= []).push(grouped(entry, matcher, to));
    carried++;
    noteDifferences(hook, places.map(({ name }) => name).join(", "), to, note);
    for (const text of new Set(places.flatMap(({ notes }) => notes))) note(hook, "changed", text);
  }
  return { text: await textOf(events, to, agent ?? parsed.hooks[0]?.agent ?? "agent"), carried, notes };
}

/** Returns one hook as its text will have it, or null when nothing of it can be carried over. */
function entryIn(hook: FileHook, to: ConvertTarget, note: Note): Record<string, unknown> | null {
  const { entry: keys, title } = DIALECTS[to];
  const { env, cwd, timeoutMs, background, priority, onFailure, advisory, condition, action } = hook;
  // Fields that are undefined are left out of the text.
  const ours = {
    priority,
    ...(to === "cursor" ? { failClosed: onFailure === "block" || undefined } : { onFailure }),
    advisory: advisory || undefined,
  };
  const [timeoutKey] = keys.timeout;
  if (timeoutKey === undefined) note(hook, "lost", `"timeout": ${title} has none`);
  const time = timeoutKey === undefined ? {} : { [timeoutKey]: timeoutMs / keys.unitMs };
  const hasAsync = keys.shape === "nested" && to !== "gemini";
  if (background && !hasAsync) note(hook, "lost", '"async": the agent waits for it there');
  const isSame = DIALECTS[hook.dialect] === DIALECTS[to];
  if (condition !== undefined && DIALECTS[to] !== DIALECTS.claude) {
    note(hook, "changed", `"if": it runs there at every call, not only at ${condition}`);
  }
  const more = {
    if: DIALECTS[to] === DIALECTS.claude ? condition : undefined,
    async: background && hasAsync ? true : undefined,
    ...time,
    ...ours,
  };
  if (action) {
    if (keys.types[action.type] === "runs") return { ...action, ...more };
    note(hook, "lost", `${title} has no hooks of type "${action.type}"`);
    return null;
  }
  const carries = (key: "cwd" | "env"): boolean => keys[key] !== undefined && !keys.added?.includes(key);
  const hasEnv = Object.keys(env).length > 0;
  const isElsewhere = cwd !== undefined && cwd !== ".";
  for (const [key, isThere] of [["cwd", isElsewhere], ["env", hasEnv]] as const) {
    if (isThere && !carries(key) && !isSame) note(hook, "changed", `"${key}": it has become part of the command`);
  }
  const prefix = (script: string): string =>
    inFolder(carries("env") ? script : withVariables(script, env), carries("cwd") ? undefined : cwd);
  const commands = commandsIn(hook, to, prefix, note);
  if (commands === null) return null;
  return {
    type: to === "windsurf" ? undefined : "command",
    ...commands,
    ...(carries("cwd") && { [keys.cwd!]: cwd }),
    ...(carries("env") && hasEnv && { [keys.env!]: env }),
    ...more,
  };
}

/** Returns the commands of a hook by the keys of the other dialect; null when there is none for a system with bash. */
function commandsIn(
  hook: FileHook,
  to: ConvertTarget,
  prefix: (script: string) => string,
  note: Note,
): Record<string, string> | null {
  const { entry: keys } = DIALECTS[to];
  const { bash, powershell, command } = hook.commands;
  if (keys.bash.length > 0) {
    return Object.fromEntries(
      Object.entries({ bash, powershell, command }).flatMap(([key, script]) =>
        script === undefined ? [] : [[key, prefix(script)]]
      ),
    );
  }
  const script = bash ?? command;
  if (script === undefined) {
    note(hook, "lost", "It is written for PowerShell only");
    return null;
  }
  const [windows] = keys.powershell;
  if (powershell !== undefined && windows === undefined) note(hook, "lost", `"powershell": ${to} has one command`);
  return {
    [keys.command[0]!]: prefix(script),
    ...(powershell !== undefined && windows !== undefined && { [windows]: powershell }),
  };
}

/** Returns an entry with its matcher: beside its keys, or in a group around it. */
function grouped(entry: Record<string, unknown>, matcher: string | undefined, to: ConvertTarget): unknown {
  if (DIALECTS[to].entry.shape === "nested") return { matcher, hooks: [entry] };
  const { type, ...rest } = entry;
  return { type, ...rest, matcher };
}

function withVariables(script: string, env: Readonly<Record<string, string>>): string {
  const names = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)}`);
  return names.length === 0 ? script : `export ${names.join(" ")}; ${script}`;
}

function inFolder(script: string, cwd: string | undefined): string {
  // When the folder is missing, the script ends there: none of its commands may run in another folder.
  return cwd === undefined || cwd === "." ? script : `cd ${shellWord(cwd)} || exit 1; ${script}`;
}

function noteDifferences(hook: FileHook, name: string, to: ConvertTarget, note: Note): void {
  const [from, spec] = [DIALECTS[hook.dialect], DIALECTS[to]];
  if (hook.agent !== null && to !== "agent") {
    note(hook, "changed", `It is for every agent there, not for "${hook.agent}"`);
  }
  if (hook.agent === null && to === "agent") note(hook, "changed", "It is for this one agent there, not for all");
  if (from === spec) return;
  const isCamel = /^[a-z]/.test(name) || /^[a-z]/.test(hook.nativeName);
  if (isCamel || to === "gemini" || hook.dialect === "gemini") {
    note(hook, "changed", `Fields on stdin have other names at ${name} than at ${hook.nativeName}`);
  }
  const blocksThere = name.split(", ").some((one) => dialectEvent(to, one)?.otherExit === "block");
  const blocksHere = eventOf(hook).otherExit === "block";
  if (!hook.action && hook.onFailure === undefined && blocksHere !== blocksThere) {
    const does = blocksThere ? "blocks the step there" : "lets the step pass there";
    note(hook, "changed", `A check that fails, with another exit code than 0 and 2, ${does}`);
  }
  const script = hook.commands.bash ?? hook.commands.command ?? "";
  const [variable] = /\b(?:CLAUDE|CURSOR|GEMINI)_[A-Z_]+/.exec(script) ?? [];
  if (variable !== undefined && !Object.hasOwn(spec.env, variable)) {
    note(hook, "changed", `The command uses ${variable}, which other hosts do not set`);
  }
  if (spec === DIALECTS.copilot && hook.matcher !== undefined) {
    note(hook, "changed", '"matcher": hosts that do not read it run the hook for every tool');
  }
}

async function textOf(events: Record<string, unknown[]>, to: ConvertTarget, agent: string): Promise<string> {
  if (to === "agent") return `---\n${await yamlText({ name: agent, hooks: events })}---\n`;
  const version = DIALECTS[to].version === "optional" ? { version: 1 } : {};
  return `${JSON.stringify({ ...version, hooks: events }, null, 2)}\n`;
}
