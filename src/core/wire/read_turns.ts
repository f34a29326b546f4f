/**
 * Turns of the plugins of one host. A plugin that sends more than the host can read beside everything else waits for its
 * turn: its pipe fills, and it sleeps until the host reads on. Deficit round robin, with a weight for each plugin. Answers
 * to the host's own calls cost nothing: they are never more than the host asked for.
 *
 * @module
 */

/** Cost of a message beside its bytes: the time to take a short notification, counted as bytes that are parsed meanwhile. */
export const MESSAGE_COST = 256;
/** The same for a request, which is looked up, audited and answered. */
export const REQUEST_COST = 4096;
/** The same for a request that comes alone, while no other one of its plugin runs: whoever waits for answers is no flood. */
export const LONE_REQUEST_COST = 512;

/** Shares, in bytes. */
export interface TurnRules {
  /** Read in one turn of all plugins that wait together; turns are at least a millisecond apart. */
  readonly perTurn: number;
  /** Read of one plugin of weight 1 before the next one has its turn. */
  readonly quantum: number;
  /** So many times as much is read while no process answers that has not sent too much itself. */
  readonly alone: number;
}

/**
 * So much that a host spends about a tenth of its time on it: in a second 24,000 short messages, or 2,000 requests,
 * or 13,000 of plugins that wait for each answer.
 */
export const TURN_RULES: TurnRules = { perTurn: 8 * 1024, quantum: 2 * 1024, alone: 8 };

/** The time and the turns of the event loop. */
export interface TurnPorts {
  /** Calls `run` once input that has arrived was handed out, and sooner than `soon`. */
  readonly next: (run: () => void) => void;
  /** Calls `run` about a millisecond later, after input that has arrived meanwhile. */
  readonly soon: (run: () => void) => void;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

/** The host's own calls of one process. */
export interface TurnCalls {
  readonly size: number;
  readonly answered: number;
}

/** The share of one process. */
export interface Turn {
  /** Whether another process is called too: many answers of one are then handed out in parts. */
  readonly isCrowded: boolean;
  /** Whether nothing more may be read of it for now. */
  readonly isWaiting: boolean;
  /** Counts what was read unasked. Returns false when the process has to wait for its turn. */
  spend(bytes: number): boolean;
  /** Sets the calls that it has to answer. */
  follow(calls: TurnCalls): void;
  /** Calls `run` after the others had their look. */
  next(run: () => void): void;
  /** Adds a reader that is called at each turn, and reads on until `isWaiting`. The readers of a process alternate. */
  onTurn(read: () => void): void;
  /** Lets it read without end: the process is gone, and what is left in its pipes is not much. */
  free(): void;
}

/** A plugin that is called may ask for something itself: each answer is worth a few requests, so many answers at most. */
const ANSWER_WORTH = 8 * REQUEST_COST;
const MAX_WORTHY_ANSWERS = 64;

/** Time between two looks at who answers calls. */
const LOOK_MS = 50;

/** Decides which process may be read, and how much of it. */
export class ReadTurns {
  readonly #ports: TurnPorts;
  readonly #rules: TurnRules;
  /** Those that wait, the next one first. */
  readonly #ring: Share[] = [];
  readonly #shares = new Set<Share>();
  /** Bytes that nobody has used so far, at most those of one turn. */
  #spare: number;
  #spareMs: number;
  #lookMs: number;
  /** Those that have answered in peace before the last look. */
  #peaceful: readonly Share[] = [];
  #isDue = false;

  /** Nothing runs until a process has spent its share. */
  constructor(ports: TurnPorts, rules: TurnRules = TURN_RULES) {
    this.#ports = ports;
    this.#rules = rules;
    this.#spare = rules.perTurn;
    this.#spareMs = this.#lookMs = ports.monotonic();
  }

  /** Takes in a process; one of weight 2 is read twice as much as one of weight 1 when both wait. */
  join(weight: number): Turn {
    const share = new Share(this.#rules.quantum * weight, {
      take: this.#take,
      wait: this.#wait,
      next: this.#ports.next,
      isCrowdedBeside: (own) => this.#isCrowdedBeside(own),
      leave: () => void this.#shares.delete(share),
    });
    this.#shares.add(share);
    return share;
  }

  #isCrowdedBeside(own: Share): boolean {
    for (const share of this.#shares) if (share !== own && share.calls.size > 0) return true;
    return false;
  }

  /** Returns what is read in a turn: more while nobody but the one that is to be read would have to wait for it. */
  #perTurnAt(nowMs: number, reads: Share | null): number {
    if (nowMs - this.#lookMs >= LOOK_MS) {
      this.#lookMs = nowMs;
      this.#peaceful = [...this.#shares].filter((share) => share.hasAnsweredInPeace());
    }
    const { perTurn, alone } = this.#rules;
    return this.#peaceful.every((share) => share === reads) ? perTurn * alone : perTurn;
  }

  /** Returns what a process that has spent its own may have of the bytes nobody used. None while others wait for them. */
  readonly #take = (share: Share, most: number): number => {
    if (this.#ring.length > 0) return 0;
    const nowMs = this.#ports.monotonic();
    const perTurn = this.#perTurnAt(nowMs, share);
    this.#spare = Math.min(perTurn, this.#spare + (nowMs - this.#spareMs) * perTurn);
    this.#spareMs = nowMs;
    const taken = Math.min(most, this.#spare);
    this.#spare -= taken;
    return taken;
  };

  readonly #wait = (share: Share): void => {
    // Whose turn was cut short by the end of a turn of all is the next one.
    if (share.isInterrupted) this.#ring.unshift(share);
    else this.#ring.push(share);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#ports.soon(this.#turn);
  };

  readonly #turn = (): void => {
    const nowMs = this.#ports.monotonic();
    let left = this.#perTurnAt(nowMs, null);
    // The bytes since the last turn are those of this one.
    this.#spare = 0;
    this.#spareMs = nowMs;
    while (left > 0) {
      const share = this.#ring.shift();
      if (share === undefined) break;
      left -= share.grant(left);
    }
    this.#spare = left;
    this.#isDue = this.#ring.length > 0;
    if (this.#isDue) this.#ports.soon(this.#turn);
  };
}

