/**
 * Requests of MCP servers to their client: forms for a person, messages for the client's model, and its roots. They are
 * answered by the client's side of the session that the server works for, and otherwise at the desk.
 *
 * @module
 */
import type { Desk } from "../core/approvals/desk.ts";
import type { Args, Ruling } from "../core/approvals/desk_types.ts";
import { addressIn, contentProblem, formFields } from "../core/approvals/form.ts";
import type { Audit } from "../core/audit/audit.ts";
import type { McpAuditData } from "../core/audit/mcp_events.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { ClientOffer, McpDefinition, McpServerRequest } from "../core/mcp/peer.ts";
import { OFFER_OF } from "../core/mcp/server_requests.ts";
import type { Clock } from "../core/ports/ports.ts";
import { byteLength } from "../core/values/cut_text.ts";
import { isMap } from "../core/values/plain_data.ts";
import { unlessAborted } from "../core/values/unless_aborted.ts";
import type { LiveRules } from "./live_rules.ts";
import type { McpServer } from "./mcp_servers.ts";
import type { ClientSide, RequestOrigin } from "./mcp_types.ts";

/** The host around them. */
export interface McpRequestPorts {
  readonly desk: Pick<Desk, "ask">;
  readonly rules: Pick<LiveRules, "settings">;
  readonly audit: Pick<Audit, "emit">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Parts of a client that servers are told of. */
  readonly offers: readonly ClientOffer[];
  /** Returns those that answer in a session, the first to be asked first; empty where the session is not open. */
  readonly clients: (session: string) => readonly ClientSide[];
  /** Returns the only session with roots among those that an instance serves; null for none, or several. */
  readonly onlyWithRoots: (instance: string) => string | null;
  /** Whether a session is open. */
  readonly isOpen: (session: string) => boolean;
  /** Answers where the session has nobody. */
  readonly client: ClientSide;
}

type Outcome = McpAuditData["plugin.mcp_request"]["outcome"];

/** An answer, and how the audit calls it. */
interface Answered {
  readonly answer: McpDefinition;
  readonly outcome: Outcome;
  readonly reason?: string;
}

/** A request with the session that it belongs to. */
interface Asked {
  readonly server: McpServer;
  readonly params: McpDefinition;
  readonly at: { readonly agent: string; readonly session: string };
  readonly signal: AbortSignal;
  readonly key?: string;
}

/** Requests of one instance that are open at a time. */
const MAX_OPEN = 12;
/** Requests of one instance within a minute that anybody is asked about. */
const MAX_A_MINUTE = 30;
const MINUTE_MS = 60_000;
/** Longest form, as JSON. */
const MAX_FORM_BYTES = 64 * 1024;
const ACTIONS: readonly unknown[] = ["accept", "decline", "cancel"];

/** Answers requests of servers. */
export class McpRequests {
  readonly #ports: McpRequestPorts;
  readonly #open = new Map<string, number>();
  readonly #begunAtMs = new Map<string, readonly number[]>();
  readonly #ends = new Map<string, AbortController>();

  constructor(ports: McpRequestPorts) {
    this.#ports = ports;
  }

  /** Answers one request, and records what became of it. Rejects with the error that the server gets. */
  async answer(server: McpServer, request: McpServerRequest): Promise<McpDefinition> {
    const { clock, audit } = this.#ports;
    const startedMs = clock.monotonic();
    const record = (outcome: Outcome, reason: string | null, bytes: number): void => {
      const { method, at } = request;
      const duration_ms = Math.round(clock.monotonic() - startedMs);
      const place = { agent_path: at?.agent ?? null, session_id: at?.session ?? null };
      const data = { method, outcome, reason: reason && reason.slice(0, 500), ...place, bytes, duration_ms };
      audit.emit("plugin.mcp_request", { name: server.plugin, instance: server.instance }, data);
    };
    try {
      const { answer, outcome, reason = null } = await this.#bounded(server, request);
      record(outcome, reason, byteLength(JSON.stringify(answer)));
      return answer;
    } catch (thrown) {
      const error = asHostError(thrown);
      record(error.code === "mcp.request_refused" ? "refused" : "failed", error.message, 0);
      throw error;
    }
  }

  /** Gives up the requests of a session that was closed. */
  sessionEnded(session: string): void {
    this.#ends.get(session)?.abort(new HostError("protocol.cancelled", "The session was closed"));
    this.#ends.delete(session);
  }

