/**
 * An agent loop's side of the hooks: one call at each point of the loop.
 *
 * @module
 */
import type { HookEngine } from "../engine/engine.ts";
import type { HookResult } from "../engine/result.ts";
import type { HookEvent } from "../engine/types.ts";
import { budgetCrossings, type BudgetThresholds } from "./budget_crossings.ts";

/** Whose hooks they are. */
export interface AgentHooksAt {
  /** The session. */
  readonly sessionId: string;
  /** Agent path. Default `primary`. */
  readonly agent?: string;
  /** The repository, when it is known. */
  readonly repository?: string;
  /** Its branch, when it is known. */
  readonly branch?: string;
  /** Where a budget is warned of, and where the session is to rotate. Default 0.7 and 0.8. */
  readonly thresholds?: BudgetThresholds;
}

/** What came of one point of the loop. */
export interface StepResult {
  /** Whether the step may not go on. */
  readonly blocked: boolean;
  /** Why, or null. */
  readonly reason: string | null;
  /** Who blocked, or null. */
  readonly blockedBy: string | null;
  /** Text for the next step of reasoning. */
  readonly context: readonly string[];
  /** Notices that block nothing. */
  readonly warnings: readonly string[];
}

/** Tokens in use. */
export interface Budget {
  /** Tokens the window holds. */
  readonly usedTokens: number;
  /** Tokens it may hold before answers suffer. */
  readonly effectiveLimit: number;
}

/** A call of a tool that is over. */
export interface ToolCall {
  /** The tool. */
  readonly name: string;
  /** Its arguments. */
  readonly input?: unknown;
  /** What it returned. */
  readonly output?: unknown;
  /** How it failed; absent when it did not. */
  readonly error?: { readonly message: string; readonly code?: string };
  /** How long it took. */
  readonly durationMs?: number;
}

/** A subagent that starts or is done. */
export interface SubagentStep {
  /** Which. */
  readonly phase: "start" | "stop";
  /** The subagent. */
  readonly name: string;
  /** How deep it is nested, from 1. Default 1. */
  readonly depth?: number;
  /** What it is to do. */
  readonly input?: unknown;
  /** What it brings back. */
  readonly output?: unknown;
  /** How long it took. */
  readonly durationMs?: number;
}

/** A compaction. */
export interface CompactionStep {
  /** Why now. */
  readonly trigger: string;
  /** The window: before, or after. */
  readonly window?: unknown;
  /** Its size before. */
  readonly before?: { readonly tokens: number };
  /** Its size after. */
  readonly after?: { readonly tokens: number };
}

/** Anything else a moment carries, in plain JSON. */
export type HookDetails = Readonly<Record<string, unknown>>;

/** The points of an agent loop. Each settles, whatever a handler does. */
export interface AgentHooks {
  /** Whose they are. */
  readonly at: AgentHooksAt & { readonly agent: string };
  /** The session starts: once, before the first message reaches the model. */
  onStart(details?: HookDetails): Promise<StepResult>;
  /** The user has submitted a prompt, and no tool was called yet. `input` is the prompt to go on with. */
  onPrompt(prompt: string, details?: HookDetails): Promise<StepResult & { readonly input: string }>;
  /** A tool is about to be called. `input` are the arguments to call it with. */
  beforeTool(name: string, input: unknown, budget?: Budget): Promise<StepResult & { readonly input: unknown }>;
  /** A tool was called, well or not. `output` is what the model is to see. A failure also fires `OnError`. */
  afterTool(call: ToolCall): Promise<StepResult & { readonly output: unknown }>;
  /** A subagent starts, or is done and its parent has not gone on yet. */
  onSubagent(step: SubagentStep): Promise<StepResult & { readonly input: unknown; readonly output: unknown }>;
  /** Something else than a tool has failed. */
  onError(error: { readonly message: string; readonly code?: string }, details?: HookDetails): Promise<StepResult>;
  /** Tokens in use, after each model call. Fires when a threshold is crossed; `rotate` asks for a fresh session. */
  onBudget(budget: Budget): Promise<StepResult & { readonly rotate: boolean }>;
  /** A window is about to be made smaller. */
  beforeCompact(step: CompactionStep): Promise<StepResult>;
  /** A window was made smaller. */
  afterCompact(step: CompactionStep): Promise<StepResult>;
  /** The session ends, or rotates into a fresh one. */
  onEnd(reason?: string, details?: HookDetails): Promise<StepResult>;
}

/** Returns the points of one agent's loop in one session. */
export function agentHooks(engine: HookEngine, where: AgentHooksAt): AgentHooks {
  const { thresholds, ...at } = { agent: "primary", ...where };
  const crossings = budgetCrossings(thresholds);
  const fire = async (hook: string, event: Partial<HookEvent> = {}): Promise<HookResult> => {
    return await engine.fire({ ...at, ...event, hook });
  };
  const withDetails = (details: HookDetails | undefined): Partial<HookEvent> =>
    details === undefined ? {} : { details };

  return {
    at: { ...at, ...(thresholds && { thresholds }) },
    onStart: async (details) => step(await fire("SessionStart", withDetails(details))),
    async onPrompt(prompt, details) {
      const result = await fire("UserPromptSubmitted", { input: prompt, ...withDetails(details) });
      if (typeof result.input === "string") return { ...step(result), input: result.input };
      const warnings = [...result.warnings, "A modified prompt was left out: it is no text"];
      return { ...step(result), warnings, input: prompt };
    },
    async beforeTool(name, input, budget) {
      const result = await fire("PreToolUse", { tool: { name }, input, ...(budget && { budget }) });
      return { ...step(result), input: result.input };
    },
    async afterTool({ name, input, output, error, durationMs }) {
      const tool = { name, success: !error, ...(durationMs !== undefined && { durationMs }) };
      const event = { tool, input, output, ...(error && { error }) };
      const result = await fire("PostToolUse", event);
      const after = step(result);
      if (!error) return { ...after, output: result.output };
      return {
        ...joined(after, step(await fire("OnError", { ...event, output: result.output }))),
        output: result.output,
      };
    },
    async onSubagent({ phase, name, depth = 1, input, output, durationMs }) {
      const result = await fire(phase === "start" ? "SubagentStart" : "SubagentStop", {
        subagent: { name, parent: at.agent, depth },
        input,
        output,
        ...(durationMs !== undefined && { details: { durationMs } }),
      });
      return { ...step(result), input: result.input, output: result.output };
    },
    onError: async (error, details) => step(await fire("OnError", { error, ...withDetails(details) })),
    async onBudget(budget) {
      const threshold = crossings.crossed(budget);
      if (threshold === null) return { ...NOTHING, rotate: false };
      const result = await fire("OnBudgetExceeded", { budget, details: { threshold } });
      return { ...step(result), rotate: result.blocked };
    },
    beforeCompact: async ({ window, ...details }) => step(await fire("PreCompact", { input: window, details })),
    afterCompact: async ({ window, ...details }) => step(await fire("PostCompact", { output: window, details })),
    onEnd: async (reason = "end", details) => step(await fire("SessionEnd", { details: { ...details, reason } })),
  };
}

const NOTHING: StepResult = { blocked: false, reason: null, blockedBy: null, context: [], warnings: [] };

function step({ blocked, reason, blockedBy, context, warnings }: HookResult): StepResult {
  return { blocked, reason, blockedBy, context, warnings };
}

function joined(first: StepResult, second: StepResult): StepResult {
  const { blocked, reason, blockedBy } = first.blocked ? first : second;
  const context = [...first.context, ...second.context];
  return { blocked, reason, blockedBy, context, warnings: [...first.warnings, ...second.warnings] };
}
