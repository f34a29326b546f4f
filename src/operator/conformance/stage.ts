/**
 * The stage on which rules are tried: a plugin that is started when a rule needs it, and again after one that ended it.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { API_VERSION, HOST_VERSION } from "../../core/values/version.ts";
import { type Answer, type AnswerPlugin, Conversation } from "./conversation.ts";
import type { Exchange, Notes, WireMessage } from "./notes.ts";
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
  /** The result of `initialize`; null before. */
  greeting: WireMessage | null = null;
  readonly #options: StageOptions;
  #exchange: Exchange = { sent: [], came: [] };
  #talk: Conversation | null = null;
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
    if (this.#talk && this.#greeted && this.#talk.over === null) return { talk: this.#talk, answer: this.#greeted };
    await this.leave();
    const { manifest, storageAvailable, ...rest } = this.#options;
    const turn = this.#turn;
    const talk = await Conversation.open({ ...rest, notes: this.notes, exchange: () => this.#exchange });
    if (turn !== this.#turn) { // The rule that wanted it has run out of time.
      await talk.kill();
      throw new HostError("check.not_running", "It was started too late");
    }
    this.#talk = talk;
    const answer = await talk.ask("initialize", {
      daemon_version: HOST_VERSION,
      api_version: API_VERSION,
      plugin_name: manifest.name,
      storage_available: storageAvailable,
      projects: [],
    });
    const result = answer.response?.result;
    if (typeof result === "object" && result !== null) this.greeting = result as WireMessage;
    if (answer.response) await talk.verify(); // Before it gets its config.
    this.#greeted = answer;
    return { talk, answer };
  }

  /** Returns the running plugin, started again where a rule has ended it. Rejects with `check.not_running` when it does not come up again. */
  async running(): Promise<Conversation> {
    if (this.#talk && this.#isRunning && this.#talk.over === null) return this.#talk;
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

  /** Returns the plugin's newest lines on stderr. */
  stderr(): readonly string[] {
    return this.#talk?.stderr() ?? [];
  }

  /** Returns the failure of the cage that ended the plugin, which is no fault of its own; null otherwise. */
  cageFault(): HostError | null {
    return this.#talk?.cageFault() ?? null;
  }

  /** Ends the process that runs now. */
  async leave(): Promise<void> {
    const talk = this.#talk;
    this.#turn++;
    this.#talk = null;
    this.#greeted = null;
    this.#isRunning = false;
    await talk?.kill();
  }

  /** Does the same as {@link leave}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }
}
