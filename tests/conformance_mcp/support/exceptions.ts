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

const TASKS =
  "An extension. The host makes tasks of tools that say so in execution, as servers of 2025-11-25 do; the " +
  "SDK lets no server of 2026-07-28 say so, and the server of the tests is one";
const SKILLS = "An extension that the host does not offer";

/** Scenarios of the extensions. */
const EXTENSIONS: readonly (readonly [scenario: string, reason: string])[] = [
  ...["lifecycle", "capability-negotiation", "wire-fields", "request-state-removal", "mrtr-input", "request-headers"]
    .map((name) => [`tasks-${name}`, TASKS] as const),
  ...["dispatch-and-envelope", "status-notifications", "required-task-error", "mrtr-composition"]
    .map((name) => [`tasks-${name}`, TASKS] as const),
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
