/**
 * Requests to the host. The token travels in a header, never in an address, which browsers and proxies keep.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";
import type { Answers } from "../../src/http/answers.ts";
import type { Problem } from "../../src/http/problem.ts";
import { type ServerEvent, sseParser } from "./sse_parser.ts";

const KEPT_AT = "kaged-token";

/** The operator's token; null shows the sign-in view. */
export const token: Signal<string | null> = signal(readToken());
/** Why the host refused the last token. */
export const refusal: Signal<string | null> = signal(null);

/** A problem that the host answered with, or the lack of an answer (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, { code, detail, hint }: Pick<Problem, "code" | "detail" | "hint">) {
    super(detail);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** Keeps a token until the tab is closed. */
export function signIn(given: string): void {
  sessionStorage.setItem(KEPT_AT, given);
  refusal.value = null;
  token.value = given;
}

export function signOut(why: string | null = null): void {
  sessionStorage.removeItem(KEPT_AT);
  refusal.value = why;
  token.value = null;
}

/** Values for the parameters of a path; the other ones become its query, without those that are undefined. */
export type Params = Readonly<Record<string, string | number | undefined>>;

/** Sends a request and returns the JSON of its answer, typed by the API itself. Throws {@link ApiError}. */
export async function ask<K extends keyof Answers>(route: K, params: Params = {}, json?: unknown): Promise<Answers[K]> {
  const [method, path] = route.split(" ") as [string, string];
  return await (await send(pathOf(path, params), { method, json })).json();
}

/** A route whose answer is one page of a list. */
type PagedRoute = {
  [K in keyof Answers]: Answers[K] extends { readonly next: string | null } ? K : never;
}[keyof Answers];

/** Asks for every page of a list, and returns its items. */
export async function askAll<K extends PagedRoute, T>(
  route: K,
  itemsOf: (page: Answers[K]) => readonly T[],
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(route, { limit: 1000, cursor });
    items.push(...itemsOf(page));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return items;
}

/** Returns the address of a path such as `/api/v1/plugins/{name}`. */
export function pathOf(path: string, params: Params): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name]!));
  const query = Object.entries(params).flatMap(([name, value]) =>
    value === undefined || path.includes(`{${name}}`) ? [] : [`${name}=${encodeURIComponent(value)}`]
  );
  return query.length > 0 ? `${filled}?${query.join("&")}` : filled;
}

/** Reads a stream until it ends or `signal` is aborted. */
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

/** Reads the beginning of a text, up to so many characters; the rest is not fetched. */
export async function readStart(path: string, maxChars: number): Promise<{ text: string; isWhole: boolean }> {
  const reader = (await send(path, {})).body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text, isWhole: true };
    text += value;
    if (text.length <= maxChars) continue;
    await reader.cancel();
    return { text: text.slice(0, maxChars), isWhole: false };
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
  const unreadable = { code: `http.${response.status}`, detail: `The host answered with ${response.status}` };
  const problem: Problem | typeof unreadable = await response.json().catch(() => unreadable);
  if (response.status === 401) signOut(`${problem.detail}.`);
  throw new ApiError(response.status, problem);
}

/** Takes the token from behind the # of the address, which browsers do not send, and removes it there at once. */
function readToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEPT_AT, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT_AT);
}
