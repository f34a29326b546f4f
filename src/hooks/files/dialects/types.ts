/**
 * An agent's hook files as data: where they are, what they may say, and what their commands get and may answer. One
 * reader, one runner and one converter serve every dialect by these descriptions.
 *
 * @module
 */
import type { PortableHookName } from "../../engine/types.ts";
import type { FactName } from "./facts.ts";
import type { ToolKind, ToolNaming } from "./tool_names.ts";

/**
 * The effect of a word for no: the step is blocked; the text goes to the model (`tell`), to the user (`show`), or in
 * place of the tool's output (`replace`); or nothing happens.
 */
export type Effect = "block" | "tell" | "show" | "replace" | "ignore";

/** A part of the step that an answer may change or add to. */
export type Change = "input" | "output" | "context" | "ask";

/** A field on stdin: a fact of the event, or a value that is always the same. */
export type FieldSource = FactName | { readonly fixed: unknown };

/** Fields on stdin by name. A fact that the event does not have leaves its field out. */
export type DialectFields = Readonly<Record<string, FieldSource>>;

/** The events that a hook is for, beyond its moment and its matcher. */
export type EventFilter = "succeeded" | "toolFailed" | "noTool" | "topLevel" | ToolKind | "mcp";

/** One moment, as a dialect has it. */
export interface DialectEvent {
  readonly hook: PortableHookName;
  /** Fired at the end of each turn, not at the end of the session (X-17). */
  readonly turnEnd?: true;
  /** It wants these events alone; several: one of them is enough. */
  readonly only?: readonly EventFilter[];
  /** The text that a matcher is compared with; null: a matcher is ignored here. */
  readonly matches: FactName | "tool" | null;
  /** Effect of exit code 2 at this moment. */
  readonly exit2: Effect;
  /** Effect of any other exit code but 0, and of a signal. Default: the hook has failed, and the step passes. */
  readonly otherExit?: Effect;
  /** The stream whose text exit code 2 gives a reason with. Default `stderr`. */
  readonly exit2Text?: "stdout";
  /** Whether a decision that asks says no, too. */
  readonly askDenies?: true;
  /** Effect of a decision in JSON that says no. Default: that of exit code 2. */
  readonly deny?: Effect;
  /** Effect of `continue: false`. Default `block`; `end` lets the turn end, whatever else the answer says. */
  readonly stop?: "block" | "end" | "ignore";
  /** Effect of text on stdout with exit code 0. Default `ignore`; `fail`: the hook has failed. */
  readonly text?: "tell" | "show" | "ignore" | "fail";
  /** Parts that an answer may change here. */
  readonly may: readonly Change[];
  /** Context makes the agent go on, at the end of a turn. */
  readonly contextGoesOn?: true;
  /** Default timeout at this moment, where it is another than the dialect's. */
  readonly timeoutMs?: number;
  /** Whether hooks that ask to run in the background are waited for here. */
  readonly waits?: true;
  /** Longest timeout at this moment. */
  readonly maxTimeoutMs?: number;
  readonly fields: DialectFields;
  /** Variables that hooks of this moment get. */
  readonly env?: DialectFields;
}

/** How a dialect reads a matcher. */
export interface MatcherRule {
  /** A matcher of this form is a list of whole names; null: every matcher is a pattern. */
  readonly names: RegExp | null;
  /** Between the names of a list. */
  readonly split: RegExp;
  /** Whether a pattern must fit the whole text. */
  readonly anchored?: true;
  /** Whether a pattern that cannot be run is compared as a text. */
  readonly literalIfBad?: true;
  /** Whether it is compared as a text wherever it is not about a tool. */
  readonly causesExact?: true;
}

/** Keys of one hook in a file. */
export interface EntryKeys {
  /** Hooks stand alone, in groups behind one matcher, or either way. */
  readonly shape: "flat" | "nested" | "both";
  readonly bash: readonly string[];
  readonly powershell: readonly string[];
  readonly command: readonly string[];
  /** Keys of a program that no shell takes apart; its words follow in `args`. */
  readonly program: readonly string[];
  readonly timeout: readonly string[];
  /** Milliseconds in one unit of a timeout. */
  readonly unitMs: number;
  readonly cwd?: string;
  readonly env?: string;
  /** Keys of these that only this host reads: they are not written for the agent. */
  readonly added?: readonly ("cwd" | "env")[];
  /** Type of a hook without one; null: a type must be there. */
  readonly type: "command" | null;
  /** Types beside commands: those that run here, and those that are left out with the reason. */
  readonly types: Readonly<Record<string, "runs" | string>>;
  /** Keys that are known and change nothing here. */
  readonly idle: readonly string[];
  /** Keys that ask for something that this host does not do, with the reason. */
  readonly undone?: Readonly<Record<string, string>>;
}