  async #bounded(server: McpServer, request: McpServerRequest): Promise<Answered> {
    const { instance } = server;
    const part = OFFER_OF[request.method];
    if (!part || !this.#ports.offers.includes(part)) throw refused("The host does not offer it");
    const open = this.#open.get(instance) ?? 0;
    const nowMs = this.#ports.clock.monotonic();
    const begun = (this.#begunAtMs.get(instance) ?? []).filter((atMs) => nowMs - atMs < MINUTE_MS);
    if (open >= MAX_OPEN) throw refused(`The server has ${MAX_OPEN} requests open already`);
    if (begun.length >= MAX_A_MINUTE) throw refused(`The server made ${MAX_A_MINUTE} requests in a minute`);
    this.#begunAtMs.set(instance, [...begun, nowMs]);
    this.#open.set(instance, open + 1);
    try {
      return part === "roots" ? await this.#roots(server, request) : await this.#inSession(part, server, request);
    } finally {
      const left = this.#open.get(instance)! - 1;
      if (left > 0) this.#open.set(instance, left);
      else this.#open.delete(instance);
    }
  }

  async #inSession(
    part: "elicitation" | "sampling",
    server: McpServer,
    { params, at, signal, key }: McpServerRequest,
  ): Promise<Answered> {
    if (at === null) throw refused("It belongs to no call, or to calls of several sessions");
    if (!this.#ports.isOpen(at.session)) throw refused("Its session is closed");
    const end = this.#ends.get(at.session) ?? new AbortController();
    this.#ends.set(at.session, end);
    const asked = {
      server,
      params,
      at,
      signal: AbortSignal.any([signal, end.signal]),
      ...(key !== undefined && { key }),
    };
    return part === "elicitation" ? await this.#elicit(asked) : await this.#sample(asked);
  }

  async #roots(server: McpServer, request: McpServerRequest): Promise<Answered> {
    const { at, sessions = at ? [at.session] : [], signal } = request;
    const [first = this.#ports.onlyWithRoots(server.instance), second] = sessions;
    // In calls of several sessions nobody can say whose roots are meant.
    const session = second === undefined ? first : null;
    const roots = this.#one("roots", session);
    const answer = roots ? await unlessAborted(roots(originOf({ ...request, server })), signal) : { roots: [] };
    if (!isMap(answer) || !Array.isArray(answer["roots"])) throw unusable("roots is no list");
    return { answer, outcome: "answered" };
  }

  async #elicit(asked: Asked): Promise<Answered> {
    const { params, at, signal } = asked;
    const form = formIn(params);
    const elicit = this.#one("elicit", at.session);
    const answer = elicit
      ? await unlessAborted(elicit(params, originOf(asked)), signal)
      : answerOf(await this.#askForm(asked, form), form);
    const { action, content } = isMap(answer) ? answer : {};
    if (!ACTIONS.includes(action)) throw unusable("action is neither accept, decline nor cancel");
    if (action === "accept" && addressIn(form) === null) {
      const problem = contentProblem(form, isMap(content) ? content : {});
      if (problem !== null) throw unusable(problem);
    }
    const outcome = action === "accept" ? "answered" : action === "decline" ? "declined" : "cancelled";
    return { answer, outcome };
  }

  /** Asks a person; a form that nobody waits for any more is one that nobody answered. */
  async #askForm({ server: { plugin }, at, signal }: Asked, form: Args): Promise<Ruling> {
    const what = addressIn(form) === null ? "asks for what the form says" : "asks to open an address";
    const reason = `${plugin} ${what}`;
    try {
      return await this.#ask({ tool: "elicit", kind: "elicitation", plugin, at, signal, form, reason });
    } catch (thrown) {
      const { code, message } = asHostError(thrown);
      if (!signal.aborted && code !== "host.stopped") throw thrown;
      return { isAllowed: false, by: "nobody", reason: message, isUnanswered: true };
    }
  }

