/**
 * Metrics in the text format of Prometheus (0.0.4).
 *
 * @module
 */
import type { DeskFigures } from "../core/approvals/desk_types.ts";
import type { AuditEvent } from "../core/audit/events.ts";
import type { HostPluginInfo } from "../host/view_types.ts";

/** Gauges, read from the host at the moment of rendering. */
export interface MetricsNow {
  readonly instances: readonly HostPluginInfo[];
  readonly sessions: number;
  /** Plugin → bytes of its tables. */
  readonly storageBytes: Readonly<Record<string, number>>;
  readonly approvals: DeskFigures;
}

/** Counters that follow the events of a host. */
export interface Metrics {
  observe(event: AuditEvent): void;
  /** Counts an answer of the API by its status. */
  answered(status: number): void;
  /** Returns all counters and gauges as text. */
  render(now: MetricsNow): string;
}

type Labels = Readonly<Record<string, string>>;
/** One line; the suffix goes to the family's name. */
type Sample = readonly [labels: Labels, value: number, suffix?: "_bucket" | "_sum" | "_count"];

const STATES: readonly HostPluginInfo["state"][] = [
  "disabled",
  "spawning",
  "running",
  "resting",
  "crashed",
  "failed",
  "stopped",
  "refused",
];
const BUCKETS_SEC: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30];

/** Returns counters at zero. */
export function createMetrics(): Metrics {
  const calls = counter("kaged_calls_total", "Calls of plugins' methods that ended");
  const callTimes = histogram("kaged_call_duration_seconds", "How long calls took");
  const hooks = counter("kaged_hooks_total", "Hooks fired at plugins that ended");
  const hookTimes = histogram("kaged_hook_duration_seconds", "How long answered hooks took");
  const problems = counter("kaged_plugin_problems_total", "Problems of plugins, by audit event");
  const compactions = counter(
    "kaged_compactions_total",
    "Compactions, by the plugin or strategy that made the window smaller",
  );
  const answers = counter("kaged_http_responses_total", "Answers of the HTTP API");

  return {
    observe(event) {
      const { name: plugin } = event;
      switch (event.type) {
        case "plugin.method_returned":
          calls.add({ plugin, outcome: event.data.success ? "ok" : "error" });
          return callTimes.add({ plugin }, event.data.duration_ms / 1000);
        case "plugin.hook.returned":
          hooks.add({ plugin, hook: event.data.hook, outcome: "ok" });
          return hookTimes.add({ plugin, hook: event.data.hook }, event.data.duration_ms / 1000);
        case "plugin.hook.timeout":
          return hooks.add({ plugin, hook: event.data.hook, outcome: "timeout" });
        case "plugin.hook.failed":
          return hooks.add({ plugin, hook: event.data.hook, outcome: "failed" });
        case "compaction.completed":
          return compactions.add({ agent: event.data.agent_path, by: event.data.by });
        case "plugin.repeated":
          if (PROBLEMS.has(event.data.event)) problems.add({ plugin, type: event.data.event }, event.data.count);
          return;
        default:
          if (PROBLEMS.has(event.type)) problems.add({ plugin, type: event.type });
      }
    },
    answered: (status) => answers.add({ status: `${status}` }),
    render({ instances, sessions, storageBytes, approvals }) {
      const states = instances.flatMap(({ plugin, instance, state }) =>
        STATES.map((one): Sample => [{ plugin, instance, state: one }, one === state ? 1 : 0])
      );
      const restarts = instances.map(({ plugin, instance, restarts }): Sample => [{ plugin, instance }, restarts]);
      const bytes = Object.entries(storageBytes).map(([plugin, count]): Sample => [{ plugin }, count]);
      return [
        family("kaged_plugin_state", "gauge", "1 for the state an instance is in", states),
        family("kaged_plugin_restarts_total", "counter", "Starts after the first", restarts),
        family("kaged_sessions", "gauge", "Open sessions", [[{}, sessions]]),
        family("kaged_storage_bytes", "gauge", "Bytes a plugin's tables take", bytes),
        ...approvalFamilies(approvals),
        ...[calls, callTimes, hooks, hookTimes, problems, compactions, answers].map((one) => one.text()),
      ].join("");
    },
  };
}

/** Requests for a person's yes: how many wait, how they ended, and how long people took. */
function approvalFamilies({ waiting, ended, answerSeconds: { sum, count } }: DeskFigures): string[] {
  const ends = Object.entries(ended).map(([state, number]): Sample => [{ state }, number]);
  const times: Sample[] = [[{}, sum, "_sum"], [{}, count, "_count"]];
  return [
    family("kaged_approvals_waiting", "gauge", "Calls of tools that wait for a person", [[{}, waiting]]),
    family("kaged_approvals_ended_total", "counter", "Calls of tools that waited for a person, by their end", ends),
    family("kaged_approval_answer_seconds", "summary", "How long people took to answer", times),
  ];
}

/** Events that should not happen while all goes well. */
const PROBLEMS: ReadonlySet<string> = new Set([
  "plugin.stdout_noise",
  "plugin.notification_flood",
  "plugin.flood",
  "plugin.health_fail",
  "plugin.stuck",
  "plugin.crashed",
  "plugin.killed",
  "plugin.failed",
  "plugin.refused",
  "plugin.reload_failed",
  "plugin.protocol_violation",
  "plugin.initialize_timeout",
  "plugin.capability_overreach",
  "plugin.net_refused",
  "plugin.secret_misused",
  "plugin.net_request_refused",
  "plugin.storage_denied",
  "plugin.config_rejected",
]);

function counter(name: string, help: string): { add(labels: Labels, count?: number): void; text(): string } {
  const counts = new Map<string, [Labels, number]>();
  return {
    add(labels, count = 1) {
      const key = labelText(labels);
      counts.set(key, [labels, (counts.get(key)?.[1] ?? 0) + count]);
    },
    text: () => family(name, "counter", help, [...counts.values()]),
  };
}

function histogram(name: string, help: string): { add(labels: Labels, value: number): void; text(): string } {
  const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
  return {
    add(labels, value) {
      const key = labelText(labels);
      const one = series.get(key) ?? { labels, counts: BUCKETS_SEC.map(() => 0), sum: 0, count: 0 };
      series.set(key, one);
      one.sum += value;
      one.count++;
      BUCKETS_SEC.forEach((bound, at) => value <= bound && one.counts[at]!++);
    },
    text() {
      const samples = [...series.values()].flatMap(({ labels, counts, sum, count }): Sample[] => [
        ...BUCKETS_SEC.map((le, at): Sample => [{ ...labels, le: `${le}` }, counts[at]!, "_bucket"]),
        [{ ...labels, le: "+Inf" }, count, "_bucket"],
        [labels, sum, "_sum"],
        [labels, count, "_count"],
      ]);
      return family(name, "histogram", help, samples);
    },
  };
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value, suffix = ""]) => `${name}${suffix}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
