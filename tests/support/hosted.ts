/**
 * A host with fixture plugins for one test: a real project folder, real processes in real cages, and a clock the test
 * moves.
 *
 * @module
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { AuditEvent, AuditType } from "../../src/core/audit/events.ts";
import { createHost } from "../../src/create_host.ts";
import type { Host, HostOptions } from "../../src/host/types.ts";
import { RULES_LOOK_MS } from "../../src/host/watch_rules.ts";
import type { Runtime } from "../../src/core/ports/ports.ts";
import type { PluginLogLine } from "../../src/core/supervisor/types.ts";
import { createFakeClock, type FakeClock } from "./fake_clock.ts";
import { type FixtureOptions, fixturePlugin } from "./fixture_plugins.ts";
import { until, untilSettled } from "./until.ts";

type Event<T extends AuditType> = Extract<AuditEvent, { type: T }>;

/** A host, its clock, its events and logs. */
export interface Hosted extends AsyncDisposable {
  readonly host: Host;
  readonly clock: FakeClock;
  /** The project's folder. */
  readonly dir: string;
  readonly home: string;
  /** Every audit event so far. */
  readonly events: AuditEvent[];
  /** Every line of stderr so far. */
  readonly logs: PluginLogLine[];
  /** The events of one type so far. */
  all<T extends AuditType>(type: T): Event<T>[];
  /** Resolves with the next event of a type that was not given out before. */
  next<T extends AuditType>(type: T): Promise<Event<T>>;
  /** Resolves once so many lines were written to stderr. */
  logged(count: number): Promise<void>;
  /** Waits for the timer due in `ms`, then moves the clock there. */
  pass(ms: number): Promise<void>;
}

/** A host's project, plugins and options. */
export interface HostedOptions extends Partial<Omit<HostOptions, "plugins">> {
  /** `project.yaml`: data, or its text. */
  readonly project?: never;
  /** `project.yaml`: data, or its text. */
  readonly yaml?: object | string;
  /** The primary's plugins, when that is the whole project: key → declaration; `package` is `@test/<key>`. */
  readonly primary?: Readonly<Record<string, object>>;
  /** Package → fixture to take for it. */
  readonly fixtures?: Readonly<Record<string, string | ({ fixture: string } & FixtureOptions)>>;
  /** `local.toml`. */
  readonly local?: string;
  /** `config.toml`. */
  readonly config?: string;
  /** Name of the project's folder. */
  readonly folder?: string;
  /** Ports that differ from those of the runtime; the clock is always the test's. */
  readonly ports?: Partial<Runtime>;
  /** False leaves the plugins where they are. Default: true. */
  readonly start?: boolean;
}

/** Makes a host for one test: `await using h = await hosted({ … })`. */
export async function hosted(options: HostedOptions = {}): Promise<Hosted> {
  const { yaml, primary = {}, fixtures = {}, local, config, folder = "music", ports, start = true, ...given } = options;
  // Every host looks at the operator's rules from time to time: no test is about that timer by chance.
  const clock = createFakeClock(undefined, { uncountedMs: RULES_LOOK_MS });
  const root = await realpath(await mkdtemp(join(tmpdir(), "kaged-host-")));
  const [home, dir] = [given.home ?? join(root, "home"), join(root, folder)];
  await mkdir(home, { recursive: true, mode: 0o700 });
  await mkdir(dir);
  const declared = Object.entries(primary).map((
    [key, declaration],
  ) => [key, { package: `@test/${key}`, ...declaration }]);
  const project = yaml ?? { primary: { plugins: Object.fromEntries(declared) } };
  await writeFile(join(dir, "project.yaml"), typeof project === "string" ? project : JSON.stringify(project, null, 2));
  if (local !== undefined) await writeFile(join(home, "local.toml"), local);
  if (config !== undefined) await writeFile(join(home, "config.toml"), config);
  const plugins: Record<string, string> = {};
  const cleanups: (() => PromiseLike<void>)[] = [];
  for (const [pkg, one] of Object.entries(fixtures)) {
    const { fixture, ...rest } = typeof one === "string" ? { fixture: one } : one;
    const made = await fixturePlugin(fixture, rest);
    cleanups.push(() => made[Symbol.asyncDispose]());
    plugins[pkg] = made.dir;
  }
  const events: AuditEvent[] = [];
  const logs: PluginLogLine[] = [];
  const taken = new Set<AuditEvent>();
  const runtime = { ...await detectRuntime(), ...ports, clock };
  const host = await createHost({
    audit: [],
    plugins,
    onLog: (line) => logs.push(line),
    ...given,
    runtime,
    home,
    project: dir,
  });
  host.onAudit((event) => events.push(event));
  if (start) await host.start();

  return {
    host,
    clock,
    dir,
    home,
    events,
    logs,
    all: <T extends AuditType>(type: T) => events.filter((event): event is Event<T> => event.type === type),
    async next<T extends AuditType>(type: T) {
      const look = () => events.find((event) => event.type === type && !taken.has(event));
      const found = await until(
        look,
        () => `another ${type}; there were ${events.map((event) => event.type).join(" ")}`,
      );
      taken.add(found!);
      return found as Event<T>;
    },
    async logged(count) {
      await until(() => logs.length >= count, () => `${count} lines of stderr; there were ${JSON.stringify(logs)}`);
    },
    async pass(ms) {
      // At every turn: a timer may be gone after a moment.
      await until(
        () => clock.isDueIn(ms),
        () => `a timer due in ${ms} ms; the next is due in ${clock.nextInMs}`,
        "turn",
      );
      clock.advance(ms);
    },
    async [Symbol.asyncDispose]() {
      // The clock stands still unless moved, and a plugin may need its SIGKILL.
      await untilSettled(host.stop(), "the end of host.stop()", { meanwhile: () => clock.advance(100) });
      for (const cleanup of cleanups) await cleanup();
      await rm(root, { recursive: true, force: true });
    },
  };
}
