/**
 * The moments of a session as hooks of the Claude Agent SDK.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { HostError } from "../core/errors/host_error.ts";
import type { Session } from "../host/types.ts";
import { type DelegateEnded, delegation } from "./session_events.ts";

/** An answer to the SDK. */
export type ClaudeHookOutput =
  | Record<never, never>
  | { decision: "block"; reason: string }
  | { hookSpecificOutput: { hookEventName: "SessionStart" | "UserPromptSubmit"; additionalContext: string } }
  | {
    hookSpecificOutput: {
      hookEventName: "PreToolUse";
      permissionDecision: "deny";
      permissionDecisionReason: string;
    };
  };

/** Callbacks for one event of the SDK. */
export interface ClaudeHookMatcher {
  /** Pattern of the tools it is for. */
  matcher?: string;
  /** Called in their order. */
  hooks: ((input: { readonly hook_event_name: string }) => Promise<ClaudeHookOutput>)[];
  /** Absent: the program goes on when a callback fails. */
  onFailure?: "block";
}

/** Callbacks of a session, by event of the SDK. */
export interface ClaudeHooks {
  /** Adds the text of plugins again where the program fires it: after a compaction. */
  SessionStart: ClaudeHookMatcher[];
  /** Starts the session, adds the text of plugins to the first prompt, and records prompts. */
  UserPromptSubmit: ClaudeHookMatcher[];
  /** Records answers. */
  Stop: ClaudeHookMatcher[];
  /** Keeps agents from the tools of others, where a subagent has tools of its own; reads the work of subagents. */
  PreToolUse: ClaudeHookMatcher[];
  /** Emits `delegate:start`. */
  SubagentStart: ClaudeHookMatcher[];
  /** Emits `delegate:end`. */
  SubagentStop: ClaudeHookMatcher[];
}

/** The fields of the SDK's inputs that are read. */
interface Input {
  /** Of the SDK's own session: it stays when a query is resumed. */
  readonly session_id?: string;
  readonly prompt?: string;
  readonly last_assistant_message?: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  /** Set in a subagent. */
  readonly agent_id?: string;
  readonly agent_type?: string;
}

/** Returns the hooks of a session; `agents` are the paths of the SDK's subagents that have a server of their own. */
export function sessionHooks(
  session: Session,
  { server, agents, failed }: {
    readonly server: string;
    readonly agents: Readonly<Record<string, string>>;
    /** Returns why a server could not be connected; null where each could. */
    readonly failed: () => HostError | null;
  },
): ClaudeHooks {
  // The program fires SessionStart before it knows of these callbacks, but for those that follow a compaction.
  const begun = new Set<string>();
  return {
    SessionStart: [on(async ({ session_id = "" }) => {
      const { systemPrompt: text, blocked } = await session.start("");
      if (blocked || text === "") return {};
      begun.add(session_id);
      return { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: text } };
    })],
    UserPromptSubmit: [{
      ...on(async ({ session_id = "", prompt = "" }) => {
        // The program only logs that it has no tools, and goes on without them.
        const failure = failed();
        if (failure) {
          const { code, message, hint = "" } = failure;
          return { decision: "block", reason: `error[${code}]: ${message}\n${hint}` };
        }
        const { systemPrompt: text, blocked } = await session.start("");
        if (blocked) {
          return { decision: "block", reason: `The session was blocked by ${blocked.by}: ${blocked.reason}` };
        }
        session.record({ role: "user", content: prompt });
        if (text === "" || begun.has(session_id)) return {};
        begun.add(session_id);
        return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: text } };
      }),
      onFailure: "block",
    }],
    Stop: [on(({ last_assistant_message: content, agent_id }) => {
      if (content !== undefined && agent_id === undefined) session.record({ role: "assistant", content });
      return Promise.resolve({});
    })],
    ...subagentHooks(session, server, agents),
  };
}

/** The program's own tool that runs a subagent: `Task` is its older name. */
const RUNS_SUBAGENT = "Agent|Task";
const MAX_ASKED = 100;

function subagentHooks(
  session: Session,
  server: string,
  agents: Readonly<Record<string, string>>,
): Pick<ClaudeHooks, "PreToolUse" | "SubagentStart" | "SubagentStop"> {
  const names = Object.keys(agents);
  // A subagent's start does not say its work: that is in the call before it, which names the kind of agent alone.
  const asked: { readonly type: string; readonly prompt: string }[] = [];
  const open = new Map<string, DelegateEnded>();
  const apart = {
    matcher: `mcp__${server}(-.+)?__.+`,
    ...on((input) => Promise.resolve(keptOut(input, server, names))),
    onFailure: "block",
  } as const;
  return {
    PreToolUse: [...names.length === 0 ? [] : [apart], {
      matcher: RUNS_SUBAGENT,
      ...on(({ tool_input }) => {
        const { prompt, subagent_type } = Object(tool_input) as { prompt?: unknown; subagent_type?: unknown };
        asked.push({ type: String(subagent_type ?? ""), prompt: String(prompt ?? "") });
        if (asked.length > MAX_ASKED) asked.shift(); // A call that was denied starts nobody.
        return Promise.resolve({});
      }),
    }],
    SubagentStart: [on(({ agent_id = "", agent_type = "" }) => {
      const at = asked.findIndex(({ type }) => type === agent_type);
      const [{ prompt: input } = { prompt: "" }] = at < 0 ? [] : asked.splice(at, 1);
      const child = Object.hasOwn(agents, agent_type) ? agents[agent_type]! : agent_type;
      open.set(agent_id, delegation(session, { parent: PRIMARY, child, input }));
      return Promise.resolve({});
    })],
    SubagentStop: [on(({ agent_id = "", last_assistant_message: output = "" }) => {
      open.get(agent_id)?.(output);
      open.delete(agent_id);
      return Promise.resolve({});
    })],
  };
}

function on(hook: (input: Input) => Promise<ClaudeHookOutput>): ClaudeHookMatcher {
  return { hooks: [(input) => hook(input as Input)] };
}

/** Denies a call at the server of another agent: the SDK shows every server to the main thread. */
function keptOut(input: Input, server: string, agents: readonly string[]): ClaudeHookOutput {
  const { tool_name = "", agent_id, agent_type = "" } = input;
  const mine = agent_id !== undefined && agents.includes(agent_type) ? `${server}-${agent_type}` : server;
  if (tool_name.startsWith(`mcp__${mine}__`)) return {};
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: `This tool belongs to another agent: use those of mcp__${mine}`,
    },
  };
}
