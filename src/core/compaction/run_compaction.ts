/**
 * A compaction from end to end: observers hear what is about to go, the compactor or the strategy makes the window
 * smaller, observers hear what is gone.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import { assignIds, type IdentifiedMessage, type Message, type Size, sizeOf } from "./messages.ts";
import { alwaysKeepIds } from "./always_keep.ts";
import { askForSummary } from "./ask_for_summary.ts";
import { type CompactionTarget, dropOldest, isWithin } from "./drop_oldest.ts";
import { afterSystem, insertMessage } from "./insert_message.ts";
import { observeRound } from "./observe_round.ts";
import { readObserverResult } from "./observer_result.ts";
import { compactionTarget, splitForCompaction, type SplitWindow } from "./split_for_compaction.ts";
import { tokenCounter } from "./token_counter.ts";
import type {
  CompactionAudit,
  CompactionHook,
  CompactionHookOutcome,
  CompactionHookParams,
  CompactionPlugin,
  CompactionPorts,
  CompactionResult,
  CompactionTask,
  Injection,
  ObserverQuestion,
  ObserverRound,
} from "./types.ts";
import { verifyCompactorResult } from "./verify_compactor_result.ts";

/**
 * Makes a window smaller. Whatever a plugin, the summary or a listener does, the result is a window that can be used:
 * when the first choice fails, the oldest messages are dropped.
 *
 * @throws {HostError} `host.misuse` when the caller's own messages or target make no sense; for nothing else.
 */
export async function runCompaction(task: CompactionTask, ports: CompactionPorts): Promise<CompactionResult> {
  return await new Compaction(task, ports).run();
}

/** A smaller window, and who made it. */
interface Smaller {
  readonly by: CompactionResult["by"];
  readonly messages: readonly IdentifiedMessage[];
  readonly superseded: readonly string[];
  readonly summary: string | null;
}

/** Why the first choice is not used. */
interface Failure {
  readonly reason: string;
  readonly detail: string;
}

const isFailure = (outcome: Smaller | Failure): outcome is Failure => "reason" in outcome;

class Compaction {
  readonly #task: CompactionTask;
  readonly #ports: CompactionPorts;
  readonly #count: (message: Message) => number;
  readonly #window: IdentifiedMessage[];
  readonly #keep: ReadonlySet<string>;
  readonly #target: CompactionTarget;
  readonly #split: SplitWindow;
  readonly #retained: { plugin: string; text: string }[] = [];
  readonly #injections: Injection[] = [];
  readonly #texts: string[] = [];
  #blocked: ObserverRound["blocked"] = null;
  readonly #ignored: CompactionAudit["compaction.completed"]["ignored"] = [];

