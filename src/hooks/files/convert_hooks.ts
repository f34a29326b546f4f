/**
 * A hook file in the words of another dialect, with everything that is not the same there.
 *
 * @module
 */
import { yamlText } from "../../core/documents/edit_yaml.ts";
import { nativeName } from "./event_names.ts";
import { shellWord } from "./shell_words.ts";
import type { FileHook, HookDialect, ParsedHookFile } from "./types.ts";

/** Dialects that hooks can be written in. */
export type ConvertTarget = "copilot" | "claude" | "plugin" | "agent";

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

const FAMILY: Readonly<Record<HookDialect, "copilot" | "claude" | "mcp">> = {
  copilot: "copilot",
  agent: "copilot",
  claude: "claude",
  plugin: "claude",
  mcp: "mcp",
};

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
  const events: Record<string, unknown[]> = {};
  let carried = 0;
  for (const hook of parsed.hooks) {
    const name = nameIn(hook, to);
    if (name === null) {
      note(hook, "lost", `${to} has no moment for ${hook.hook}`);
      continue;
    }
    const entry = entryIn(hook, to, note);
    if (entry === null) continue;
    (events[name] ??= []).push(entry);
    carried++;
    noteDifferences(hook, name, to, note);
  }
  return { text: await textOf(events, to, agent ?? parsed.hooks[0]?.agent ?? "agent"), carried, notes };
}

function nameIn({ hook, nativeName: own, dialect }: FileHook, to: ConvertTarget): string | null {
  const family = FAMILY[to] as "copilot" | "claude";
  if (family === FAMILY[dialect]) return own;
  return nativeName(hook, family);
}

/** Returns one hook as its text will have it, or null when nothing of it can be carried over. */
function entryIn(hook: FileHook, to: ConvertTarget, note: Note): unknown {
  const { commands, env, cwd, matcher, timeoutMs, background, priority, onFailure, advisory } = hook;
  // Fields that are undefined are left out of the text.
  const ours = { priority, onFailure, advisory: advisory || undefined };
  const timeout = timeoutMs / 1000;
  const hasEnv = Object.keys(env).length > 0;
  if (FAMILY[to] === "copilot") {
    if (background) note(hook, "lost", '"async": the agent waits for it there');
    return { type: "command", ...commands, cwd, env: hasEnv ? env : undefined, matcher, timeoutSec: timeout, ...ours };
  }
  const script = commands.bash ?? commands.command;
  if (script === undefined) {
    note(hook, "lost", "It is written for PowerShell only");
    return null;
  }
  if (commands.powershell !== undefined) note(hook, "lost", `"powershell": ${to} has one command`);
  if (FAMILY[hook.dialect] === "copilot") {
    const isElsewhere = cwd !== undefined && cwd !== ".";
    for (const [key, isThere] of [["cwd", isElsewhere], ["env", hasEnv]] as const) {
      if (isThere) note(hook, "changed", `"${key}": it has become part of the command`);
    }
  }
  const command = inFolder(withVariables(script, env), cwd);
  return { matcher, hooks: [{ type: "command", command, timeout, async: background || undefined, ...ours }] };
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
  const [from, family] = [FAMILY[hook.dialect], FAMILY[to]];
  if (hook.agent !== null && to !== "agent") {
    note(hook, "changed", `It is for every agent there, not for "${hook.agent}"`);
  }
  if (hook.agent === null && to === "agent") note(hook, "changed", "It is for this one agent there, not for all");
  if (from === family) return;
  if (/^[a-z]/.test(name) || /^[a-z]/.test(hook.nativeName)) {
    note(hook, "changed", `Fields on stdin have other names at ${name} than at ${hook.nativeName}`);
  }
  const script = hook.commands.bash ?? hook.commands.command ?? "";
  if (family === "copilot" && /\bCLAUDE_[A-Z_]+/.test(script)) {
    note(hook, "changed", `The command uses ${/\bCLAUDE_[A-Z_]+/.exec(script)![0]}, which other hosts do not set`);
  }
  if (family === "copilot" && hook.matcher !== undefined) {
    note(hook, "changed", '"matcher": hosts that do not read it run the hook for every tool');
  }
}

async function textOf(events: Record<string, unknown[]>, to: ConvertTarget, agent: string): Promise<string> {
  if (to === "copilot") return `${JSON.stringify({ version: 1, hooks: events }, null, 2)}\n`;
  if (to !== "agent") return `${JSON.stringify({ hooks: events }, null, 2)}\n`;
  return `---\n${await yamlText({ name: agent, hooks: events })}---\n`;
}
