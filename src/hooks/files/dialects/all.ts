/**
 * Every dialect by its name, and the moments that hooks of each may be for.
 *
 * @module
 */
import type { HookDialect } from "../types.ts";
import { nativeEvent } from "../event_names.ts";
import type { PortableHookName } from "../../engine/types.ts";
import { CLAUDE, CLAUDE_EVENTS } from "./claude.ts";
import { CODEX } from "./codex.ts";
import { COPILOT, VSCODE } from "./copilot.ts";
import { CURSOR } from "./cursor.ts";
import { GEMINI } from "./gemini.ts";
import { OPENCODE } from "./opencode.ts";
import { mcpParts, type ToolKind, toolKinds, toolNameIn } from "./tool_names.ts";
import type { DialectEvent, DialectSpec } from "./types.ts";
import { WINDSURF } from "./windsurf.ts";

/** A dialect whose hooks are commands; hooks of an `mcp.json` are tools. */
export type CommandDialect = Exclude<HookDialect, "mcp">;

/** Dialects by name. A plugin's file is Claude Code's, the front matter of an agent is VS Code's. */
export const DIALECTS: Readonly<Record<CommandDialect, DialectSpec>> = {
  copilot: COPILOT,
  agent: COPILOT,
  claude: CLAUDE,
  plugin: CLAUDE,
  codex: CODEX,
  cursor: CURSOR,
  gemini: GEMINI,
  windsurf: WINDSURF,
  opencode: OPENCODE,
};

const KINDS = toolKinds(new Set(Object.values(DIALECTS)));

/** Moments of this host alone, and the portable names of others: in any file, with the fields of Claude Code. */
const PORTABLE: Readonly<Partial<Record<PortableHookName, DialectEvent>>> = {
  UserPromptSubmitted: { ...CLAUDE_EVENTS.UserPromptSubmit, may: ["input", "context"] },
  OnError: {
    ...CLAUDE_EVENTS.PostToolUseFailure,
    only: [],
    exit2: "block",
    may: ["output", "context"],
  },
  PostCompact: { ...CLAUDE_EVENTS.PostCompact, exit2: "block", stop: "block", may: ["output", "context"] },
  OnBudgetExceeded: {
    hook: "OnBudgetExceeded",
    matches: null,
    exit2: "block",
    may: ["context"],
    fields: { ...CLAUDE_EVENTS.SessionEnd.fields, "...": "details" },
  },
};

/** Dialects whose files may also have the portable names, and those of one another. */
const TAKES_PORTABLE: ReadonlySet<DialectSpec> = new Set([CLAUDE, COPILOT]);

/** Returns what a moment means in a dialect, or null when it means nothing here. */
export function dialectEvent(dialect: CommandDialect, name: string): DialectEvent | null {
  const spec = DIALECTS[dialect];
  if (Object.hasOwn(spec.events, name)) return spec.events[name]!;
  const portable = TAKES_PORTABLE.has(spec) ? nativeEvent(name) : null;
  if (portable === null) return null;
  const { hook, isTurnEnd } = portable;
  if (isTurnEnd) return CLAUDE_EVENTS.Stop;
  const isMeant = (event: DialectEvent): boolean => event.hook === hook && !event.turnEnd;
  return PORTABLE[hook] ?? Object.values<DialectEvent>(CLAUDE_EVENTS).find(isMeant) ?? null;
}

/** Marks the registration of a hook of the end of a turn, as the engine reads it. */
export function turnEndIn(hook: Parameters<typeof eventOf>[0]): { readonly turnEnd?: true } {
  return eventOf(hook).turnEnd ? { turnEnd: true } : {};
}

/** Returns the moment of a hook that was read from a file. */
export function eventOf(
  { dialect, nativeName, hook }: {
    readonly dialect: CommandDialect;
    readonly nativeName: string;
    readonly hook: PortableHookName;
  },
): DialectEvent {
  const event = dialectEvent(dialect, nativeName);
  // A gate that trust.json remembers may be of a moment that is no longer read: it holds at every event of its hook.
  return event ?? { hook, matches: "tool", exit2: "block", may: [], fields: {} };
}

/** Names of a tool for a hook. */
export interface ToolNames {
  /** The one that the hook's dialect has for it. */
  readonly native: string;
  /** All that a matcher may have: the loop's own, and those of the dialect. */
  readonly all: readonly string[];
  readonly kind: ToolKind | null;
  readonly mcp: ReturnType<typeof mcpParts>;
}

/** Returns the names of a tool for a hook of a dialect. */
export function toolNames(
  tool: string,
  { dialect, nativeName }: { readonly dialect: CommandDialect; readonly nativeName: string },
): ToolNames {
  const isCapital = /^[A-Z]/.test(nativeName);
  const naming = DIALECTS[dialect] === COPILOT && isCapital ? VSCODE : DIALECTS[dialect];
  const kind = KINDS.get(tool) ?? null;
  const native = toolNameIn(naming, tool, KINDS);
  const others = naming.isOneTool && kind !== null ? naming.tools[kind] ?? [] : [];
  return { native, all: [...new Set([tool, native, ...others])], kind, mcp: kind === null ? mcpParts(tool) : null };
}
