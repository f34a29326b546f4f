/**
 * The desk as the gate, front ends and the host around it see it.
 *
 * @module
 */
import type { Audit } from "../audit/audit.ts";
import type { Clock, Ids } from "../ports/ports.ts";
import type { Page, PageQuery } from "../values/page_of.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type {
  Approval,
  ApprovalAnswer,
  ApprovalEnd,
  ApprovalRequest,
  ApprovalScope,
  ApprovalSource,
  ApprovalStore,
  StandingAnswer,
} from "./types.ts";

/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;

/** A call that a person is asked about. */
export interface AskedCall
  extends Pick<ApprovalRequest, "agentPath" | "sessionId" | "jobId" | "tool" | "plugin" | "changed"> {
  /** The arguments themselves, secrets included. */
  readonly arguments: Args;
  /** Those that ask, with their reasons: at least one. */
  readonly asked: readonly { readonly source: ApprovalSource; readonly reason: string }[];
  /** Names the same call of the same job over restarts; null where there is no job. */
  readonly call: string | null;
  readonly waitMs: number;
  /** Whoever waits for the call gives up. */
  readonly signal?: AbortSignal | undefined;
  /** Checks arguments that a person edited. Throws `tool.arguments_invalid`. */
  readonly check?: (args: Args) => Promise<void>;
  /** The caller's own way to ask, before the host's. */
  readonly onAsk?: OnAsk;
}

/** What became of it. */
export type Ruling =
  & (
    | {
      readonly isAllowed: true;
      readonly arguments: Args;
      readonly isEdited: boolean;
      readonly by: string;
      /** What the person filled in; absent for all but forms. */
      readonly content?: Args;
    }
    | {
      readonly isAllowed: false;
      readonly by: string;
      readonly reason: string;
      /** Nobody said no: the request ran out, or was withdrawn. */
      readonly isUnanswered?: true;
    }
  )
  /** How far the answer reaches, where that is beyond this call and the answer was given to it. */
  & { readonly scope?: Exclude<ApprovalScope, "once"> };

/** Something that happened to a request. */
export interface ApprovalEvent {
  /** What happened: asked, answered, run out, or withdrawn. */
  readonly type: "requested" | "answered" | "expired" | "withdrawn";
  /** The request as it is now. */
  readonly approval: Approval;
}

/** Answers requests of an embedder's own front end; nothing leaves the request to the others. */
export type OnAsk = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => Promise<ApprovalAnswer | null | undefined | void> | ApprovalAnswer | null | undefined | void;

/** Figures of a desk since it was made. */
export interface DeskFigures {
  /** Calls of this process that wait. */
  readonly waiting: number;
  /** Requests that ended here, by how. */
  readonly ended: Readonly<Record<ApprovalEnd["state"], number>>;
  /** Seconds from request to answer, of all that were answered. */
  readonly answerSeconds: { readonly sum: number; readonly count: number };
}

/** The requests of a host, for every front end. */
export interface Approvals {
  /** Returns requests, the newest first; big arguments are cut (`argumentsCut`). Default: those that wait, 50 of them. */
  list(query?: Partial<PageQuery> & { readonly state?: "waiting" | "ended" | "all" }): Promise<Page<Approval>>;
  /** Returns one request, its arguments whole up to 1 MiB. Throws `approval.unknown`. */
  get(id: string): Promise<Approval>;
  /**
   * Answers a request; `by` names who does, for the audit. The first answer counts.
   *
   * @throws {HostError} `approval.unknown`; `approval.ended` when another answer was first, or nobody waits any more;
   * `approval.answer_invalid`; `tool.arguments_invalid` for edited arguments that do not fit, and it goes on waiting.
   */
  answer(id: string, answer: ApprovalAnswer, options?: { readonly by?: string }): Promise<Approval>;
  /** Returns the answers that hold for later calls. */
  standing(): Promise<StandingAnswer[]>;
  /** Takes such an answer back. Throws `approval.unknown`. */
  revoke(id: string, options?: { readonly by?: string }): Promise<void>;
  /** Calls `listener` with everything that happens to requests of this process, until the returned function is called. */
  on(listener: (event: ApprovalEvent) => void): () => void;
}

/** The host around the desk. */
export interface DeskPorts {
  readonly projectId: string;
  /** Returns the store, opened when it is first needed. */
  readonly store: () => ApprovalStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Pick<SecretMask, "value" | "text">;
  readonly audit: Pick<Audit, "emit">;
  /** Keeps an answer for good in the operator's own files; false where they have no place for such a source. */
  readonly keepAlways: (approval: Approval, source: ApprovalSource, answer: ApprovalAnswer) => Promise<boolean>;
  readonly onAsk: OnAsk | null;
  readonly warn: (message: string) => void;
}
