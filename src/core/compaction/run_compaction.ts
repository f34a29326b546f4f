/**
 * A compaction from end to end: observers hear which messages are about to go, the compactor or the strategy makes the
 * window smaller, observers hear which are gone.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import {
  assignIds,
  type IdentifiedMessage,
  type Message,
  modifiedWindow,
  type Size,
  sizeOf,
  tokenCounter,
  withoutMarkers,
} from "./messages.ts";
import { askForSummary } from "./ask_for_summary.ts";
import {
  type CompactionTarget,
  compactionTarget,
  dropOldest,
  isWithin,
  splitForCompaction,
  type SplitWindow,
  withRoom,
} from "./drop_oldest.ts";
import { fitTexts } from "./fit_texts.ts";
import { alwaysKeepIds, insertMessage } from "./tool_groups.ts";
import type {
  CompactionAudit,
  CompactionHook,
  CompactionHookParams,
  CompactionPlugin,
  CompactionPorts,
  CompactionResult,
  CompactionTask,
  CompactorOutcome,
  ObserverRound,
  ObserverText,
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

/** A smaller window, and the strategy that made it. */
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
  readonly #target: CompactionTarget;
  /** The size that the strategies come down to: the target, less room for the text of observers. */
  #goal: CompactionTarget;
  /** Size of the window as the caller gave it: the new one is never larger. */
  readonly #before: Size;
  /** The window as the caller gave it. */
  readonly #original: readonly IdentifiedMessage[];
  /** The window to compact: the original, unless a handler modified it. */
  #window: readonly IdentifiedMessage[];
  #keep: ReadonlySet<string> = new Set();
  #split: SplitWindow = { beingCompacted: [], remaining: [] };
  readonly #retained: { plugin: string; text: string }[] = [];
  readonly #texts: ObserverText[] = [];
  #hasHung = false;
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
    this.#original = this.#window = assignIds(task.messages, ports.ids);
    this.#before = sizeOf(this.#window, this.#count);
    this.#target = compactionTarget(targetTokens, settings, this.#before);
    this.#goal = this.#target;
    this.#take(this.#window);
  }

  /** Compacts `window` from here on. */
  #take(window: readonly IdentifiedMessage[]): void {
    const { settings, delegateFault = null } = this.#task;
    this.#window = window;
    this.#keep = alwaysKeepIds(window, settings.keep_last);
    // Known before anyone is asked, so that observers hear beforehand of every message that goes.
    const isDone = isWithin(sizeOf(window, this.#count), this.#target);
    this.#goal = isDone || !this.#isObserved ? this.#target : withRoom(this.#target, { messages: 1 });
    const delegated = delegateFault === null ? "compactor" : "drop";
    this.#split = splitForCompaction(window, {
      decidedBy: settings.delegate === null ? settings.strategy : delegated,
      target: this.#goal,
      keep: this.#keep,
      countTokens: this.#count,
    });
  }

  async run(): Promise<CompactionResult> {
    const { settings, trigger } = this.#task;
    const before = this.#before;
    this.#audit("compaction.triggered", {
      trigger,
      strategy: settings.strategy,
      delegate: settings.delegate,
      before,
      target_tokens: this.#target.tokens,
      target_messages: this.#target.messages,
      being_compacted: this.#split.beingCompacted.length,
    });
    const modified = await this.#observe("pre_compact", settings.strategy, this.#split, before);
    if (modified && !this.#blocked) this.#take(modified);
    const first = this.#blocked ? this.#unchanged() : await this.#firstChoice();
    const smaller = isFailure(first) ? this.#drop("drop") : first;
    const kept = this.#blocked ? smaller.messages : await this.#afterwards(smaller, before);
    const { messages, injected, leftOut } = this.#withTexts(kept);
    const left = new Set(messages.map(({ id }) => id));
    const superseded = this.#original.filter(({ id }) => !left.has(id)).map(({ id }) => id);
    const after = sizeOf(messages, this.#count);
    this.#audit("compaction.completed", {
      by: smaller.by,
      before,
      after,
      superseded: superseded.length,
      summary: smaller.summary === null ? null : clipped(smaller.summary, 4000),
      retained: this.#retained.length,
      injected: injected.length,
      ignored: this.#ignored,
      target_reached: isWithin(after, this.#target),
      fallback: isFailure(first) ? first.reason : null,
    });
    return {
      messages,
      superseded,
      by: smaller.by,
      ...(smaller.summary === null ? {} : { summary: smaller.summary }),
      retained: this.#retained,
      injected,
      ...(leftOut.length > 0 && { leftOut }),
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
      const { delegateFault } = this.#task;
      const detail = clipped(delegateFault ?? `No plugin "${delegate}" of this agent takes pre_compact`);
      return { reason: "compactor_unavailable", detail };
    }
    const params = this.#params("compactor", this.#task.settings.strategy, this.#split);
    const outcome = await this.#ask(params, compactor);
    if (!outcome.ok) {
      this.#hasHung = outcome.reason === "timeout";
      return { reason: outcome.reason, detail: clipped(outcome.detail) };
    }
    const verdict = verifyCompactorResult(outcome.result, {
      original: this.#window,
      beingCompacted: new Set(this.#split.beingCompacted.map(({ id }) => id)),
      alwaysKeep: this.#keep,
      countTokens: this.#count,
      adopt: (added) => this.#adopt(withoutMarkers(added, this.#ports.escape), compactor.plugin),
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
    const { plugins, settings, delegateFault = null } = this.#task;
    if (delegateFault !== null) return undefined;
    return plugins.find(({ key, hooks }) => key === settings.delegate && hooks.includes("pre_compact"));
  }

  /** Whether anything may add text to the window: other handlers, or plugins; a compactor that does not look on cannot. */
  get #isObserved(): boolean {
    const compactor = this.#compactor;
    const hears = (plugin: CompactionPlugin): boolean =>
      plugin.hooks.includes("post_compact") || (plugin !== compactor && plugin.hooks.includes("pre_compact"));
    return this.#ports.mayInject === true || this.#task.plugins.some(hears);
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
    const options = { target: this.#goal, keep: this.#keep, countTokens: this.#count };
    const { messages, superseded } = dropOldest(this.#window, options);
    return { by: name ?? (superseded.length > 0 ? "drop" : "none"), messages, superseded, summary: null };
  }

  #unchanged(): Smaller {
    return { by: "none", messages: this.#window, superseded: [], summary: null };
  }

  /** Asks the observers about the new window, and returns it as they leave it. */
  async #afterwards({ by, messages, superseded }: Smaller, before: Size): Promise<readonly IdentifiedMessage[]> {
    const gone = new Set(superseded);
    const split = { beingCompacted: this.#window.filter(({ id }) => gone.has(id)), remaining: [...messages] };
    const strategy = by === "none" ? this.#task.settings.strategy : by;
    return await this.#observe("post_compact", strategy, split, before) ?? messages;
  }

  /** Asks the observers and keeps what they want; returns the window that one of them modified, or null. */
  async #observe(
    hook: CompactionHook,
    strategy: CompactionHookParams["strategy"],
    split: SplitWindow,
    before: Size,
  ): Promise<IdentifiedMessage[] | null> {
    const isBefore = hook === "pre_compact";
    try {
      const round = await this.#ports.observe({
        hook,
        params: this.#params("observer", strategy, split),
        window: isBefore ? this.#window : split.remaining,
        before,
        after: isBefore ? null : sizeOf(split.remaining, this.#count),
        // A compactor that hangs would cost its whole time once more.
        except: isBefore || this.#hasHung ? this.#compactor?.key ?? null : null,
      });
      this.#texts.push(...round.texts.map((one) => ({ ...one, hook })));
      this.#retained.push(...round.retained);
      for (const { plugin, problem } of round.ignored) this.#ignored.push({ plugin, hook, problem });
      this.#blocked = round.blocked;
      if (round.modified === undefined) return null;
      return modifiedWindow(round.modified, this.#before, { count: this.#count, ids: this.#ports.ids });
    } catch (error) {
      this.#ignored.push({ plugin: "host", hook, problem: clipped(messageOf(error)) });
      return null;
    }
  }

  /** Adds the observers' texts that fit: within the target, and no larger than the window was. */
  #withTexts(messages: readonly IdentifiedMessage[]): ReturnType<typeof fitTexts> {
    const { tokens, messages: count } = this.#target;
    const room = {
      tokens: Math.min(tokens ?? Infinity, this.#before.tokens),
      messages: Math.min(count ?? Infinity, this.#before.messages),
    };
    const adopt = (added: Message, by: string): IdentifiedMessage => this.#adopt(added, by);
    const fitted = fitTexts(messages, this.#texts, { room, countTokens: this.#count, adopt });
    for (const { plugin, hook, bytes } of fitted.leftOut) {
      const problem = `its text of ${bytes} bytes was left out: the window has no room for it`;
      this.#ignored.push({ plugin, hook, problem });
    }
    return fitted;
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

  /** A port that throws although it may not must not cost the window. */
  async #ask(params: CompactionHookParams, plugin: CompactionPlugin): Promise<CompactorOutcome> {
    try {
      return await this.#ports.askCompactor(params, plugin);
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
      // The audit counts the events it loses.
    }
  }
}

/** Words of a plugin or an embedder, short enough to keep in an audit. */
function clipped(text: string, maxChars = 500): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
}
