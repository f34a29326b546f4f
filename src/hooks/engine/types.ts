/**
 * Portable hooks: the moments of an agent's life, their handlers, and the answers a handler may give. The same shapes
 * serve a caged plugin, a hook file of a repository, an MCP tool, a built-in handler and a line of code.
 *
 * @module
 */

/** The eleven moments, by their portable names. */
export type PortableHookName =
  | "SessionStart"
  | "SessionEnd"
  | "UserPromptSubmitted"
  | "PreToolUse"
  | "PostToolUse"
  | "SubagentStart"
  | "SubagentStop"
  | "PreCompact"
  | "PostCompact"
  | "OnError"
  | "OnBudgetExceeded";

/**
 * Every moment an engine fires: the portable ones, and `on_session_idle`, which only plugins and code have. Handlers of
 * `on_session_idle` all start at once, and their answers change nothing.
 */
export type HookMoment = PortableHookName | "on_session_idle";

/** A token budget, as it stands. */
export interface Budget {
  /** Tokens that the window holds now. */
  readonly usedTokens: number;
  /** Tokens it may hold before answers suffer. */
  readonly effectiveLimit: number;
}

/** An event. Handlers get a frozen copy of the caller's, so that none can change what another sees. */
export interface HookEvent {
  /** The moment by its portable name, as in the contract plugins share; at `on_session_idle`, that name. */
  readonly hook: PortableHookName;
  /** Time of the event, ISO 8601. */
  readonly timestamp: string;
  /** Id of the session. */
  readonly sessionId: string;
  /** Agent path, such as `primary`. */
  readonly agent: string;
  /** The repository, when it is known. */
  readonly repository?: string;
  /** Its branch, when it is known. */
  readonly branch?: string;
  /** Where the loop knows it. */
  readonly budget?: Budget;
  /** The tool, around a tool call. */
  readonly tool?: { readonly name: string; readonly success?: boolean; readonly durationMs?: number };
  /** A prompt, tool arguments, a window: `modify` may change it before the step. */
  readonly input?: unknown;
  /** A tool's output, a compacted window: `modify` may change it after the step. */
  readonly output?: unknown;
  /** The failure, at `OnError` and after a failed tool call. */
  readonly error?: { readonly message: string; readonly code?: string };
  /** The subagent, when one starts or stops. */
  readonly subagent?: { readonly name: string; readonly parent: string; readonly depth: number };
  /** Anything else the moment carries. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Why a handler wants a person to decide. */
export interface HookQuestion {
  /** For the person who is asked. */
  readonly reason: string;
}

/**
 * An event as a handler gets it. `ask` is no field of its own: JSON, `{ ...event }` and the copies that commands, MCP
 * tools and plugins are sent do not carry it.
 */
export interface HookCallEvent extends HookEvent {
  /**
   * Wants a person's yes before the tool is called, whatever else the handler answers; a block of the same handler counts
   * more. To be called before the handler has answered or is given up. Never throws.
   */
  readonly ask: (question: HookQuestion) => void;
}

/** The answer of a handler; null or nothing passes through. */
export interface HookResponse {
  /**
   * Whether the handler lets the step pass, adds text, stops it, changes it, or wants a person's yes: `ask` is for
   * `PreToolUse`, and blocks elsewhere.
   */
  readonly action: "passThrough" | "injectContext" | "block" | "modify" | "ask";
  /** For diagnosis only: the order was settled before the handler ran. */
  readonly priority?: number;
  /** Text for the next step of reasoning. */
  readonly additionalContext?: readonly string[];
  /** Whether this text replaces the texts of earlier handlers. Default false: it is added to them. */
  readonly overwriteContext?: boolean;
  /** Why it blocks or asks, for the model and for people. */
  readonly reason?: string;
  /** Notices that block nothing. */
  readonly warnings?: readonly string[];
  /** The new input; with `modify` and `ask` only. */
  readonly modifiedInput?: unknown;
  /** The new output; with `modify` only. */
  readonly modifiedOutput?: unknown;
  /** For diagnosis only; never reaches the model. */
  readonly metadata?: { readonly hookId?: string } & Readonly<Record<string, unknown>>;
}

/** The state of a firing while its handlers run. */
export interface HookProgress {
  /** Handlers asked so far, the one at hand included. */
  readonly asked: number;
  /** Handlers that failed so far. */
  readonly broke: number;
  /** Number of warnings so far. */
  readonly warnings: number;
  /** Number of texts to inject so far. */
  readonly injections: number;
  /** Bytes of the texts to inject. */
  readonly injectedBytes: number;
  /** Id of the handler that blocked, or that asks where nobody can be asked; or null. */
  readonly blockedBy: string | null;
}

/** The second argument of a handler. */
export interface HookCallContext {
  /** Aborted when the handler is given up. */
  readonly signal: AbortSignal;
  /** One object for all handlers of one firing, and no other: a key for state that lives as long. */
  readonly firing: object;
  /** The state of the firing before this handler answers. */
  readonly soFar: HookProgress;
}

/** Answers an event. It is given up at its timeout, and its signal is aborted then. */
export type HookHandler = (
  event: HookCallEvent,
  context: HookCallContext,
) => HookResponse | null | undefined | void | Promise<HookResponse | null | undefined | void>;

/** Where a handler comes from, for people and for traces. */
export interface HookSource {
  /** The kind of source. */
  readonly kind: "code" | "builtin" | "plugin" | "file" | "mcp";
  /** Names it: a plugin instance, `file:index`, an MCP tool, a function. */
  readonly id: string;
  /** The file it is written in. */
  readonly file?: string;
  /** The line in that file, from 1. */
  readonly line?: number;
}

/** How a handler takes part. */
export interface HookOptions {
  /** Lowest first; ties by registration. Default 50. */
  readonly priority?: number;
  /** Milliseconds after which it is given up. Default 3 000. */
  readonly timeoutMs?: number;
  /** Whether the step goes on or is blocked when the handler fails. Default `pass`. */
  readonly onFailure?: "pass" | "block";
  /** An advisory handler may warn and inject; its block, modify and ask become warnings. Default false. */
  readonly advisory?: boolean;
  /** Runs even after a block, and has no say: for telemetry. Default false. */
  readonly telemetryOnly?: boolean;
  /**
   * Whether it came from `Stop`, which other hosts fire at the end of each turn: it then runs when a loop fires
   * `agentHooks().onStop()`, and at the end of a session whose loop never did. Default: whether it is registered by the
   * name `Stop`.
   */
  readonly turnEnd?: boolean;
  /** Agents it is for; absent: all. */
  readonly agents?: readonly string[];
  /** Whether it wants this event; absent: all of its hook. */
  readonly matches?: (event: HookEvent) => boolean;
  /** Where it comes from. Default: code. */
  readonly source?: HookSource;
}

/** A handler with everything an engine needs to know: what every source of hooks makes. */
export interface HookRegistration extends HookOptions {
  /** The moment it is for. */
  readonly hook: HookMoment;
  /** Answers the events of that moment. */
  readonly handler: HookHandler;
}
