/**
 * What hosts call the moments of an agent's life, and which portable moment each name means (B-003).
 *
 * @module
 */
import type { PortableHookName } from "../portable/types.ts";

/** The portable moments, in the order of a session. */
export const PORTABLE_HOOKS: readonly PortableHookName[] = [
  "SessionStart",
  "UserPromptSubmitted",
  "PreToolUse",
  "PostToolUse",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "OnError",
  "OnBudgetExceeded",
  "SessionEnd",
];

/** What a native name means. */
export interface NativeEvent {
  /** The portable moment. */
  readonly hook: PortableHookName;
  /** Its end of a turn in some hosts, its end of the session in the portable model. */
  readonly isTurnEnd?: true;
  /** Only when the tool failed. */
  readonly failuresOnly?: true;
}

const EVENTS: ReadonlyMap<string, NativeEvent> = new Map<string, NativeEvent>([
  ...PORTABLE_HOOKS.flatMap((hook): [string, NativeEvent][] => [
    [hook, { hook }],
    [hook.charAt(0).toLowerCase() + hook.slice(1), { hook }],
  ]),
  ["Stop", { hook: "SessionEnd", isTurnEnd: true }],
  ["stop", { hook: "SessionEnd", isTurnEnd: true }],
  ["agentStop", { hook: "SessionEnd", isTurnEnd: true }],
  ["UserPromptSubmit", { hook: "UserPromptSubmitted" }],
  ["userPromptSubmit", { hook: "UserPromptSubmitted" }],
  ["errorOccurred", { hook: "OnError" }],
  ["ErrorOccurred", { hook: "OnError" }],
  ["PostToolUseFailure", { hook: "PostToolUse", failuresOnly: true }],
  ["postToolUseFailure", { hook: "PostToolUse", failuresOnly: true }],
]);

/** Names that Claude Code, VS Code or Copilot fire and that no moment here answers to. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...["Notification", "notification", "PermissionRequest", "permissionRequest", "PermissionDenied", "Setup"],
  ...["ConfigChange", "CwdChanged", "FileChanged", "InstructionsLoaded", "PostToolBatch", "StopFailure"],
  ...["TaskCreated", "TaskCompleted", "TeammateIdle", "UserPromptExpansion", "WorktreeCreate", "WorktreeRemove"],
  ...["Elicitation", "ElicitationResult"],
]);

/** What other hosts are told apart by: moments that only they have. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^(before|after)(Shell|MCP|Read|Submit|File|Tab|Agent)/, "Cursor"],
  [/^(pre|post)_[a-z_]+$/, "Windsurf"],
];

/** Moments that only this host fires, or code and MCP tools elsewhere. */
const EXTENSIONS: ReadonlySet<PortableHookName> = new Set(["PostCompact", "OnBudgetExceeded"]);

/** Moments that cloud agents do not have. */
const NOT_IN_THE_CLOUD: ReadonlySet<PortableHookName> = new Set(["SubagentStart", "SubagentStop", "PreCompact"]);

/** Every name that is understood. */
export const NATIVE_NAMES: readonly string[] = [...EVENTS.keys()];

/** Returns what a native or portable name means, or null when it means nothing here. */
export function nativeEvent(name: string): NativeEvent | null {
  return EVENTS.get(name) ?? null;
}

/** Whether another host fires this moment and this one never does. */
export function isElsewhere(name: string): boolean {
  return ELSEWHERE.has(name);
}

/** Returns the host whose name for a moment this is, when it is one whose files are not read here; else null. */
export function foreignHost(name: string): string | null {
  return FOREIGN.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** Whether native hosts leave this moment out. */
export function isExtension(hook: PortableHookName): boolean {
  return EXTENSIONS.has(hook);
}

/** Whether a cloud agent fires this moment. */
export function isInTheCloud(hook: PortableHookName): boolean {
  return !NOT_IN_THE_CLOUD.has(hook) && !EXTENSIONS.has(hook);
}

const NATIVE: Readonly<Record<"copilot" | "claude", Readonly<Partial<Record<PortableHookName, string>>>>> = {
  copilot: {
    SessionStart: "SessionStart",
    SessionEnd: "Stop",
    UserPromptSubmitted: "UserPromptSubmit",
    PreToolUse: "preToolUse",
    PostToolUse: "postToolUse",
    SubagentStart: "SubagentStart",
    SubagentStop: "SubagentStop",
    PreCompact: "PreCompact",
    OnError: "errorOccurred",
  },
  claude: {
    SessionStart: "SessionStart",
    SessionEnd: "SessionEnd",
    UserPromptSubmitted: "UserPromptSubmit",
    PreToolUse: "PreToolUse",
    PostToolUse: "PostToolUse",
    SubagentStart: "SubagentStart",
    SubagentStop: "SubagentStop",
    PreCompact: "PreCompact",
  },
};

/**
 * Returns what a host calls a portable moment, or null when it has none.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(nativeName("SessionEnd", "copilot"), "Stop");
 * assert.equal(nativeName("OnBudgetExceeded", "copilot"), null);
 * ```
 */
export function nativeName(hook: PortableHookName, host: "copilot" | "claude"): string | null {
  return NATIVE[host][hook] ?? null;
}
