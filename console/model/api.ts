/**
 * Asks the host. The token never is part of an address.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";
import { type ServerEvent, sseParser } from "./sse_parser.ts";

const KEPT_AT = "kaged-token";

/** The token, or null while nobody is signed in. */
export const token: Signal<string | null> = signal(readToken());
/** Why the last token was not taken, or null. */
export const refusal: Signal<string | null> = signal(null);

/** A failure the host told of, or the lack of an answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, { code, detail, hint }: { code: string; detail: string; hint?: string | undefined }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** Keeps a token for as long as the tab is open. */
export function signIn(given: string): void {
  sessionStorage.setItem(KEPT_AT, given);
  refusal.value = null;
  token.value = given;
}

/** Forgets the token. */
export function signOut(why: string | null = null): void {
  sessionStorage.removeItem(KEPT_AT);
  refusal.value = why;
  token.value = null;
}

/** Asks, and returns the JSON of the answer. Throws {@link ApiError}. */
export async function ask<T>(path: string, init: RequestInit & { json?: unknown } = {}): Promise<T> {
  return await (await send(path, init)).json() as T;
}

/** Posts. */
export async function post<T>(path: string, json?: unknown): Promise<T> {
  return await ask<T>(path, { method: "POST", ...(json !== undefined && { json }) });
}

/** Follows a stream until it ends or `signal` does. */
export async function follow(
  path: string,
  { signal, lastId, onOpen, onEvent }: {
    readonly signal: AbortSignal;
    readonly lastId?: string | null;
    onOpen?(): void;
    onEvent(events: readonly ServerEvent[]): void;
  },
): Promise<void> {
  const headers = { Accept: "text/event-stream", ...(lastId && { "Last-Event-ID": lastId }) };
  const response = await send(path, { signal, headers });
  onOpen?.();
  const parse = sseParser();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = parse(value);
    if (events.length > 0) onEvent(events);
  }
}

async function send(path: string, { json, headers, ...init }: RequestInit & { json?: unknown }): Promise<Response> {
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const type = json === undefined ? {} : { "Content-Type": "application/json" };
  const all = { Authorization: `Bearer ${token.value ?? ""}`, ...type, ...headers as Record<string, string> };
  let response: Response;
  try {
    response = await fetch(path, { ...init, ...body, headers: all });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ApiError(0, { code: "offline", detail: "The host does not answer", hint: "Is kaged serve running?" });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => null);
  const said = problem ?? { code: `http.${response.status}`, detail: `The host answered with ${response.status}` };
  if (response.status === 401) signOut(`${said.detail}.`);
  throw new ApiError(response.status, said);
}

/** The token comes once, behind the # that browsers do not send, and is taken out of sight at once. */
function readToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEPT_AT, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT_AT);
}