  constructor(task: CompactionTask, ports: CompactionPorts) {
    const { settings, targetTokens } = task;
    if (targetTokens !== undefined && !(targetTokens >= 0)) {
      throw new HostError("host.misuse", `Cannot compact to ${targetTokens} tokens: a target is 0 or more`);
    }
    this.#task = task;
    this.#ports = ports;
    this.#count = tokenCounter(ports.countTokens);
    this.#window = assignIds(task.messages, ports.ids);
    this.#keep = alwaysKeepIds(this.#window, settings.keep_last);
    this.#target = compactionTarget(targetTokens, settings, sizeOf(this.#window, this.#count));
    this.#split = splitForCompaction(this.#window, {
      decidedBy: settings.delegate === null ? settings.strategy : "compactor",
      target: this.#target,
      keep: this.#keep,
      countTokens: this.#count,
    });
  }

  async run(): Promise<CompactionResult> {
    const { settings, trigger } = this.#task;
    const before = sizeOf(this.#window, this.#count);
    this.#audit("compaction.triggered", {
      trigger,
      strategy: settings.strategy,
      delegate: settings.delegate,
      before,
      target_tokens: this.#target.tokens,
      target_messages: this.#target.messages,
      being_compacted: this.#split.beingCompacted.length,
    });
    await this.#tellObservers("pre_compact", settings.strategy, this.#split, before);
    const first = this.#blocked ? this.#unchanged() : await this.#firstChoice();
    const smaller = isFailure(first) ? this.#drop("drop") : first;
    const gone = new Set(smaller.superseded);
    if (!this.#blocked) {
      const split = { beingCompacted: this.#window.filter(({ id }) => gone.has(id)), remaining: [...smaller.messages] };
      const strategy = smaller.by === "none" ? settings.strategy : smaller.by;
      await this.#tellObservers("post_compact", strategy, split, before);
    }
    const messages = this.#withInjections(smaller.messages);
    const after = sizeOf(messages, this.#count);
    this.#audit("compaction.completed", {
      by: smaller.by,
      before,
      after,
      superseded: smaller.superseded.length,
      summary: smaller.summary === null ? null : clipped(smaller.summary, 4000),
      retained: this.#retained.length,
      injected: this.#injections.length,
      ignored: this.#ignored,
      target_reached: isWithin(after, this.#target),
      fallback: isFailure(first) ? first.reason : null,
    });
    return {
      messages,
      superseded: [...smaller.superseded],
      by: smaller.by,
      ...(smaller.summary === null ? {} : { summary: smaller.summary }),
      retained: this.#retained,
      injected: this.#injections,
      before,
      after,
      ...(this.#blocked && { blocked: this.#blocked }),
      ...(isFailure(first) ? { fallback: { reason: first.reason, detail: first.detail } } : {}),
    };
  }

  /** Does what the agent's settings ask for. */
  async #firstChoice(): Promise<Smaller | Failure> {
    const { delegate, strategy } = this.#task.settings;
    if (delegate !== null) {
      const outcome = await this.#askCompactor(delegate);
      if (isFailure(outcome)) this.#fail("compactor", this.#compactor?.plugin ?? delegate, outcome);
      return outcome;
    }
    if (strategy === "drop" || this.#split.beingCompacted.length === 0) return this.#drop();
    const outcome = await this.#summarize();
    if (isFailure(outcome)) this.#fail("summarize", null, outcome);
    return outcome;
  }

  async #askCompactor(delegate: string): Promise<Smaller | Failure> {
    const compactor = this.#compactor;
    if (!compactor) {
      return { reason: "compactor_unavailable", detail: `No plugin "${delegate}" of this agent takes pre_compact` };
    }
    const params = this.#params("compactor", this.#task.settings.strategy, this.#split);
    const outcome = await this.#fire("pre_compact", params, compactor);
    if (!outcome.ok) return { reason: outcome.reason, detail: clipped(outcome.detail) };
    const verdict = verifyCompactorResult(outcome.result, {
      original: this.#window,
      beingCompacted: new Set(this.#split.beingCompacted.map(({ id }) => id)),
      alwaysKeep: this.#keep,
      countTokens: this.#count,
      adopt: (added) => this.#adopt(added, compactor.plugin),
    });
    if (verdict.ok) return { by: verdict.superseded.length > 0 ? "compactor" : "none", ...verdict };
    const ids = verdict.droppedAlwaysKeep;
    if (ids) {
      const { plugin } = compactor;
      this.#audit("compactor_dropped_always_keep", { plugin, message_ids: ids.slice(0, 20), total: ids.length });
    }
    return { reason: verdict.reason, detail: verdict.detail };
  }

  get #compactor(): CompactionPlugin | undefined {
    const { plugins, settings } = this.#task;
    return plugins.find(({ key, hooks }) => key === settings.delegate && hooks.includes("pre_compact"));
  }

  async #summarize(): Promise<Smaller | Failure> {
    const { beingCompacted, remaining } = this.#split;
    const answer = await askForSummary(beingCompacted, this.#ports);
    if (!answer.ok) return answer;
    const content = `Summary of ${beingCompacted.length} earlier messages:\n\n${answer.summary}`;
    const summary = this.#adopt({ role: "user", content }, "summarize");
    const firstGone = this.#window.indexOf(beingCompacted[0]!);
    const messages = insertMessage(remaining, firstGone, summary);
    const [before, after] = [sizeOf(this.#window, this.#count).tokens, sizeOf(messages, this.#count).tokens];
    if (after >= before) {
      return { reason: "not_smaller", detail: `With the summary it has ${after} tokens, after ${before}` };
    }
    return { by: "summarize", messages, superseded: beingCompacted.map(({ id }) => id), summary: answer.summary };
  }

  #drop(name?: "drop"): Smaller {
    const options = { target: this.#target, keep: this.#keep, countTokens: this.#count };
    const { messages, superseded } = dropOldest(this.#window, options);
    return { by: name ?? (superseded.length > 0 ? "drop" : "none"), messages, superseded, summary: null };
  }

  #unchanged(): Smaller {
    return { by: "none", messages: this.#window, superseded: [], summary: null };
  }

  async #tellObservers(
    hook: CompactionHook,
    strategy: CompactionHookParams["strategy"],
    split: SplitWindow,
    before: Size,
  ): Promise<void> {
    const params = this.#params("observer", strategy, split);
    const question: ObserverQuestion = {
      hook,
      params,
      window: hook === "pre_compact" ? this.#window : split.remaining,
      before,
      after: hook === "post_compact" ? sizeOf(split.remaining, this.#count) : null,
      observers: this.#task.plugins.filter((plugin) =>
        plugin.hooks.includes(hook) && (hook !== "pre_compact" || plugin !== this.#compactor)
      ),
      ask: async (plugin) => {
        const outcome = await this.#fire(hook, params, plugin);
        if (!outcome.ok) throw new Error(outcome.detail); // Whoever asks tells it as broken, and goes on.
        return await this.#collect(hook, plugin.plugin, outcome.result);
      },
    };
    const ignore = (error: unknown): void =>
      void this.#ignored.push({ plugin: "host", hook, problem: clipped(messageOf(error)) });
    const { texts, blocked } = await observeRound(question, this.#ports.observe, ignore);
    this.#texts.push(...texts);
    this.#blocked = blocked;
  }

  async #collect(hook: CompactionHook, plugin: string, result: unknown): Promise<string | null> {
    try {
      const { retain, inject, problems } = readObserverResult(hook, plugin, result);
      for (const text of retain) this.#retained.push({ plugin, text });
      for (const problem of problems) this.#ignored.push({ plugin, hook, problem });
      if (inject === null) return null;
      const injected = await this.#ports.inject(plugin, hook, inject);
      if (injected) this.#injections.push(injected.injection);
      return injected?.text ?? null;
    } catch (error) {
      this.#ignored.push({ plugin, hook, problem: clipped(messageOf(error)) });
      return null;
    }
  }

  #withInjections(messages: readonly IdentifiedMessage[]): IdentifiedMessage[] {
    if (this.#texts.length === 0) return [...messages];
    const content = this.#texts.join("\n\n");
    const plugins = [...new Set(this.#injections.map(({ plugin }) => plugin))];
    const by = this.#texts.length > this.#injections.length ? [...plugins, "hooks"] : plugins;
    return insertMessage(messages, afterSystem(messages), this.#adopt({ role: "user", content }, by.join(", ")));
  }

  #adopt(added: Message, by: string): IdentifiedMessage {
    return { ...added, id: this.#ports.ids.create("msg"), added_by: by };
  }

  #params(
    role: CompactionHookParams["role"],
    strategy: CompactionHookParams["strategy"],
    { beingCompacted, remaining }: SplitWindow,
  ): CompactionHookParams {
    const { trigger } = this.#task;
    return { role, messages_being_compacted: beingCompacted, messages_remaining: remaining, strategy, trigger };
  }

  /** A port that breaks its promise never to throw must not cost the window. */
  async #fire(
    hook: CompactionHook,
    params: CompactionHookParams,
    plugin: CompactionPlugin,
  ): Promise<CompactionHookOutcome> {
    try {
      return await this.#ports.fire(hook, params, plugin);
    } catch (error) {
      return { ok: false, reason: "failed", detail: messageOf(error) };
    }
  }

  #fail(by: "compactor" | "summarize", plugin: string | null, { reason, detail }: Failure): void {
    this.#audit("compaction.failed", { by, plugin, reason, detail });
  }

  #audit<T extends keyof CompactionAudit>(type: T, data: CompactionAudit[T]): void {
    try {
      this.#ports.audit(type, data);
    } catch {
      // What keeps the audit counts its own losses.
    }
  }
}

/** Words of a plugin or an embedder, short enough to keep in an audit. */
function clipped(text: string, maxChars = 500): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
}