interface ShareHost {
  take(share: Share, most: number): number;
  wait(share: Share): void;
  next(run: () => void): void;
  isCrowdedBeside(share: Share): boolean;
  leave(): void;
}

class Share implements Turn {
  isWaiting = false;
  calls: TurnCalls = { size: 0, answered: 0 };
  readonly next: (run: () => void) => void;
  readonly #quantum: number;
  readonly #host: ShareHost;
  readonly #readers: (() => void)[] = [];
  /** Below zero after a message that was longer than the rest: later turns pay for it. */
  #credit = 0;
  /** What its present turn has left. */
  #left: number;
  #isFree = false;
  /** At the last look. */
  #answered = 0;
  #hasWaited = false;
  #paidAnswers = 0;

  constructor(quantum: number, host: ShareHost) {
    this.#quantum = this.#left = quantum;
    this.#host = host;
    this.next = host.next;
  }

  get isCrowded(): boolean {
    return !this.#isFree && this.#host.isCrowdedBeside(this);
  }

  follow(calls: TurnCalls): void {
    this.calls = calls;
  }

  /** Whether it has answered calls since the last look and was within its share all the time. */
  hasAnsweredInPeace(): boolean {
    const [answered, isPeaceful] = [this.calls.answered, !this.#hasWaited];
    const hasAnswered = answered !== this.#answered;
    this.#answered = answered;
    this.#hasWaited = this.isWaiting;
    return hasAnswered && isPeaceful;
  }

  get isInterrupted(): boolean {
    return this.#left < this.#quantum;
  }

  spend(bytes: number): boolean {
    this.#credit -= bytes;
    if (this.#credit > 0 || this.#isFree) return true;
    if (this.isWaiting) return false;
    this.#credit += this.#earned();
    if (this.#credit <= 0) this.#credit += this.#host.take(this, this.#quantum - this.#credit);
    if (this.#credit > 0) return true;
    this.isWaiting = this.#hasWaited = true;
    this.#host.wait(this);
    return false;
  }

  #earned(): number {
    const { answered } = this.calls;
    const earned = Math.min(answered - this.#paidAnswers, MAX_WORTHY_ANSWERS) * ANSWER_WORTH;
    this.#paidAnswers = answered;
    return earned;
  }

  /** Gives it at most `most` of its turn and lets it read. Returns how much it was given. */
  grant(most: number): number {
    if (this.#isFree) return 0;
    const given = Math.min(most, this.#left);
    this.#left -= given;
    if (this.#left === 0) this.#left = this.#quantum;
    this.#credit += given;
    if (this.#credit > 0) this.#readOn();
    else this.#host.wait(this);
    return given;
  }

  onTurn(read: () => void): void {
    this.#readers.push(read);
  }

  free(): void {
    this.#isFree = true;
    this.#host.leave();
    this.#readOn();
  }

  #readOn(): void {
    this.isWaiting = false;
    for (const read of [...this.#readers]) read();
    // Another one begins next time.
    if (this.#readers.length > 1) this.#readers.push(this.#readers.shift()!);
  }
}

/** The flow of bytes that can be stopped. */
export interface Flow {
  pause(): void;
  resume(): void;
}

const PIECE_BYTES = 1024;
/** Cost of a line of a log beside its bytes: it is cut, kept, sent to those who watch and written to the disk. */
const LINE_COST = 512;
const NEWLINE = 0x0a;

/** Returns a function that takes chunks of a log and hands them on in pieces, in the turns of their process. */
export function inTurns(turn: Turn, take: (piece: Uint8Array) => void, flow: () => Flow): (chunk: Uint8Array) => void {
  const waiting: Uint8Array[] = [];
  let isPaused = false;
  const read = (): void => {
    while (waiting.length > 0 && !turn.isWaiting) {
      const chunk = waiting[0]!;
      if (chunk.length > PIECE_BYTES) waiting[0] = chunk.subarray(PIECE_BYTES);
      else waiting.shift();
      const piece = chunk.subarray(0, PIECE_BYTES);
      let lines = 0;
      for (const byte of piece) if (byte === NEWLINE) lines++;
      turn.spend(piece.length + LINE_COST * lines);
      take(piece);
    }
    const isFull = waiting.length > 0;
    if (isFull === isPaused) return;
    isPaused = isFull;
    if (isFull) flow().pause();
    else flow().resume();
  };
  turn.onTurn(read);
  return (chunk) => {
    waiting.push(chunk);
    read();
  };
}
