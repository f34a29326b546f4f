/**
 * Lines to messages and messages to lines (JSON-RPC 2.0, batches forbidden).
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import { jsonInner } from "../values/quoted_text.ts";
import { JsonText } from "../values/json_text.ts";

/** How this wire takes a JSON value. */
type MessageKind = "request" | "notification" | "response" | "batch" | "invalid";

/** An id that a request may carry and an answer can repeat exactly. */
export type MessageId = number | string;

/** A message as it came: which fields can be relied on, {@link kindOf} says. */
export interface Message {
  /** Must be `"2.0"`. */
  readonly jsonrpc?: unknown;
  /** Of a request: {@link MessageId}. Of a response: that, or null. */
  readonly id?: unknown;
  /** Of a request or notification: a string. */
  readonly method?: unknown;
  /** Of a request or notification: an object, an array, or undefined. */
  readonly params?: unknown;
  /** Of a response: the result, when there is no error. */
  readonly result?: unknown;
  /** Of a response: the error, when there is no result. */
  readonly error?: unknown;
}

/** Parses a line. Undefined when it is not JSON, or nested deeper than this runtime can read: then it is noise. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** An answer read by {@link parsePlainResult}. */
export interface PlainResult {
  /** The id: a positive integer. */
  id: number;
  result: unknown;
}

const PLAIN_START = '{"jsonrpc":"2.0","id":';
const PLAIN_MIDDLE = ',"result":';

/**
 * Reads the usual spelling of a successful answer from `start` to `end` of `text`, parsing only its result, into
 * `into`. Returns false for any other line, which may still be a message. The text between the known start and the
 * last brace is one JSON value, so the line is an object of these three members and no other.
 */
export function parsePlainResult(text: string, start: number, end: number, into: PlainResult): boolean {
  if (!text.startsWith(PLAIN_START, start)) return false;
  let at = start + PLAIN_START.length;
  let id = 0;
  for (let digit = text.charCodeAt(at) - 48; digit >= 0 && digit <= 9; digit = text.charCodeAt(++at) - 48) {
    id = id * 10 + digit;
    if (id === 0 || id > Number.MAX_SAFE_INTEGER) return false;
  }
  if (!text.startsWith(PLAIN_MIDDLE, at) || text.charCodeAt(end - 1) !== 0x7d) return false;
  try {
    into.result = JSON.parse(text.slice(at + PLAIN_MIDDLE.length, end - 1));
  } catch {
    return false;
  }
  into.id = id;
  return id > 0;
}

/** Returns how a parsed line is taken. */
export function kindOf(value: unknown): MessageKind {
  if (Array.isArray(value)) return "batch";
  if (invalidReason(value) !== null) return "invalid";
  const { id, method } = value as Message;
  return method === undefined ? "response" : id === undefined ? "notification" : "request";
}

/** Longest text an id may be: it is repeated in the answer, which must stay within the cap itself. */
const MAX_ID_CHARS = 256;

/** Whether an id can be repeated exactly: a short text, or a number that JSON keeps. */
export function isMessageId(id: unknown): id is MessageId {
  if (typeof id === "number") return Math.abs(id) <= Number.MAX_SAFE_INTEGER;
  return typeof id === "string" && id.length <= MAX_ID_CHARS;
}

/** Whether an invalid message was meant as a response: such a thing is never answered. */
export function looksLikeResponse(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { result, error } = value as Message;
  return result !== undefined || error !== undefined;
}

/** Returns the rule that a message breaks, or null for a good one. */
export function invalidReason(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return "not an object";
  const { jsonrpc, id, method, params, result, error } = value as Message;
  if (jsonrpc !== "2.0") return 'jsonrpc is not "2.0"';
  if (method === undefined) {
    if (result === undefined && error === undefined) return "neither method nor result nor error";
    if (result !== undefined && error !== undefined) return "both result and error";
    return id === null || isMessageId(id) ? null : "a response with an id that is no short text, exact number or null";
  }
  if (result !== undefined || error !== undefined) return "both method and result or error";
  if (typeof method !== "string") return "method is not a string";
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return "params are neither object nor array";
  }
  if (id === undefined || isMessageId(id)) return null;
  return id === null ? "id is null" : "id is no short text and no exact number";
}

/**
 * Builds the line of a request, newline included.
 *
 * @throws {HostError} `protocol.unserializable`.
 */
export function requestLine(id: number, method: string, params: unknown): string {
  // Joined with few and long pieces: that is where this is faster than stringifying the whole.
  return '{"jsonrpc":"2.0","id":' + id + callJson(method, params);
}

/**
 * Builds the line of a notification, newline included.
 *
 * @throws {HostError} `protocol.unserializable`.
 */
export function notificationLine(method: string, params: unknown): string {
  return '{"jsonrpc":"2.0"' + callJson(method, params);
}

/** The rest of a line from the comma before `method`. */
function callJson(method: string, params: unknown): string {
  if (params === undefined) return `,"method":${JSON.stringify(method)}}\n`;
  return headJson(method) + paramsJson(method, params) + "}\n";
}

