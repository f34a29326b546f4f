/**
 * An agent loop's side of the hooks: one call at each point of the loop.
 *
 * @module
 */
import type { FiredEvent, FireOptions, HookEngine } from "../engine/engine.ts";
import type { HookResult } from "../engine/result.ts";
import { askPerson } from "./ask_person.ts";
import { hasFailed } from "../engine/sealed_event.ts";
import type { Budget } from "../engine/types.ts";
import { budgetCrossings, type BudgetThresholds } from "./budget_crossings.ts";

/** The agent and session that a loop runs. */
export interface AgentHooksAt {
  /** Id of the session the loop works in. */
  readonly session: string;
  /** Agent path. Default `primary`. */
  readonly agent?: string;
  /** The repository, when it is known. */
  readonly repository?: string;
  /** Its branch, when it is known. */
  readonly branch?: string;
  /** Facts that every event carries in its details, such as `model` and `permissionMode` for hook files. */
  readonly details?: HookDetails;
  /** Shares of the budget at which `onBudget` fires. Default 0.7 and 0.8. */
  readonly thresholds?: BudgetThresholds;
}

/** The outcome of one point of the loop. */
export type StepResult = Pick<HookResult, "blocked" | "reason" | "blockedBy" | "context" | "warnings">;

/** A call of a tool that is over. */
export interface ToolCall {
  /** The tool, as handlers know it. */
  readonly name: string;
  /** Its arguments, of any type. */
  readonly input?: unknown;
  /** Its output, of any type; see `docs/hooks.md` for the form that handlers get. */
  readonly output?: unknown;
  /** Anything it threw, such as an `Error`; absent or null when the call went well. */
  readonly error?: unknown;
  /** Milliseconds that the call took. */
  readonly durationMs?: number;
}

/** A subagent that starts or is done. */
export interface SubagentStep {
  /** Whether it starts or is done. */
  readonly phase: "start" | "stop";
  /** The subagent, by its own name. */
  readonly name: string;
  /** How deep it is nested, from 1. Default 1. */
  readonly depth?: number;
  /** The task it is given. */
  readonly input?: unknown;
  /** The result it brings back. */
  readonly output?: unknown;
  /** Milliseconds from its start to its end. */
  readonly durationMs?: number;
}

/** A compaction, before or after it. */
export interface CompactionStep {
  /** Why the window is compacted now, such as `threshold`. */
  readonly trigger: string;
  /** The window: before, or after. */
  readonly window?: unknown;
  /** Size of the window before. */
  readonly before?: { readonly tokens: number };
  /** Size of the window after. */
  readonly after?: { readonly tokens: number };
}

/** Anything else a moment carries. */
export type HookDetails = Readonly<Record<string, unknown>>;

/**
 * The points of an agent loop. Each settles, whatever a handler does and whatever the loop hands over. `input` and
 * `output` of a result are the loop's own values, unless a handler modified them.
 */
export interface AgentHooks {
  /** The agent and session they fire for. */
  readonly at: AgentHooksAt & { readonly agent: string };
  /** The session starts: once, before the first message reaches the model. `input` is the system prompt to use. */
  onStart(details?: HookDetails, systemPrompt?: string): Promise<StepResult & { readonly input: string | undefined }>;
  /** The user has submitted a prompt, and no tool was called yet. `input` is the prompt to go on with. */
  onPrompt(prompt: string, details?: HookDetails): Promise<StepResult & { readonly input: string }>;
  /**
   * A tool is about to be called. `input` are the arguments to call it with. Where handlers ask, it waits for the answer of
   * `HookEngineOptions.onAsk`; a no, or nobody to ask, is a block.
   */
  beforeTool(name: string, input: unknown, budget?: Budget): Promise<StepResult & { readonly input: unknown }>;
  /**
   * A tool was called, well or not: a failure fires `OnError` first. `output` is the output to show to the model. Like
   * {@link beforeTool}, it fires nothing for a tool that fires its own hooks: see `HookEngineOptions.isGatedTool`.
   */
  afterTool(call: ToolCall): Promise<StepResult & { readonly output: unknown }>;
  /** A subagent starts, or is done and its parent has not gone on yet. */
  onSubagent(step: SubagentStep): Promise<StepResult & { readonly input: unknown; readonly output: unknown }>;
  /**
   * Another step than a tool has failed, with anything it threw. `output` is what a handler makes of the error for the
   * model; undefined when none does. `details.tool` names a tool, when it was one.
   */
  onError(error: unknown, details?: HookDetails): Promise<StepResult & { readonly output: unknown }>;
  /**
   * Tokens in use, after each model call. Handlers are asked when a threshold is crossed. `rotate` asks for a fresh
   * session, at every call from then on, until the session has rotated or the budget is below that threshold again.
   */
  onBudget(budget: Budget): Promise<StepResult & { readonly rotate: boolean }>;
  /** A window is about to be made smaller. `input` is the window to compact. */
  beforeCompact(step: CompactionStep): Promise<StepResult & { readonly input: unknown }>;
  /** A window was made smaller. `output` is the window to go on with. */
  afterCompact(step: CompactionStep): Promise<StepResult & { readonly output: unknown }>;
  /**
   * The loop is done with a turn: fires the handlers of `Stop`. With `goOn`, one of them wants another round, for
   * `reason`. The end of the session does not run them again.
   */
  onStop(details?: HookDetails): Promise<StepResult & { readonly goOn: boolean }>;
  /** The session ends, or rotates into a fresh one. `blocked` says that a handler wanted it to go on. */
  onEnd(reason?: string, details?: HookDetails): Promise<StepResult>;
}

