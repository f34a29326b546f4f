/**
 * A hookspec once it is read: kinds, their hooks, and the types of inputs and outputs. Emitters see nothing else.
 *
 * @module
 */

/** Every dispatch class, in the order of the file that holds them. */
export const DISPATCH_CLASSES = ["singleton", "broadcast_collect", "broadcast_notify", "chain", "capability"] as const;

/** How a hook is dispatched. The list is closed. */
export type DispatchClass = (typeof DISPATCH_CLASSES)[number];

/** Every way in which a hook's work may be done, where a kind says so. */
export const EXECUTION_MODELS = ["async", "sync", "thread_cpu_bound", "process_cpu_bound"] as const;

/** The names of MCP tools that stand for hooks. */
export const MCP_TOOL_NAME_TEMPLATE = "{kind}.{plugin}.{hook}";

/** Every target language, in the order of emitted files. */
export const TARGET_LANGUAGES = ["typescript", "python", "go", "openrpc", "markdown"] as const;

/** Languages a hookspec can be written out in. */
export type TargetLanguage = (typeof TARGET_LANGUAGES)[number];

/** A hookspec: its kinds, and the folders for generated files. */
export interface Hookspec {
  /** Its kinds, by name and then by version. */
  readonly kinds: readonly KindSpec[];
  /** Folder of each language that is written out, from the hookspec's own folder. */
  readonly targets: Readonly<Partial<Record<TargetLanguage, string>>>;
}

/** One version of one kind of plugin. */
export interface KindSpec {
  readonly kind: string;
  readonly version: string;
  /** The N of its file `v<N>.yaml`. */
  readonly major: number;
  readonly description: string;
  /** Its file, from the hookspec's folder. */
  readonly file: string;
  /** Wire method of its hooks, with `{hook}` in it; null when they stay within the process. */
  readonly wireMethodTemplate: string | null;
  /** Time a plugin gets for a hook, unless its manifest says otherwise; null when nothing is said. */
  readonly pluginTimeoutMs: number | null;
  /** Its hooks, in the order of the file. */
  readonly hooks: readonly HookSpec[];
  /** Every type its hooks use; each stands after those it is made of. */
  readonly types: readonly NamedType[];
}

/** One hook of a kind, with the names it goes by elsewhere. */
export interface HookSpec {
  readonly name: string;
  readonly dispatch: DispatchClass;
  /** When it fires or what it does, on one line. */
  readonly description: string;
  /** Name of the record it takes. */
  readonly input: string;
  /** Name of the type it gives. */
  readonly output: string;
  /** Method that calls it on the wire; null when it never leaves the process. */
  readonly wireMethod: string | null;
  /** Name of its MCP tool, with `{plugin}` in it; null when it is not offered as one. */
  readonly mcpToolName: string | null;
  /** How its work is done; null when nothing is said. */
  readonly executionModel: (typeof EXECUTION_MODELS)[number] | null;
  /** Name in the portable hook model; null when it has none. */
  readonly portableName: string | null;
  /** Names on other platforms; the first of each is the one to write. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Whether it fires for the primary agent alone. */
  readonly scope: "primary" | "any";
  /** Time a handler gets that says nothing else; null when nothing is said. */
  readonly defaultTimeoutMs: number | null;
}

/** A type with a name of its own. */
export interface NamedType extends Pick<SpecField, "name" | "description"> {
  /** A record, or another name for a type. */
  readonly shape: RecordShape | SpecType;
}

/** An object with known fields. */
export interface RecordShape {
  readonly type: "record";
  /** Its fields, in the order of the schema. */
  readonly fields: readonly SpecField[];
  /** Whether it may hold other fields. */
  readonly isOpen: boolean;
}

/** A field of a record, the same in every language. */
export interface SpecField {
  /** Name, the same in every language and on the wire. */
  readonly name: string;
  /** On one line; empty when the schema has none. */
  readonly description: string;
  /** Whether it is always there. */
  readonly isRequired: boolean;
  readonly type: SpecType;
  /** The value that stands for an absent field; undefined when the schema names none. */
  readonly default?: unknown;
}

/** The type of a value: plain, or made of others. */
export type SpecType =
  | { readonly type: "any" }
  | { readonly type: "null" }
  | { readonly type: "boolean" }
  /** Text, of any content or one of `values`. Lengths are in characters; `format` is for people. */
  | {
    readonly type: "string";
    readonly values?: readonly string[];
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly format?: string;
  }
  | {
    readonly type: "integer" | "number";
    readonly minimum?: number;
    readonly maximum?: number;
    readonly format?: string;
  }
  | { readonly type: "list"; readonly items: SpecType; readonly minItems?: number; readonly maxItems?: number }
  /** An object with any fields, whose values are all of one type. */
  | { readonly type: "map"; readonly values: SpecType }
  | { readonly type: "union"; readonly options: readonly SpecType[] }
  /** A type with a name of its own. */
  | { readonly type: "named"; readonly name: string };
