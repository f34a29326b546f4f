/**
 * Whose rules hold on a connection: SQLite asks at everything it compiles, and what nobody's rules allow is refused.
 *
 * @module
 */
import { type Access, type CallRules, mayAccess } from "./authorizer.ts";

/** Keeps the rules of one connection. The host's hold until {@link close}; a plugin's only while its work runs. */
export class RuleKeeper {
  /** A plugin's rules, the host's, or nobody's, which refuses everything. */
  #rules: CallRules | "host" | null = "host";
  #refused: Access | null = null;
  #refusesCompiling = false;

  /** Lets nothing through from now on but in {@link asHost} and {@link asPlugin}. */
  close(): void {
    this.#rules = null;
  }

  /** Whether SQLite may go on; remembers the first access that it may not have. */
  allows(access: Access): boolean {
    if (this.#rules === "host") return true;
    if (this.#rules !== null && !this.#refusesCompiling && mayAccess(this.#rules, access)) return true;
    this.#refused ??= access;
    return false;
  }

  /** Runs work of the host's own. */
  asHost<T>(run: () => T): T {
    const rules = this.#rules;
    this.#rules = "host";
    try {
      return run();
    } finally {
      this.#rules = rules;
    }
  }

  /** Runs work of a plugin. */
  asPlugin<T>(rules: CallRules, run: () => T): T {
    this.#rules = rules;
    try {
      return run();
    } finally {
      this.#rules = null;
    }
  }

  /** Runs what was compiled before; null when SQLite would have had to compile it again. */
  unlessCompiled<T>(run: () => T): T | null {
    this.#refusesCompiling = true;
    try {
      return run();
    } catch (error) {
      if (this.takeRefused() === null) throw error;
      return null;
    } finally {
      this.#refusesCompiling = false;
    }
  }

  /** Whether something was refused that nobody has taken yet. */
  get hasRefused(): boolean {
    return this.#refused !== null;
  }

  /** Returns what was refused first, and forgets it. */
  takeRefused(): Access | null {
    const refused = this.#refused;
    this.#refused = null;
    return refused;
  }
}
