/**
 * Runs a plugin against a tape: sends it the host's messages of then, and compares its answers with those on the tape.
 *
 * @module
 */
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Clock, Exit } from "../../core/ports/ports.ts";
import { parseLine } from "../../core/wire/codec.ts";
import type { OpenWire, PluginWire } from "../plugin_wire.ts";
import { firstDifference, type IgnoredPlace } from "./first_difference.ts";
import { revealSecrets, SecretKeeper } from "../../core/wire/tape/secrets.ts";
import type { Tape, TapeEntry, TapeMessage } from "../../core/wire/tape/tape.ts";
import { endingOf } from "../../core/values/ending_of.ts";

/** The first deviation from the tape. */
export interface Difference {
  /** Line of the tape it is about; null for what the tape does not have. */
  readonly line: number | null;
  /** `differs`: another message; `missing`: none came; `unexpected`: the tape has none; `exit`: it ended otherwise. */
  readonly kind: "differs" | "missing" | "unexpected" | "exit";
  /** Where the message differs, as a JSON pointer. */
  readonly at?: string;
  /** The deviation, for a person. */
  readonly detail: string;
  /** The message or exit on the tape. */
  readonly expected?: unknown;
  /** The message or exit of this run. */
  readonly came?: unknown;
}

/** The outcome of a replay, up to its first difference. */
export interface ReplayReport {
  /** Whether everything was as on the tape. */
  readonly ok: boolean;
  /** Number of messages the plugin was sent. */
  readonly sent: number;
  /** Number of messages of the plugin that were as on the tape. */
  readonly matched: number;
  readonly difference: Difference | null;
}

