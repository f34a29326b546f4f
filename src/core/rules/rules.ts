/**
 * Rules on tools: who may be called without asking, with asking, or not at all. Pure: the files are read elsewhere.
 *
 * @module
 */

/** What makes a call wait for a person. */
export interface ApprovalSource {
  /**
   * A rule of the operator or the project, a handler of `PreToolUse`, the network of a cage, or an MCP server: with a form
   * for the person (`elicitation`), or with messages for the client's model (`sampling`).
   */
  readonly kind: "rule" | "hook" | "network" | "elicitation" | "sampling";
  /**
   * Names it: `config.toml:12`, `project.yaml:primary:mail.send`, the id of a handler, `net:api.example.org:443`, the name
   * of the plugin that is the MCP server.
   */
  readonly id: string;
}

/** From the loosest to the strictest. `watch` allows, and records what `ask` would have asked. */
export const DECISIONS = ["allow", "watch", "ask", "deny"] as const;

/** What a rule says of a call. */
export type Decision = typeof DECISIONS[number];

/** Whose rule it is: the operator's in config.toml, or the project's. */
export type RuleOwner = "operator" | "project";

/** One rule. Patterns are names in which `*` stands for any text without a dot. */
export interface ToolRule {
  /** Pattern of full names: `mail.*`. */
  readonly tool: string;
  /** Pattern of agent paths; null for every agent. */
  readonly agent: string | null;
  /** Id of the project; null for every project. */
  readonly project: string | null;
  readonly decision: Decision;
  /** Names the rule for people, with its place: `config.toml:12`. */
  readonly id: string;
}

/** `[approvals]` of config.toml. */
export interface ApprovalSettings {
  /** For tools whose MCP annotations claim to destroy, where no rule matches. Default `allow`. */
  readonly destructive: Decision;
  /** Seconds after which a request that nobody has answered is denied. Default 600. */
  readonly waitSec: number;
  /** Whether a connection that is not granted is refused at once or held for a person. Default `refuse`. */
  readonly network: "refuse" | "ask";
  /** What becomes of a request of an MCP server for the client's model, where one is offered. Default `ask`. */
  readonly sampling: "allow" | "ask" | "deny";
}

/** Settings of a machine without an `[approvals]` table. */
export const DEFAULT_APPROVALS: ApprovalSettings = {
  destructive: "allow",
  waitSec: 600,
  network: "refuse",
  sampling: "ask",
};

/** What the operator's file says of calls. */
export interface OperatorRules {
  /** In the order of the file. */
  readonly toolRules: readonly ToolRule[];
  readonly approvals: ApprovalSettings;
}

/** Every rule that holds for the agents of one project. */
export interface RuleSet {
  /** The operator's, in the order of the file: the first that matches decides. */
  readonly operator: readonly ToolRule[];
  /** The project's: it may only tighten. The strictest that matches decides. */
  readonly project: readonly ToolRule[];
  readonly settings: ApprovalSettings;
}

/** The decision on a call, and who made it. */
export interface Verdict {
  readonly decision: Decision;
  /** The rule or the setting that decided; null where nothing did and the call is allowed for that. */
  readonly source: ApprovalSource | null;
  /** The rule; null where none matched, also where `[approvals] destructive` decided. */
  readonly rule: ToolRule | null;
  /** Whose rule or setting decided; null where nothing did. */
  readonly whose: RuleOwner | null;
  /** In words: which rule, of whom. */
  readonly reason: string;
}

/** Returns how strict a decision is: 0 for `allow`. */
export function strictness(decision: Decision): number {
  return DECISIONS.indexOf(decision);
}

/** Whether two rules say the same, wherever they stand. */
export function isSameRule(a: Omit<ToolRule, "id">, b: Omit<ToolRule, "id">): boolean {
  return a.tool === b.tool && a.agent === b.agent && a.project === b.project && a.decision === b.decision;
}

/** The facts of a call that rules look at. */
export interface JudgedCall {
  readonly tool: string;
  readonly agent: string;
  readonly project: string;
  /** Whether the tool's annotations claim that it destroys. */
  readonly isDestructive: boolean;
}
