/**
 * Statements as SQLite has compiled them under their plugin's rules, kept for the next call.
 *
 * @module
 */
import type { Statement } from "../ports/ports.ts";
import type { CallRules } from "./authorizer.ts";
import type { Rewritten } from "./sql/rewrite.ts";
import type { ColumnFacts } from "./values.ts";

export interface Compiled {
  readonly rewritten: Rewritten;
  readonly statement: Statement;
  readonly rules: CallRules;
  readonly columns: ColumnFacts;
  /** Whether SQLite compiles nothing more while it runs; a search table compiles statements of its own. */
  readonly isSelfContained: boolean;
  /** Whether a row held an integer that is no number. */
  hasBigIntegers: boolean;
}

/** The facts about a statement that a plugin has prepared. */
export interface PreparedFacts {
  readonly kind: "query" | "exec";
  /** Number of parameters to bind. */
  readonly parameters: number;
  /** Names of the columns it returns, as of now. */
  readonly columns: readonly string[];
}

const CACHED_STATEMENTS = 256;

/** The compiled statements of one connection, for as long as the schema stays. */
export class CompiledStatements {
  readonly #byPlugin: Map<string, Map<string, Compiled>> = new Map();
  #count = 0;

  get(plugin: string, sql: string): Compiled | undefined {
    return this.#byPlugin.get(plugin)?.get(sql);
  }

  /** Keeps a statement. Where there are too many, all others go: which of them come again is not known. */
  keep(plugin: string, sql: string, compiled: Compiled): void {
    if (this.#count >= CACHED_STATEMENTS) this.clear();
    this.#count++;
    let own = this.#byPlugin.get(plugin);
    if (!own) this.#byPlugin.set(plugin, own = new Map());
    own.set(sql, compiled);
  }

  clear(): void {
    this.#byPlugin.clear();
    this.#count = 0;
  }
}

/** Whether a statement changes the schema. */
export function isDefinition({ kind }: Rewritten): boolean {
  return kind === "create" || kind === "alter" || kind === "drop";
}
