/**
 * A supervisor with fixture plugins for one test: real processes in real cages, and a clock the test moves.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { AuditEvent, AuditType } from "../../src/core/audit/events.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import type { PluginLogLine, PluginSpec, Supervisor, SupervisorOptions } from "../../src/core/supervisor/types.ts";
import { createFakeClock, type FakeClock } from "./fake_clock.ts";
import { type FixtureOptions, fixturePlugin } from "./fixture_plugins.ts";
import { until, untilSettled } from "./until.ts";

type Event<T extends AuditType> = Extract<AuditEvent, { type: T }>;

/** A supervisor, its clock, its events and logs. */
export interface Supervised extends AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly clock: FakeClock;
  readonly home: string;
  /** Every audit event so far. */
  readonly events: AuditEvent[];
  /** Every line of stderr so far. */
  readonly logs: PluginLogLine[];
  /** Types of the events so far, for one look at the order. */
  types(instance?: string): AuditType[];
  /** Resolves with the next event of a type that was not given out before. */
  next<T extends AuditType>(type: T, instance?: string): Promise<Event<T>>;
  /** Makes a fixture plugin and registers it; resolves with its instance id. */
  add(fixture: string, options?: FixtureOptions & { spec?: Partial<PluginSpec> }): Promise<string>;
  /** Resolves once a timer waits that falls due in exactly `ms`. */
  timer(ms: number): Promise<void>;
  /** Waits for the timer due in `ms`, then moves the clock there. */
  pass(ms: number): Promise<void>;
}

/** Makes a supervisor for one test: `await using s = await supervised()`. */
export async function supervised(options: Partial<SupervisorOptions> = {}): Promise<Supervised> {
  const clock = createFakeClock();
  const home = await mkdtemp(join(tmpdir(), "kaged-home-"));
  const events: AuditEvent[] = [];
  const logs: PluginLogLine[] = [];
  const given = new Set<AuditEvent>();
  const waiting = new Set<() => void>();
  const cleanups: (() => Promise<void>)[] = [];
  const supervisor = createSupervisor({
    runtime: { ...await detectRuntime(), clock },
    home,
    onLog: (line) => logs.push(line),
    ...options,
  });
  supervisor.onAudit((event) => {
    events.push(event);
    for (const look of waiting) look();
  });

  return {
    supervisor,
    clock,
    home,
    events,
    logs,
    types: (instance) => events.filter((event) => !instance || event.instance === instance).map((event) => event.type),
    async next<T extends AuditType>(type: T, instance?: string) {
      const next = new Promise<Event<T>>((resolve) => {
        const look = () => {
          const found = events.find((event) =>
            event.type === type && !given.has(event) && (!instance || event.instance === instance)
          );
          if (!found) return;
          given.add(found);
          waiting.delete(look);
          resolve(found as Event<T>);
        };
        waiting.add(look);
        look();
      });
      return await untilSettled(
        next,
        () => `another ${type}; there were ${events.map((event) => event.type).join(" ")}`,
      );
    },
    async add(fixture, { spec = {}, ...rest } = {}) {
      const plugin = await fixturePlugin(fixture, rest);
      cleanups.push(async () => await plugin[Symbol.asyncDispose]());
      return (await supervisor.register({ dir: plugin.dir, ...spec })).instance;
    },
    timer,
    async pass(ms) {
      await timer(ms);
      clock.advance(ms);
    },
    async [Symbol.asyncDispose]() {
      // The clock stands still unless moved, and a plugin may need its SIGKILL.
      await untilSettled(supervisor.stopAll(), "the end of stopAll()", { meanwhile: () => clock.advance(100) });
      for (const cleanup of cleanups) await cleanup();
      await rm(home, { recursive: true, force: true });
    },
  };

  async function timer(ms: number): Promise<void> {
    // At every turn: a timer may be gone after a moment.
    await until(() => clock.isDueIn(ms), () => `a timer due in ${ms} ms; the next is due in ${clock.nextInMs}`, "turn");
  }
}
