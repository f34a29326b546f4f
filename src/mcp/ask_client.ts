/**
 * Asks the person behind an MCP client: calls that wait at the desk become elicitations, where the client takes them.
 *
 * @module
 */
import type { ApprovalAnswer, ApprovalRequest } from "../core/approvals/types.ts";
import { fitArguments } from "../core/approvals/shown_arguments.ts";
import { isMap } from "../core/values/plain_data.ts";
import { printable } from "../core/values/printable.ts";
import type { Host } from "../host/types.ts";
import type { Question } from "./flight.ts";
import type { AskOptions, Json } from "./sdk_types.ts";

/** Longest text of arguments in a question. */
const MAX_ARGUMENT_BYTES = 4_000;

/** The form that a client shows; MCP allows flat ones only. */
const FORM = {
  type: "object",
  properties: {
    decision: { type: "string", title: "Decision", enum: ["allow", "deny"], enumNames: ["Allow", "Deny"] },
    scope: {
      type: "string",
      title: "For",
      enum: ["once", "session", "always"],
      enumNames: ["This call", "This session", "Always"],
      default: "once",
    },
    reason: { type: "string", title: "Reason, for the model", maxLength: 500 },
  },
  required: ["decision"],
} as const;

/** The session whose requests a client is asked about, and the way to the client. */
export interface ClientAsked {
  readonly host: Host;
  readonly session: string;
  /** Puts a question to the client; null where the client takes none now. */
  put(question: Question, request: ApprovalRequest, options: AskOptions): Promise<Json> | null;
  /** Whether a request is for the client. */
  isTaken(request: ApprovalRequest): boolean;
  /** Returns the requests that wait already. Default: there are none. */
  waiting?(): Promise<readonly ApprovalRequest[]>;
}

/**
 * Has the client asked about each request of a session that waits for a person, until the returned function is called.
 * A client that closes the question without an answer, or takes none, leaves it to the other front ends.
 */
export function askClient({ host, session, put, isTaken, waiting }: ClientAsked): () => void {
  const open = new Map<string, AbortController>();
  const heard = new Set<string>();
  let isOver = false;

  async function ask(request: ApprovalRequest): Promise<void> {
    const controller = new AbortController();
    open.set(request.id, controller);
    const { signal } = controller;
    const timeout = Math.max(1_000, Date.parse(request.expiresAt) - Date.parse(request.createdAt));
    const params = askedForm(request);
    const question = { key: `approval-${request.id}`, method: "elicitation/create", params } as const;
    try {
      const given = await put(question, request, { signal, timeout });
      const answer = given && answerIn(given, request);
      if (answer) await host.approvals.answer(request.id, answer, { by: "mcp client" });
    } catch {
      // The client has gone, or somebody else was first: the desk knows.
    } finally {
      open.delete(request.id);
    }
  }

  const stop = host.approvals.on(({ type, approval }) => {
    if (approval.sessionId !== session || !isTaken(approval)) return;
    heard.add(approval.id);
    if (type !== "requested") open.get(approval.id)?.abort(new Error("The request has ended"));
    else void ask(approval);
  });
  const askThose = (requests: readonly ApprovalRequest[]): void => {
    if (isOver) return;
    // Of those that were heard of meanwhile the listener has taken care.
    for (const request of requests) if (isTaken(request) && !heard.has(request.id)) void ask(request);
  };
  void waiting?.().then(askThose, () => {}); // Without the list, other front ends have them.
  return () => {
    isOver = true;
    stop();
    for (const controller of open.values()) controller.abort(new Error("The server has ended"));
  };
}

/** Returns the params of the elicitation that asks for an answer: a server's own form, or one for yes or no. */
export function askedForm(request: ApprovalRequest): Json {
  if (request.source.kind === "elicitation") return namedForm(request.arguments, request.plugin ?? "A server");
  return { message: questionOf(request), requestedSchema: FORM };
}

/**
 * Returns a server's own form with the name of its plugin before the message: to the client every form comes from kaged,
 * so that one server could ask in the name of another, or in the words in which the host asks for a yes.
 */
export function namedForm(form: Json, plugin: string): Json {
  const words = `${plugin} asks: ${form.message}`;
  return { ...form, message: words.split("\n").map(printable).join("\n") };
}

/** The question in words. Texts of plugins and handlers are made printable: a client may show them as they are. */
function questionOf({ tool, agentPath, reason, arguments: args, changed }: ApprovalRequest): string {
  const shown = JSON.stringify(fitArguments(args, MAX_ARGUMENT_BYTES).arguments, null, 2);
  const changes = changed ? [`Changed by ${changed.by.join(", ")}.`] : [];
  return [
    `Allow ${agentPath} to call ${tool}?`,
    reason,
    ...changes,
    "Arguments:",
    ...shown.split("\n"),
  ].map(printable).join("\n");
}

/** Returns the person's answer to a request; null for one that was closed without an answer. */
export function answerIn({ action, content }: Json, { source }: ApprovalRequest): ApprovalAnswer | null {
  if (action === "decline") return { decision: "deny", reason: "The person at the MCP client declined" };
  if (action !== "accept") return null;
  if (source.kind === "elicitation") return { decision: "allow", ...(isMap(content) && { content }) };
  const { decision, scope, reason } = isMap(content) ? content : {};
  return {
    decision: decision === "allow" ? "allow" : "deny",
    scope: scope === "session" || scope === "always" ? scope : "once",
    ...(typeof reason === "string" && reason !== "" && { reason }),
  };
}
