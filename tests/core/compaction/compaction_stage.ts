/**
 * A stage for whole compactions: a small window, two plugins, and ports that note what happens.
 *
 * @module
 */
import type {
  CompactionAudit,
  CompactionHookParams,
  CompactionPlugin,
  CompactionPorts,
  CompactionTask,
  CompactorOutcome,
  Injection,
  ObserverRound,
} from "../../../src/core/compaction/types.ts";
import type { CompactionSettings } from "../../../src/core/project/types.ts";
import type { IdentifiedMessage } from "../../../src/core/compaction/messages.ts";
import { readPluginAnswer } from "../../../src/hooks/sources/plugin/plugin_hooks.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { answer, call, countChars, message } from "./conversations.ts";

/** A window of six messages; `a1` and `t1` are a tool call and its result. */
export const window: IdentifiedMessage[] = [
  message("s system"),
  message("u1 user"),
  call("a1", "c1"),
  answer("t1", "c1"),
  message("u2 user"),
  message("a2 assistant"),
];
/** Drops down to four messages; the newest two stay. */
export const settings: CompactionSettings = {
  strategy: "drop",
  delegate: null,
  target_tokens: null,
  target_messages: 4,
  keep_last: 2,
};
/** The same, left to {@link smart}. */
export const delegated: CompactionSettings = { ...settings, delegate: "smart" };
const both = ["pre_compact", "post_compact"];
/** A plugin that can compact. */
export const smart: CompactionPlugin = { key: "smart", plugin: "smart-compactor", hooks: both };
/** A plugin that observes. */
export const memory: CompactionPlugin = { key: "memory", plugin: "memory-markdown", hooks: both };
/** What an honest compactor makes of {@link window}. */
export const compacted: Readonly<Record<string, unknown>> = {
  role: "compactor",
  messages: [window[0], ...window.slice(4)],
  superseded: ["u1", "a1", "t1"],
  summary: "Three",
};

/** A stage, and what happened on it. */
export interface Stage {
  /** What a compaction runs with. */
  readonly ports: CompactionPorts;
  /** `"<hook> <plugin> <role>"`, in order. */
  readonly fired: string[];
  /** What was sent, by `"<hook> <plugin>"`. */
  readonly params: Record<string, CompactionHookParams>;
  /** Types of the audit events, in order. */
  types(): string[];
  /** Data of the first audit event of a type. */
  data<T extends keyof CompactionAudit>(type: T): CompactionAudit[T] | undefined;
}

/**
 * Ports whose plugins answer by `"<hook> <plugin>"`: {@link memory} and {@link smart} in the order given. A compactor's
 * answer that is an Error is thrown, an observer's says nothing.
 */
export function stage(
  answers: Record<string, unknown> = {},
  changes: Partial<CompactionPorts> = {},
  plugins: readonly CompactionPlugin[] = [memory, smart],
): Stage {
  const fired: string[] = [];
  const params: Record<string, CompactionHookParams> = {};
  const audited: [string, unknown][] = [];
  let lastId = 0;
  const isFailed = (answer: unknown): boolean => typeof answer === "object" && answer !== null && "ok" in answer;
  const ask = (hook: string, given: CompactionHookParams, { plugin }: CompactionPlugin): unknown => {
    fired.push(`${hook} ${plugin} ${given.role}`);
    params[`${hook} ${plugin}`] = given;
    return answers[`${hook} ${plugin}`] ?? null;
  };
  const ports: CompactionPorts = {
    askCompactor(given, plugin) {
      const answer = ask("pre_compact", given, plugin);
      if (answer instanceof Error) throw answer;
      return Promise.resolve(isFailed(answer) ? answer as CompactorOutcome : { ok: true, result: answer });
    },
    observe({ hook, params, except }) {
      const texts: { text: string; injection: Injection }[] = [];
      const retained: { plugin: string; text: string }[] = [];
      const ignored: { plugin: string; problem: string }[] = [];
      const round: ObserverRound = { texts, retained, ignored, blocked: null };
      for (const one of plugins.filter(({ key, hooks }) => key !== except && hooks.includes(hook))) {
        const { plugin } = one;
        const answer = ask(hook, params, one);
        if (answer instanceof Error || typeof answer === "number") continue;
        const { response, retain, problems } = readPluginAnswer(hook, plugin, isFailed(answer) ? null : answer);
        ignored.push(...problems.map((problem) => ({ plugin, problem })));
        retained.push(...retain.map((text) => ({ plugin, text })));
        for (const text of response?.additionalContext ?? []) {
          const injection = { plugin, hook, bytes: text.length, sha256: "0", cut: false };
          texts.push({ text: `<plugin:${plugin}>${text}</plugin:${plugin}>`, injection });
        }
      }
      return Promise.resolve(round);
    },
    audit: (type, data) => void audited.push([type, data]),
    countTokens: countChars,
    ids: { create: (prefix) => `${prefix}_${++lastId}` },
    clock: createFakeClock(),
    ...changes,
  };
  const types = () => audited.map(([type]) => type);
  const data = <T extends keyof CompactionAudit>(type: T) =>
    audited.find((event) => event[0] === type)?.[1] as CompactionAudit[T] | undefined;
  return { ports, fired, params, types, data };
}

/** A compaction of {@link window} with both plugins, changed as given. */
export const task = (changes: Partial<CompactionTask> = {}): CompactionTask => ({
  messages: window,
  trigger: "threshold_crossed",
  settings,
  plugins: [memory, smart],
  ...changes,
});
