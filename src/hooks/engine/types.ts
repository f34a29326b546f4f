/**
 * Portable hooks: what happened in an agent's life, who wants a say in it, and what they may answer. The same shapes
 * for a caged plugin, a hook file of a repository, an MCP tool, a built-in handler and a line of code.
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

/** What happened. Handlers get a copy of the caller's, frozen: none can change what another sees. */
export interface HookEvent {
  /** The moment by its portable name, as in the contract plugins share; at `on_session_idle`, that name. */
  readonly hook: PortableHookName;
  /** When, ISO 8601. */
  readonly timestamp: string;
  /** The session. */
  readonly sessionId: string;
  /** Agent path, such as `primary`. */
  readonly agent: string;
  /** The repository, when it is known. */
  readonly repository?: string;
  /** Its branch, when it is known. */
  readonly branch?: string;
  /** How full the window is. */
  readonly budget?: { readonly usedTokens: number; readonly effectiveLimit: number };
  /** The tool, around a tool call. */
  readonly tool?: { readonly name: string; readonly success?: boolean; readonly durationMs?: number };
  /** What the moment is about and what `modify` may change before it: a prompt, tool arguments, a window. */
  readonly input?: unknown;
  /** What `modify` may change after it: a tool's output. */
  readonly output?: unknown;
  /** What failed, at `OnError` and after a failed tool call. */
  readonly error?: { readonly message: string; readonly code?: string };
  /** The subagent, when one starts or stops. */
  readonly subagent?: { readonly name: string; readonly parent: string; readonly depth: number };
  /** Anything else the moment carries, in plain JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What a handler may answer; null or nothing passes through. */
export interface HookResponse {
  /** What is to be done. */
  readonly action: "passThrough" | "injectContext" | "block" | "modify";
  /** For diagnosis only: the order was settled before the handler ran. */
  readonly priority?: number;
  /** Text for the next step of reasoning. */
  readonly additionalContext?: readonly string[];
  /** Whether this text stands in place of what handlers before it wanted injected. Default false: beside it. */
  readonly overwriteContext?: boolean;
  /** Why it blocks. */
  readonly reason?: string;
  /** Notices that block nothing. */
  readonly warnings?: readonly string[];
  /** The new input; with `modify` only. */
  readonly modifiedInput?: unknown;
  /** The new output; with `modify` only. */
  readonly modifiedOutput?: unknown;
  /** For diagnosis only; never reaches the model. */
  readonly metadata?: { readonly hookId?: string } & Readonly<Record<string, unknown>>;
}

/** What has come of a firing so far. */
export interface HookProgress {
  /** Handlers that were asked. */
  readonly asked: number;
  /** Handlers that broke. */
  readonly broke: number;
  /** Warnings. */
  readonly warnings: number;
  /** Texts to be injected. */
  readonly injections: number;
  /** Bytes of them. */
  readonly injectedBytes: number;
  /** The handler that blocked, or null. */
  readonly blockedBy: string | null;
}

/** What a handler is given beside the event. */
export interface HookCallContext {
  /** Aborted when the handler is given up. */
  readonly signal: AbortSignal;
  /** One object for all handlers of one firing, and no other: for what is to live as long. */
  readonly firing: object;
  /** What has come of the firing before this handler. */
  readonly soFar: HookProgress;
}

/** Answers an event. It is given up at its timeout, and its signal is aborted then. */
export type HookHandler = (
  event: HookEvent,
  context: HookCallContext,
) => HookResponse | null | undefined | void | Promise<HookResponse | null | undefined | void>;

/** Where a handler comes from, for people and for traces. */
export interface HookSource {
  /** Which kind. */
  readonly kind: "code" | "builtin" | "plugin" | "file" | "mcp";
  /** Names it: a plugin instance, `file:index`, an MCP tool, a function. */
  readonly id: string;
  /** The file it is written in. */
  readonly file?: string;
  /** The line. */
  readonly line?: number;
}

/** How a handler takes part. */
export interface HookOptions {
  /** Lowest first; ties by registration. Default 50. */
  readonly priority?: number;
  /** Time it may take. Default 3 000. */
  readonly timeoutMs?: number;
  /** What a failure of the handler means. Default `pass`. */
  readonly onFailure?: "pass" | "block";
  /** An advisory handler may warn and inject; its block and its modify are told as warnings. Default false. */
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
  /** The moment. */
  readonly hook: HookMoment;
  /** The handler. */
  readonly handler: HookHandler;
}
