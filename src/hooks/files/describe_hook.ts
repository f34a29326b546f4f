/**
 * A hook in plain words, for whoever is asked to trust it.
 *
 * @module
 */
import type { PortableHookName } from "../engine/types.ts";
import type { HookSettings } from "../../core/project/hook_settings.ts";
import type { HookGate, McpHook } from "./types.ts";
import type { LoadedHook } from "./load_hook_files.ts";

const WHEN: Readonly<Record<PortableHookName, string>> = {
  SessionStart: "when a session starts",
  SessionEnd: "when a session ends",
  UserPromptSubmitted: "at each prompt, before the agent sees it",
  PreToolUse: "before each call of a tool",
  PostToolUse: "after each call of a tool",
  SubagentStart: "when a subagent starts",
  SubagentStop: "when a subagent ends",
  PreCompact: "before the context is made smaller",
  PostCompact: "after the context was made smaller",
  OnError: "when something fails",
  OnBudgetExceeded: "when the token budget runs out",
};

/** Returns when and how a hook runs, in one sentence. */
export function describeHook(hook: LoadedHook): string {
  const { matcher, condition, agent, timeoutMs, background, advisory } = hook;
  const parts = [
    `Runs ${WHEN[hook.hook]}`,
    ...(matcher === undefined ? [] : [`that matches ${matcher}`]),
    ...(condition === undefined ? [] : [`if it fits ${condition}`]),
    ...(agent === null ? [] : [`of the agent "${agent}"`]),
  ];
  const limits = [
    `for at most ${timeoutMs / 1000} s`,
    ...(background ? ["in the background"] : []),
    ...(advisory ? ["as advice only"] : []),
  ];
  return `${parts.join(" ")}, ${limits.join(", ")}`;
}

/** Returns the steps that a gate blocks while its file is not as it was trusted. */
export function describeGate({ hook, matcher, agent }: HookGate): string {
  const whose = agent === null ? "" : ` of the agent "${agent}"`;
  return `${hook}${matcher === undefined ? "" : ` that matches ${matcher}`}${whose}`;
}

/** Returns when a tool of an MCP server is called, in one sentence. */
export function describeTool({ tool, hook }: McpHook): string {
  return `Calls the MCP tool ${tool} ${WHEN[hook]}`;
}

/** Returns what hooks may do in their cage, a line each. */
export function describeCage(dir: string, settings: HookSettings): string[] {
  const { network, readable, writable, env, git_writable } = settings;
  return [
    `Can read, change and delete everything under ${dir}${git_writable ? "" : ", but for .git, which it can read"}`,
    ...readable.map((path) => `Can read everything under ${path}`),
    ...writable.map((path) => `Can read, change and delete everything under ${path}`),
    ...(network.length === 0 ? ["Has no network"] : network.map((host) => `Can connect to ${host}`)),
    ...(env.length === 0 ? [] : [`Gets these variables of yours: ${env.join(", ")}`]),
    "Can start the system's programs; sees nothing else of this machine",
  ];
}
