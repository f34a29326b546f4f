/**
 * Connections of plugins that are held while the desk asks a person, where the operator wants that: `[approvals]
 * network = "ask"`. A plugin chooses which hosts it asks for, so that its questions are bounded.
 *
 * @module
 */
import type { Desk } from "../core/approvals/desk.ts";
import type { Ruling } from "../core/approvals/desk_types.ts";
import { isPublic } from "../core/cage/net/address.ts";
import type { HeldAnswer } from "../core/cage/net/held_targets.ts";
import { literalAddress } from "../core/cage/net/judge_target.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { formatCapability } from "../core/manifest/capability.ts";
import type { Clock } from "../core/ports/ports.ts";
import type { SecretMask } from "../core/values/secret_mask.ts";
import type { HostPackages } from "./host_packages.ts";
import type { LiveRules } from "./live_rules.ts";
import type { HostModel } from "./model.ts";

/** How long a connection is held. */
const HOLD_MS = 30_000;
/** Different targets of one instance that wait at a time. */
const MAX_TARGETS = 8;
/** For so long a target that was refused is not asked for again. */
const REST_MS = 60_000;
/** Different targets that are refused within that time; the next is not asked for: a program may answer at once. */
const MAX_REFUSED = 32;

/** The host around them. */
export interface HeldConnectionPorts {
  readonly rules: Pick<LiveRules, "settings">;
  readonly desk: Pick<Desk, "ask">;
  readonly model: Pick<HostModel, "project">;
  readonly secrets: Pick<SecretMask, "text">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly packages: () => Pick<HostPackages, "grantsHost">;
  readonly warn: (message: string) => void;
}

/** An instance of a plugin that connects. */
interface Caller {
  readonly instance: string;
  readonly plugin: string;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** A question at the desk, and the processes whose connections wait for its answer. */
interface Question {
  readonly answer: Promise<HeldAnswer>;
  readonly waiting: Set<AbortSignal>;
  readonly givenUp: AbortController;
}

/** The questions of one instance, by capability. */
interface Questions {
  readonly open: Map<string, Question>;
  /** When each target was refused, the oldest first. */
  readonly refusedAtMs: Map<string, number>;
}

/** Asks about connections, one question for each instance and target at a time. */
export class HeldConnections {
  readonly #ports: HeldConnectionPorts;
  readonly #byInstance = new Map<string, Questions>();

  constructor(ports: HeldConnectionPorts) {
    this.#ports = ports;
  }

  /**
   * Asks whether an instance may connect to a target; null where nobody is asked, and it is refused at once. `signal`
   * aborts when the process that connects has ended: a question that no process waits for is withdrawn.
   */
  ask(caller: Caller, { host, port }: Target, signal: AbortSignal): Promise<HeldAnswer> | null {
    const { rules, secrets } = this.#ports;
    if (rules.settings.network !== "ask" || signal.aborted) return null;
    const capability = formatCapability({ kind: "net", scope: "host", host, port });
    const { open, refusedAtMs } = this.#questionsOf(caller.instance);
    const joined = open.get(capability);
    if (joined) return waitFor(joined, signal);
    if (open.size >= MAX_TARGETS || refusedAtMs.size >= MAX_REFUSED || refusedAtMs.has(capability)) return null;
    // A name that holds a secret cannot be shown, and must not be written into a record.
    if (secrets.text(host) !== host) return null;
    const givenUp = new AbortController();
    const answer = this.#answerOf(caller, { host, port }, capability, givenUp.signal).then((given) => {
      if (!given.isAllowed) refusedAtMs.set(capability, this.#ports.clock.monotonic());
      return given;
    }).finally(() => open.delete(capability));
    const question = { answer, waiting: new Set<AbortSignal>(), givenUp };
    open.set(capability, question);
    return waitFor(question, signal);
  }

  /** Returns the questions of an instance, without those that were refused long enough ago. */
  #questionsOf(instance: string): Questions {
    const own = this.#byInstance.get(instance) ?? { open: new Map(), refusedAtMs: new Map() };
    this.#byInstance.set(instance, own);
    const nowMs = this.#ports.clock.monotonic();
    for (const [capability, atMs] of own.refusedAtMs) {
      if (nowMs - atMs < REST_MS) break;
      own.refusedAtMs.delete(capability);
    }
    return own;
  }

  /** Returns the answer of the record or of a person. Never rejects. */
  async #answerOf(caller: Caller, target: Target, capability: string, signal: AbortSignal): Promise<HeldAnswer> {
    const { packages, warn } = this.#ports;
    const isGranted = (): Promise<boolean> => packages().grantsHost(caller.plugin, capability);
    try {
      // Another instance, or another host of this home, may have been given the answer for good.
      if (await isGranted()) return { isAllowed: true, lasts: true };
      const { isAllowed, scope } = await this.#askPerson(caller, target, capability, signal);
      const lasts = scope === "session" || (scope === "always" && isAllowed && await isGranted());
      return { isAllowed, lasts };
    } catch (error) {
      const isOver = signal.aborted || (error instanceof HostError && error.code === "host.stopped");
      if (!isOver) warn(`A connection of ${caller.plugin} could not be asked about: ${messageOf(error)}`);
      return { isAllowed: false, lasts: false };
    }
  }

  #askPerson({ instance, plugin }: Caller, target: Target, id: string, signal: AbortSignal): Promise<Ruling> {
    const { desk, model } = this.#ports;
    const agents = model.project.instances.find((one) => one.instance === instance)?.agents ?? [];
    return desk.ask({
      agentPath: agents[0] ?? PRIMARY,
      sessionId: null,
      jobId: null,
      tool: "connect",
      plugin,
      arguments: { ...target },
      changed: null,
      asked: [{ source: { kind: "network", id }, reason: reasonFor(plugin, target) }],
      call: null,
      waitMs: HOLD_MS,
      signal,
      check: refuseEdited,
    });
  }
}

/** Returns the answer to a question, which is withdrawn when no process waits for it any more. */
async function waitFor({ answer, waiting, givenUp }: Question, signal: AbortSignal): Promise<HeldAnswer> {
  const leave = (): void => {
    waiting.delete(signal);
    if (waiting.size === 0) givenUp.abort(new HostError("plugin.unavailable", "The plugin's process has ended"));
  };
  if (!waiting.has(signal)) {
    waiting.add(signal);
    signal.addEventListener("abort", leave, { once: true });
  }
  try {
    return await answer;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function reasonFor(plugin: string, { host, port }: Target): string {
  const address = literalAddress(host);
  const isNear = host === "localhost" || (address !== null && !isPublic(address));
  const place = isNear ? ": it is this machine, or one of its own networks" : "";
  return `${plugin} connects to ${host}:${port}, which is not granted${place}`;
}

function refuseEdited(): Promise<void> {
  const error = new HostError("approval.answer_invalid", "A connection goes where the plugin asked for, or nowhere", {
    hint: "Answer without arguments",
  });
  return Promise.reject(error);
}