  async #sample(asked: Asked): Promise<Answered> {
    const { server: { plugin }, params, at, signal } = asked;
    const sample = this.#one("sample", at.session);
    if (!sample) throw refused("Nobody here asks a model for a server", "sampling");
    if (!Array.isArray(params["messages"])) throw malformed("sampling/createMessage has no messages");
    const { sampling } = this.#ports.rules.settings;
    if (sampling === "deny") throw refused('[approvals] sampling of the operator says "deny"');
    let given: Args = params;
    if (sampling === "ask") {
      const reason = `${plugin} asks your model, and reads what it answers`;
      const check = checkMessages;
      const ruling = await this.#ask({
        tool: "sample",
        kind: "sampling",
        plugin,
        at,
        signal,
        form: params,
        reason,
        check,
      });
      if (!ruling.isAllowed) throw refused(ruling.reason);
      given = ruling.arguments;
    }
    const answer = await unlessAborted(sample(given, originOf(asked)), signal);
    if (!isMap(answer)) throw unusable("the answer is no object");
    return { answer, outcome: "answered" };
  }

  #ask(
    { tool, kind, plugin, at, signal, form, reason, check }: Pick<Asked, "at" | "signal"> & {
      readonly tool: string;
      readonly kind: "elicitation" | "sampling";
      readonly plugin: string;
      readonly form: Args;
      readonly reason: string;
      readonly check?: (args: Args) => Promise<void>;
    },
  ): Promise<Ruling> {
    const { desk, rules } = this.#ports;
    return desk.ask({
      agentPath: at.agent,
      sessionId: at.session,
      jobId: null,
      tool,
      plugin,
      arguments: form,
      changed: null,
      asked: [{ source: { kind, id: plugin }, reason }],
      call: null,
      waitMs: rules.settings.waitSec * 1000,
      signal,
      ...(check && { check }),
    });
  }

  /** Returns the function that answers one kind of request: the session's, else the host's own; null without one. */
  #one<K extends keyof ClientSide>(name: K, session: string | null): NonNullable<ClientSide[K]> | null {
    const sides = [...(session === null ? [] : this.#ports.clients(session)), this.#ports.client];
    const side = sides.find((one) => one[name] !== undefined);
    return side?.[name]?.bind(side) as NonNullable<ClientSide[K]> | undefined ?? null;
  }
}

function originOf({ server: { plugin }, signal, key }: Pick<Asked, "server" | "signal" | "key">): RequestOrigin {
  return { plugin, signal, ...(key !== undefined && { key }) };
}

/** Returns the parts of an elicitation that a person sees. Throws `mcp.malformed`. */
function formIn(params: McpDefinition): Args {
  const { mode = "form", message, requestedSchema, url, elicitationId } = params;
  if (typeof message !== "string") throw malformed("elicitation/create has no message");
  const form: Args = mode === "url"
    ? { mode, message, url, ...(typeof elicitationId === "string" && { elicitationId }) }
    : { message, requestedSchema };
  if (mode === "url" ? !isWebAddress(url) : mode !== "form" || formFields(form) === null) {
    throw malformed(mode === "url" ? "Its url is no web address" : "Its form is none of flat fields");
  }
  if (byteLength(JSON.stringify(form)) > MAX_FORM_BYTES) throw malformed(`Its form has over ${MAX_FORM_BYTES} bytes`);
  return form;
}

/** A person is shown the address, and nobody here opens it: other schemes could run something. */
function isWebAddress(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol);
}

function answerOf(ruling: Ruling, form: Args): McpDefinition {
  if (!ruling.isAllowed) return { action: ruling.isUnanswered ? "cancel" : "decline" };
  return addressIn(form) === null ? { action: "accept", content: ruling.content ?? {} } : { action: "accept" };
}

function checkMessages({ messages }: Args): Promise<void> {
  if (Array.isArray(messages)) return Promise.resolve();
  const hint = "Send the whole request, as it is shown";
  return Promise.reject(new HostError("approval.answer_invalid", "The arguments have no messages", { hint }));
}

/** `missing` is the part of a client that nobody here has. */
function refused(reason: string, missing?: ClientOffer): HostError {
  const data = { reason, ...(missing !== undefined && { missing }) };
  return new HostError("mcp.request_refused", `The request was refused: ${reason}`, { data });
}

function malformed(problem: string): HostError {
  return new HostError("mcp.malformed", problem);
}

/** The error of an answer of the client's side that cannot be handed on. */
function unusable(problem: string): HostError {
  return new HostError("mcp.params_invalid", `The client's answer cannot be used: ${problem}`);
}