/** A tape and the plugin to replay it with. */
export interface ReplayOptions {
  readonly tape: Tape;
  readonly manifest: Manifest;
  readonly open: OpenWire;
  readonly clock: Clock;
  /** Places of messages that are not compared. */
  readonly ignored?: readonly IgnoredPlace[];
  /** Values for the placeholders of secrets. */
  readonly secrets: Readonly<Record<string, unknown>>;
  /** Ends the replay early: the plugin is ended and the replay rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Longest a message may take beyond twice the time it took then. */
const PATIENCE_MS = 10_000;

/** Replays a tape. A plugin that does otherwise is a report, not an error; rejects when it cannot start. */
export async function replayTape(options: ReplayOptions): Promise<ReplayReport> {
  const replay = new Replay(options);
  const wire = await options.open({
    line: (text) => replay.take(text),
    undecodable: () => {},
    oversize: () => replay.differ({ line: null, kind: "unexpected", detail: "It wrote a line of more than 4 MiB" }),
  });
  const abort = (): void => void wire.kill();
  options.signal?.addEventListener("abort", abort, { once: true });
  try {
    options.signal?.throwIfAborted();
    await replay.play(wire);
    options.signal?.throwIfAborted();
    return replay.report();
  } finally {
    options.signal?.removeEventListener("abort", abort);
    await wire.kill();
  }
}

interface Expected {
  readonly line: number;
  readonly t: number;
  readonly message: TapeMessage;
}

class Replay {
  readonly #options: ReplayOptions;
  /** Masks the same values in new messages that are masked on the tape. */
  readonly #secrets: SecretKeeper;
  /** Messages of the plugin that have not come yet, in the order of the tape. */
  #awaited: Expected[] = [];
  /** Ids the plugin gave its requests then → those it gives them now. */
  readonly #ids = new Map<string, unknown>();
  readonly #isWhole: boolean;
  #difference: Difference | null = null;
  #sent = 0;
  #matched = 0;
  #exit: Exit | null = null;
  #look: () => void = () => {};

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#secrets = new SecretKeeper(options.manifest);
    this.#isWhole = options.tape.entries.some((entry) => "exit" in entry);
    this.#awaited = options.tape.entries.flatMap((entry, index) =>
      "message" in entry && entry.from === "plugin" ? [{ line: index + 2, t: entry.t, message: entry.message }] : []
    );
  }

  /** Sends the host's messages, each after the plugin's messages that stand before it on the tape. */
  async play(wire: PluginWire): Promise<void> {
    void wire.ended.then(({ exit }) => {
      this.#exit = exit;
      this.#look();
    });
    const { entries } = this.#options.tape;
    let saidMs = 0;
    for (const [index, entry] of entries.entries()) {
      if (entry.from === "plugin" && "message" in entry) continue;
      await this.#heard(index + 2, saidMs);
      if (this.#difference) return;
      if ("exit" in entry) return await this.#ended(entry, index + 2, entry.t - saidMs);
      if (this.#sent === 1) await wire.verify(); // It has answered once, and gets its config next.
      saidMs = entry.t;
      if ("message" in entry) this.#say(entry.message, wire);
      else wire.endInput();
    }
    await this.#heard(Infinity, saidMs);
  }

  /** Compares a line of the plugin with the tape. */
  take(text: string): void {
    const parsed = parseLine(text);
    if (this.#difference || typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return; // Noise.
    try {
      this.#compare(this.#secrets.hide(parsed as TapeMessage));
    } catch { // The stack of this runtime ends somewhere.
      this.differ({ line: null, kind: "unexpected", detail: "It sent a message that is nested too deeply" });
    }
  }

  #compare(message: TapeMessage): void {
    const { id, method } = message;
    const alike = this.#awaited.filter(({ message: then }) =>
      then.method === method && (method === undefined ? then.id === id : (then.id === undefined) === (id === undefined))
    );
    const same = alike.find((then) => this.#whereItDiffers(then, message) === null);
    if (same) {
      if (method !== undefined && id !== undefined) this.#ids.set(JSON.stringify(same.message.id), id);
      this.#awaited.splice(this.#awaited.indexOf(same), 1);
      this.#matched++;
      return this.#look();
    }
    const [first] = alike;
    if (!first) {
      if (!this.#isWhole && this.#awaited.length === 0) return; // The tape goes no further.
      const line = this.#awaited[0]?.line ?? null;
      return this.differ({ line, kind: "unexpected", detail: `It sent ${nameOf(message)}`, came: message });
    }
    const at = this.#whereItDiffers(first, message)!;
    const detail = `${nameOf(first.message)} differs`;
    this.differ({ line: first.line, kind: "differs", at, detail, expected: first.message, came: message });
  }

  /** Keeps the first difference. */
  differ(difference: Difference): void {
    this.#difference ??= difference;
    this.#look();
  }

  report(): ReplayReport {
    const [sent, matched, difference] = [this.#sent, this.#matched, this.#difference];
    return { ok: difference === null, sent, matched, difference };
  }

  #say(message: TapeMessage, wire: PluginWire): void {
    const { method, id } = message;
    // An answer goes to the request that stands for the one on the tape, under the id it has now.
    const now = method === undefined && this.#ids.has(JSON.stringify(id))
      ? { ...message, id: this.#ids.get(JSON.stringify(id)) }
      : message;
    const revealed = revealSecrets(now, this.#options.secrets);
    this.#secrets.hide(revealed); // It learns what to hide.
    this.#sent++;
    wire.write(`${JSON.stringify(revealed)}\n`);
  }

  /** The plugin's own ids are its own: pairs are compared, not numbers. */
  #whereItDiffers({ message: then }: Expected, message: TapeMessage): string | null {
    const isOwnId = message.method !== undefined;
    const places = [...this.#options.ignored ?? []];
    if (isOwnId) places.push(["id"]);
    if (message.method === "system.cancel") places.push(["params", "id"]);
    return firstDifference(then, message, places);
  }

  /** Resolves when every message of the plugin before `line` has come, or cannot come any more. */
  async #heard(line: number, saidMs: number): Promise<void> {
    const missing = (): Expected | undefined => this.#awaited.find((awaited) => awaited.line < line);
    for (let first = missing(); first && !this.#difference; first = missing()) {
      const awaited = first;
      const patienceMs = PATIENCE_MS + 2 * Math.max(0, awaited.t - saidMs);
      const hasCome = await this.#until(() => !this.#awaited.includes(awaited), patienceMs);
      if (hasCome) continue;
      const why = this.#exit ? `It ended ${endingOf(this.#exit)}` : `It was silent for ${patienceMs / 1000} s`;
      const { line, message } = awaited;
      this.differ({ line, kind: "missing", detail: `${why} before ${nameOf(message)}`, expected: message });
    }
  }

  /** Compares how the process ends; an end by a signal is not compared. */
  async #ended({ exit: then }: TapeEntry & { exit: Exit }, line: number, tookMs: number): Promise<void> {
    if (then.code === null) return;
    const patienceMs = PATIENCE_MS + 2 * tookMs;
    const hasEnded = await this.#until(() => this.#exit !== null, patienceMs);
    if (this.#difference) return;
    const expected = `It ended ${endingOf(then)} then`;
    if (!hasEnded) this.differ({ line, kind: "exit", detail: `${expected}, and is still there`, expected: then });
    else if (firstDifference(then, this.#exit) !== null) {
      const detail = `${expected}, and ${endingOf(this.#exit!)} now`;
      this.differ({ line, kind: "exit", detail, expected: then, came: this.#exit });
    }
  }

  /** Resolves with true once `isSo`; with false after `ms`, at the end of the process, or at a difference. */
  async #until(isSo: () => boolean, ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#options.clock.after(ms, () => resolve(false));
    this.#look = () => {
      if (isSo()) resolve(true);
      else if (this.#exit || this.#difference) resolve(false);
    };
    this.#look();
    return await promise.finally(cancel);
  }
}

function nameOf({ id, method }: TapeMessage): string {
  if (method === undefined) return `the answer to ${JSON.stringify(id)}`;
  return `the ${id === undefined ? "notification" : "request"} "${method}"`;
}