const MAX_KNOWN_HEADS = 256;
const knownHeads = new Map<string, string>();

/** The text before the params. The same few methods are called over and over: each is escaped once. */
function headJson(method: string): string {
  const known = knownHeads.get(method);
  if (known !== undefined) return known;
  const head = `,"method":${JSON.stringify(method)},"params":`;
  if (knownHeads.size < MAX_KNOWN_HEADS && head.length < 200) knownHeads.set(method, head);
  return head;
}

/**
 * Builds the line of a successful response, newline included. No result is null.
 *
 * @throws {HostError} `protocol.unserializable`.
 */
export function resultLine(id: MessageId, result: unknown): string {
  const isText = result instanceof JsonText;
  const json = isText ? result.text : result === undefined ? "null" : toJson(result, "a result");
  return `{"jsonrpc":"2.0","id":${idJson(id)},"result":${json}}\n`;
}

/** The `error` of a response. */
export interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Builds the line of an error response, newline included. Data that cannot be written as JSON is left out. */
export function errorLine(id: MessageId | null, { code, message, data }: ErrorBody): string {
  let error: string;
  try {
    error = JSON.stringify({ code, message, data });
  } catch {
    error = JSON.stringify({ code, message });
  }
  return `{"jsonrpc":"2.0","id":${id === null ? "null" : idJson(id)},"error":${error}}\n`;
}

function idJson(id: MessageId): string {
  return typeof id === "number" ? String(id) : JSON.stringify(id);
}

/** Contexts whose text is kept: that of each session and agent which called last. */
const MAX_KNOWN_CONTEXTS = 1024;

/** The context of a call, as far as it is the same for every call of a session and an agent, and its text. */
interface KnownContext {
  readonly operator_id: unknown;
  readonly project_id: unknown;
  readonly agent_path: unknown;
  /** From the comma before it up to the text of `request_id`. */
  readonly text: string;
}

const knownContexts = new Map<unknown, KnownContext>();

/** The `_context` of a call. */
export interface WireContext {
  readonly operator_id: string | null;
  readonly project_id: string | null;
  readonly agent_path: string | null;
  readonly session_id: string | null;
  readonly request_id: string;
  readonly traceparent?: string;
}

/** Params to which the host's `_context` is added as text: they are neither copied nor walked twice. */
export class ContextParams {
  readonly params: Readonly<Record<string, unknown>>;
  readonly context: WireContext;

  constructor(params: Readonly<Record<string, unknown>>, context: WireContext) {
    this.params = params;
    this.context = context;
  }
}

/** The last member of the params, with the comma before it and the brace behind it. */
function contextJson(context: WireContext): string {
  const { operator_id, project_id, agent_path, session_id, request_id, traceparent } = context;
  let known = knownContexts.get(session_id);
  if (
    known === undefined || known.operator_id !== operator_id || known.project_id !== project_id ||
    known.agent_path !== agent_path
  ) {
    const facts = JSON.stringify({ operator_id, project_id, agent_path, session_id });
    const text = `,"_context":${facts.slice(0, -1)},"request_id":"`;
    known = { operator_id, project_id, agent_path, text };
    if (knownContexts.size >= MAX_KNOWN_CONTEXTS) knownContexts.clear();
    knownContexts.set(session_id, known);
  }
  const end = traceparent === undefined ? '"}}' : `","traceparent":${JSON.stringify(traceparent)}}}`;
  return known.text + jsonInner(request_id) + end;
}

function contextParamsJson(method: string, { params, context }: ContextParams): string {
  // A copy would not have such a method of the object's class, and its own `_context` gives way to the host's.
  const isPlain = (params as { toJSON?: unknown }).toJSON === undefined && !Object.hasOwn(params, "_context");
  const json = isPlain ? toJson(params, `the params of "${method}"`) : "";
  if (json.charCodeAt(0) !== 0x7b) {
    const { operator_id, project_id, agent_path, session_id, request_id, traceparent } = context;
    const _context: WireContext = { operator_id, project_id, agent_path, session_id, request_id };
    const whole = traceparent === undefined ? _context : { ..._context, traceparent };
    return toJson({ ...params, _context: whole }, `the params of "${method}"`);
  }
  const member = contextJson(context);
  return json.length === 2 ? "{" + member.slice(1) : json.slice(0, -1) + member;
}

function paramsJson(method: string, params: unknown): string {
  if (params instanceof ContextParams) return contextParamsJson(method, params);
  const json = toJson(params, `the params of "${method}"`);
  const first = json.charCodeAt(0);
  if (first === 0x7b || first === 0x5b) return json;
  throw new HostError("protocol.unserializable", `Cannot send the params of "${method}": no object and no array`);
}

function toJson(value: unknown, what: string): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw new HostError("protocol.unserializable", `Cannot write ${what} as JSON: ${messageOf(cause)}`, { cause });
  }
  if (json !== undefined) return json;
  throw new HostError("protocol.unserializable", `Cannot write ${what} as JSON: it is a ${typeof value}`);
}