/** Returns the points of one agent's loop in one session. */
export function agentHooks(engine: HookEngine, where: AgentHooksAt): AgentHooks {
  const at = { ...where, agent: where.agent ?? "primary" };
  const { session: sessionId, agent, repository, branch, thresholds } = at;
  const crossing = budgetCrossings(thresholds);
  let rotation: { readonly threshold: number; readonly step: StepResult } | null = null;
  let hasGoneOn = false;

  async function fire(hook: string, event: EventFields, options?: FireOptions): Promise<HookResult> {
    const details = at.details ? { ...at.details, ...event.details } : event.details;
    return await engine.fire({ sessionId, agent, repository, branch, ...event, details, hook } as FiredEvent, options);
  }

  /** A text that handlers may modify, and that stays a text. */
  async function fireText<T extends string | undefined>(hook: string, input: T, details: HookDetails | undefined) {
    const result = await fire(hook, { input, details });
    if (result.input === input || typeof result.input === "string") {
      return { ...step(result), input: result.input as T };
    }
    return { ...step(result), warnings: [...result.warnings, "A modified prompt was left out: it is no text"], input };
  }

  return {
    at,
    onStart: (details, systemPrompt) => fireText("SessionStart", systemPrompt, details),
    onPrompt(prompt, details) {
      hasGoneOn = false;
      return fireText("UserPromptSubmitted", prompt, details);
    },
    async beforeTool(name, input, budget) {
      if (engine.isGatedTool(name, agent)) return { ...NOTHING, input };
      const result = await fire("PreToolUse", { tool: { name }, input, budget }, { canAsk: engine.onAsk !== null });
      return inputStep(await askPerson(engine.onAsk, { tool: name, agent, sessionId, before: input }, result));
    },
    async afterTool({ name, input, output, error, durationMs }) {
      if (engine.isGatedTool(name, agent)) return { ...NOTHING, output };
      const success = !hasFailed(error);
      const tool = { name, success, ...(durationMs !== undefined && { durationMs }) };
      if (success) return outputStep(await fire("PostToolUse", { tool, input, output }));
      const failed = await fire("OnError", { tool, input, output, error });
      return joined(failed, await fire("PostToolUse", { tool, input, output: failed.output, error }));
    },
    async onSubagent({ phase, name, depth = 1, input, output, durationMs }) {
      const result = await fire(phase === "start" ? "SubagentStart" : "SubagentStop", {
        subagent: { name, parent: agent, depth },
        input,
        output,
        details: durationMs === undefined ? undefined : { durationMs },
      });
      return { ...inputStep(result), output: result.output };
    },
    async onError(error, details) {
      const tool = details?.["tool"];
      if (typeof tool === "string" && engine.isGatedTool(tool, agent)) return { ...NOTHING, output: undefined };
      return outputStep(await fire("OnError", { error, details }));
    },
    async onBudget(budget) {
      const { threshold, isCrossed } = crossing(budget);
      if (rotation && threshold < rotation.threshold) rotation = null;
      if (!isCrossed) return rotation ? { ...rotation.step, rotate: true } : { ...NOTHING, rotate: false };
      const result = await fire("OnBudgetExceeded", { budget, details: { threshold } });
      if (result.blocked) rotation = { threshold, step: { ...step(result), context: [], warnings: [] } };
      return { ...step(result), rotate: rotation !== null };
    },
    beforeCompact: async ({ window, ...details }) => inputStep(await fire("PreCompact", { input: window, details })),
    afterCompact: async ({ window, ...details }) => outputStep(await fire("PostCompact", { output: window, details })),
    async onStop(details) {
      const event = { details: { ...details, reason: "stop", stopHookActive: hasGoneOn } };
      const result = await fire("SessionEnd", event, { turnEnd: true });
      hasGoneOn = result.blocked;
      return { ...step(result), goOn: result.blocked };
    },
    async onEnd(reason = "end", details) {
      if (reason === "rotation") rotation = null;
      return step(await fire("SessionEnd", { details: { ...details, reason } }));
    },
  };
}

const NOTHING: StepResult = { blocked: false, reason: null, blockedBy: null, context: [], warnings: [] };

/** The engine leaves out fields that are undefined. */
type EventFields = { readonly [Field in keyof FiredEvent]?: FiredEvent[Field] | undefined };

function step({ blocked, reason, blockedBy, context, warnings }: StepResult): StepResult {
  return { blocked, reason, blockedBy, context, warnings };
}

function inputStep(result: HookResult): StepResult & { readonly input: unknown } {
  return { ...step(result), input: result.input };
}

function outputStep(result: HookResult): StepResult & { readonly output: unknown } {
  return { ...step(result), output: result.output };
}

/** The outcome of two firings for one step. */
function joined(first: HookResult, second: HookResult): StepResult & { readonly output: unknown } {
  const context = [...first.context, ...second.context];
  const warnings = [...first.warnings, ...second.warnings];
  return { ...step(first.blocked ? first : second), context, warnings, output: second.output };
}