/** The keys of an answer in JSON, and what they mean. Paths have dots. */
export interface AnswerKeys {
  /** Key of the map whose keys count beside those of the answer itself. */
  readonly nested?: string;
  /** Keys that decide: by their values. */
  readonly decisions: readonly {
    readonly key: string;
    readonly deny: readonly unknown[];
    readonly ask?: readonly unknown[];
    /** Values that make the hook fail. */
    readonly fails?: readonly unknown[];
    readonly reason: readonly string[];
  }[];
  /** Keys that say why `continue` is false; absent: `continue` means nothing. */
  readonly stopReason?: readonly string[];
  readonly input: readonly string[];
  /** Whether the new input is laid over the old one. */
  readonly inputMerges?: true;
  readonly output: readonly string[];
  readonly context: readonly string[];
  /** Keys of texts that only the user sees. */
  readonly shown: readonly string[];
  /** Texts that make the agent go on at the end of a turn. */
  readonly goOn?: readonly string[];
  /** Whether lines of progress stand between, which are no part of the answer. */
  readonly progress?: true;
  /** Keys that an answer may have; another one makes the hook fail. Absent: others are ignored. */
  readonly known?: readonly string[];
}

/** Exit codes beyond the table of moments. */
export interface ExitRules {
  /** Whether neither exit codes nor output mean anything. */
  readonly ignored?: true;
  /** Whether exit code 2 says no only with a text. */
  readonly needsText?: true;
  /** Whether JSON on stdout is read with exit code 2: always, or as the whole answer. */
  readonly json2?: "beside" | "instead";
  /** Whether JSON on stdout decides, whatever the exit code. */
  readonly jsonAnyCode?: true;
  /** Whether codes above 2 say no as 2 does. */
  readonly aboveTwo?: true;
  /**
   * Hooks that nobody waits for decide nothing; their context and notices come with the session's next prompt or call.
   * Exit code 2 of theirs is a failure, or means nothing. Absent: what they say is not read.
   */
  readonly later?: { readonly exit2: "fails" | "ignore" };
  /** Whether stderr is read like stdout where that is empty, and a text of either is the reason. */
  readonly anyStream?: true;
}

/** Where files of a dialect are. A name that ends in `/*.json` is each such file of a folder. */
export interface DialectPlaces {
  readonly project: readonly string[];
  /** Below the operator's home. */
  readonly user: readonly string[];
  /** Below the folder of a plugin. */
  readonly plugin: readonly string[];
  /** Files of the machine's administrator, which this host does not read; absolute. */
  readonly managed: readonly string[];
  /** Folders below the operator's home that hooks of user files may read. */
  readonly userReadable: readonly string[];
}

/** One agent's hook files: all that reader, runner and converter know of it. */
export interface DialectSpec extends ToolNaming {
  readonly title: string;
  readonly places: DialectPlaces;
  /** JSONC has comments and commas behind last items. */
  readonly format: "json" | "jsonc";
  /** The top-level key `version`: not there, 1 or absent, or forbidden. */
  readonly version: "none" | "optional" | "forbidden";
  /** Top-level keys that a file may have; absent: any. */
  readonly topLevel?: readonly string[];
  readonly events: Readonly<Record<string, DialectEvent>>;
  /** Moments that this host does not have, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>;
  /** Whether a moment that nobody knows makes the file useless, or is left out with a warning. */
  readonly unknownEvent: "error" | "warn";
  /** Whether a mistake in a hook leaves out that hook alone, or makes its file useless. Settings of Copilot: the file. */
  readonly badEntry: "entry" | "file";
  readonly entry: EntryKeys;
  readonly timeoutMs: number;
  readonly matcher: MatcherRule;
  readonly exits: ExitRules;
  readonly answers: AnswerKeys;
  /** Variables that every hook gets. */
  readonly env: DialectFields;
  /** Folder below the operator's home that hooks of user files run in; absent: the project's. */
  readonly userCwd?: string;
}
