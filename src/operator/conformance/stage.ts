/**
 * The stage on which rules are tried: a plugin that is started when a rule needs it, and again after one that ended it.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { initializeParams } from "../../core/supervisor/handshake.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { type Answer, type AnswerPlugin, Conversation, type Exchange, type Notes } from "./conversation.ts";
import type { OpenWire } from "../plugin_wire.ts";

/** The plugin on a stage, and its surroundings. */
export interface StageOptions {
  readonly manifest: Manifest;
  /** Starts the plugin afresh. */
  readonly open: OpenWire;
  readonly clock: Clock;
  /** Params of `config.update`. Default: `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Whether `initialize` says that there is storage. */
  readonly storageAvailable: boolean;
  readonly onRequest: AnswerPlugin;
}

/** Starts a plugin when a rule needs it. */
export class Stage implements AsyncDisposable {
  /** Everything out of turn so far. */
  readonly notes: Notes = { noise: [], strays: [], notices: [], requests: [] };
  readonly manifest: Manifest;
  readonly config: Readonly<Record<string, unknown>>;
  /** The process that runs now, or null. */
  talk: Conversation | null = null;
  readonly #options: StageOptions;
  #exchange: Exchange = { sent: [], came: [] };
  #features: unknown;
  #greeted: Answer | null = null;
  #isRunning = false;
  /** Counts the times it was left: a start that takes too long may end after that. */
  #turn = 0;

  /** Starts nothing: the first rule that needs the plugin does. */
  constructor(options: StageOptions) {
    this.manifest = options.manifest;
    this.config = options.config ?? {};
    this.#options = options;
  }

  /** Sends `initialize` to a fresh process and keeps its answer; a process that is well is kept. */
  async greet(): Promise<{ talk: Conversation; answer: Answer }> {
    if (this.talk && this.#greeted && this.talk.over === null) return { talk: this.talk, answer: this.#greeted };
    await this.leave();
    const { manifest, storageAvailable, ...rest } = this.#options;
    const turn = this.#turn;
    const talk = await Conversation.open({ ...rest, notes: this.notes, exchange: () => this.#exchange });
    if (turn !== this.#turn) { // The rule that wanted it has run out of time.
      await talk.wire.kill();
      throw new HostError("check.not_running", "It was started too late");
    }
    this.talk = talk;
    const answer = await talk.ask("initialize", initializeParams(manifest, { storageAvailable, projects: [] }));
    const { result } = answer.response ?? {};
    if (isMap(result)) this.#features = result.features;
    if (answer.response) await talk.wire.verify(); // Before it gets its config.
    this.#greeted = answer;
    return { talk, answer };
  }

  /** Returns the running plugin, started again where a rule has ended it. Rejects with `check.not_running` when it does not come up again. */
  async running(): Promise<Conversation> {
    if (this.talk && this.#isRunning && this.talk.over === null) return this.talk;
    const { talk } = await this.greet();
    const { missing } = await talk.ask("config.update", this.config);
    if (missing !== undefined) throw new HostError("check.not_running", `It could not be started again: ${missing}`);
    talk.send({ method: "initialized", params: {} });
    this.#isRunning = true;
    return talk;
  }

  /** Begins to take down what goes over the wire anew. */
  takeDown(): Exchange {
    return this.#exchange = { sent: [], came: [] };
  }

  /** Whether the newest answer to `initialize` lists a feature. */
  hasFeature(feature: string): boolean {
    return Array.isArray(this.#features) && this.#features.includes(feature);
  }

  /** Ends the process that runs now. */
  async leave(): Promise<void> {
    const talk = this.talk;
    this.#turn++;
    this.talk = null;
    this.#greeted = null;
    this.#isRunning = false;
    await talk?.wire.kill();
  }

  /** Does the same as {@link leave}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }
}
