/**
 * The two events of a call as lines of the calls trail, put together from texts that are made once: as objects that are
 * masked, listened to and written as JSON, they would cost more than the call itself.
 *
 * @module
 */
import type { SecretMask } from "../values/secret_mask.ts";
import type { TurnTime } from "../values/turn_time.ts";
import type { AuditBase, AuditData } from "./events.ts";

/** Takes one line, without its end. */
export type TakeLine = (line: string) => void;

/** The fields of `plugin.method_called` beside the method. */
export type CallFacts = Omit<AuditData["plugin.method_called"], "method">;

/** The audit behind the lines. */
export interface CallLinePorts {
  /** Returns the one trail that hears of calls; null while anybody else does, who needs events. */
  take(): TakeLine | null;
  isHeard(): boolean;
  readonly time: TurnTime;
}

/** Texts of one method: those of the agent that called it last. */
interface MethodTexts {
  readonly facts: CallFacts;
  readonly learned: number;
  /** From behind the request id to the end of the line. */
  readonly called: string;
  /** From behind the request id to the value of `duration_ms`. */
  readonly returned: string;
}

/** Methods whose texts are kept. */
const MAX_METHODS = 1024;

/** A call whose start was audited. */
export interface AuditedCall {
  readonly method: string;
  readonly context: CallFacts & { readonly request_id: string };
  /** The request id as JSON, without the quotes around it. */
  readonly idText: string;
  readonly startedMs: number;
}

/** Writes the lines of one plugin instance. */
export class CallLines {
  readonly #ports: CallLinePorts;
  readonly #secrets: SecretMask;
  readonly #of: Pick<AuditBase, "name" | "instance">;
  readonly #methods = new Map<string, MethodTexts>();
  #stamp = "";
  #duration = NaN;
  #durationText = "";
  #calledHead = "";
  #returnedHead = "";

  /** The lines are those of `subject`; `secrets` are hidden in them. */
  constructor(ports: CallLinePorts, subject: Pick<AuditBase, "name" | "instance">, secrets: SecretMask) {
    this.#ports = ports;
    this.#secrets = secrets;
    this.#of = subject;
  }

  get isHeard(): boolean {
    return this.#ports.isHeard();
  }

  /** The time by which calls are measured. */
  get nowMs(): number {
    return this.#ports.time.monotonicMs;
  }

  /** Writes that a call begins now. Returns false, and writes nothing, where an event has to be emitted instead. */
  called({ method, context, idText }: AuditedCall): boolean {
    const take = this.#ports.take();
    if (take === null) return false;
    this.#setTime();
    take(this.#calledHead + idText + this.#textsOf(method, context).called);
    return true;
  }

  /** Writes that a call has ended now, as {@link called} does. */
  returned({ method, context, idText }: AuditedCall, durationMs: number, success: boolean): boolean {
    const take = this.#ports.take();
    if (take === null) return false;
    this.#setTime();
    const { returned } = this.#textsOf(method, context);
    if (durationMs !== this.#duration) {
      this.#duration = durationMs;
      this.#durationText = JSON.stringify(this.#secrets.value(durationMs)) + ',"success":';
    }
    take(this.#returnedHead + idText + returned + this.#durationText + (success ? "true}}" : "false}}"));
    return true;
  }

  #setTime(): void {
    const { stamp } = this.#ports.time;
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    // Made with the time, not with the instance: most of a thousand that rest are never called.
    const { name, instance } = this.#of;
    const subject = `","name":${JSON.stringify(name)},"instance":${JSON.stringify(instance)},"request_id":"`;
    this.#calledHead = CALLED + stamp + subject;
    this.#returnedHead = RETURNED + stamp + subject;
  }

  #textsOf(method: string, facts: CallFacts): MethodTexts {
    const known = this.#methods.get(method);
    if (known !== undefined && known.learned === this.#secrets.learned && isSame(known.facts, facts)) return known;
    const { operator_id, project_id, agent_path } = facts;
    const data = JSON.stringify(this.#secrets.value({ method, operator_id, project_id, agent_path }));
    const ended = JSON.stringify(this.#secrets.value({ method }));
    const made = {
      facts: { operator_id, project_id, agent_path },
      learned: this.#secrets.learned,
      called: `","data":${data}}`,
      returned: `","data":${ended.slice(0, -1)},"duration_ms":`,
    };
    if (this.#methods.size >= MAX_METHODS) this.#methods.clear();
    this.#methods.set(method, made);
    return made;
  }
}

const CALLED = '{"type":"plugin.method_called","timestamp":"';
const RETURNED = '{"type":"plugin.method_returned","timestamp":"';

function isSame(one: CallFacts, other: CallFacts): boolean {
  return one.agent_path === other.agent_path && one.project_id === other.project_id &&
    one.operator_id === other.operator_id;
}
