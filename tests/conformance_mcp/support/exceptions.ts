/**
 * Scenarios of the conformance suites that a caged server behind `kaged mcp --http` does not pass, each with its reason.
 *
 * @module
 */
import type { Suite } from "./run_suite.ts";

/** A scenario that does not pass. */
export interface Exception {
  readonly suite: Suite;
  /** `extension` for scenarios of extensions, which belong to no revision. */
  readonly revision: string;
  readonly scenario: string;
  readonly reason: string;
  /** Whether it depends on the time that the suite takes: it may pass on a slow machine. */
  readonly isTimed?: boolean;
}

const POLLING =
  "A server in a cage speaks over stdio: it cannot ask for the connection of its client to be closed, and " +
  "the host closes none in the middle of a call";

const RELISTED =
  "A server that says again and again that its tools changed is asked for them once in five seconds; the scenario waits " +
  "for a second change within two (a SHOULD)";

const WAITED_FOR =
  "The host calls a tool that requires a task as one itself, and a client that knows no tasks waits for the result: it " +
  "need not be refused";
const TASK_FIRST =
  "The host makes the task before it calls the server: a question of the server is one of the task, in tasks/get, and " +
  "never comes before it";
const UNCHECKED = "The suite skips the only check of this scenario";
const SKILLS = "An extension that the host does not offer";

/** Scenarios of the extensions. */
const EXTENSIONS: readonly (readonly [scenario: string, reason: string])[] = [
  ["tasks-required-task-error", WAITED_FOR],
  ["tasks-mrtr-composition", TASK_FIRST],
  ["tasks-status-notifications", UNCHECKED],
  ...["directory", "enumeration", "manifest"].map((name) => [`sep-2640-skills-${name}`, SKILLS] as const),
];

/** All of them; a test fails for one that passes, unless it is timed. */
export const EXCEPTIONS: readonly Exception[] = [
  { suite: "0.1.16", revision: "2025-11-25", scenario: "server-sse-polling", reason: POLLING },
  { suite: "0.2.0-alpha.12", revision: "2025-11-25", scenario: "server-sse-polling", reason: POLLING },
  { suite: "0.2.0-alpha.12", revision: "2026-07-28", scenario: "server-stateless", reason: RELISTED, isTimed: true },
  ...EXTENSIONS.map(([scenario, reason]) => ({
    suite: "0.2.0-alpha.12" as const,
    revision: "extension",
    scenario,
    reason,
  })),
];
