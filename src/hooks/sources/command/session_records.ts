/**
 * What hooks are told about a session beyond the event at hand: its transcript, in the form that Claude Code writes, and
 * one id for one call of a tool. Both are made of the events that hooks have seen, and forgotten with the oldest
 * sessions.
 *
 * @module
 */
import type { HookEvent } from "../../engine/types.ts";

/** Sessions that are remembered. */
const MAX_SESSIONS = 200;
/** Characters of one transcript: the oldest lines go first. */
const MAX_CHARACTERS = 1024 * 1024;
/** Calls of one session that have begun and not ended. */
const MAX_OPEN = 200;

interface Session {
  readonly lines: string[];
  size: number;
  /** Calls that have begun, by tool and input. */
  readonly open: Map<string, string[]>;
  calls: number;
}

/** The records of one event. */
export interface EventRecord {
  /** One for the moments before and after one call. */
  readonly callId: string;
  /** Lines of JSON, the event's own included. */
  readonly transcript: string;
}

/** Returns empty records. Each event is recorded once, however many hooks it has: `firing` tells events apart. */
export function sessionRecords(): { record(event: HookEvent, firing?: object): EventRecord } {
  const sessions = new Map<string, Session>();
  const known = new WeakMap<object, EventRecord>();
  return {
    record(event, firing = event) {
      const before = known.get(firing);
      if (before) return before;
      const session = sessions.get(event.sessionId) ?? { lines: [], size: 0, open: new Map(), calls: 0 };
      sessions.delete(event.sessionId);
      sessions.set(event.sessionId, session); // The last is the newest.
      if (sessions.size > MAX_SESSIONS) sessions.delete(sessions.keys().next().value!);
      const callId = callIdOf(event, session);
      const line = transcriptLine(event, callId);
      if (line !== null) append(session, line);
      const record = { callId, transcript: session.lines.join("") };
      known.set(firing, record);
      return record;
    },
  };
}

function append(session: Session, line: string): void {
  session.lines.push(line);
  session.size += line.length;
  while (session.size > MAX_CHARACTERS && session.lines.length > 1) session.size -= session.lines.shift()!.length;
}

/** Returns the id of the call that an event is about: that of its beginning, where hooks have seen it. */
function callIdOf(event: HookEvent, session: Session): string {
  const { tool, hook, details, input } = event;
  const given = details?.["toolUseId"];
  if (typeof given === "string") return given;
  const fresh = (): string => `toolu_${++session.calls}`;
  if (tool === undefined) return fresh();
  const key = JSON.stringify([event.agent, tool.name, input ?? null]);
  const open = session.open.get(key) ?? [];
  if (hook !== "PreToolUse") {
    // A failed call has two moments after it: the error, then the end.
    const id = hook === "PostToolUse" ? open.shift() : open[0];
    if (open.length === 0) session.open.delete(key);
    return id ?? fresh();
  }
  const id = fresh();
  session.open.set(key, [...open, id]);
  if (session.open.size > MAX_OPEN) session.open.delete(session.open.keys().next().value!);
  return id;
}

/** Returns the line of an event in a transcript, or null when it is no message. */
function transcriptLine(event: HookEvent, callId: string): string | null {
  const message = messageOf(event, callId);
  if (message === null) return null;
  const { sessionId, timestamp } = event;
  return `${JSON.stringify({ type: message.role, sessionId, timestamp, message })}\n`;
}

function messageOf(event: HookEvent, id: string): { readonly role: string; readonly content: unknown } | null {
  const { hook, tool, input, output, error, details } = event;
  if (hook === "UserPromptSubmitted") return { role: "user", content: input ?? "" };
  if (hook === "PreToolUse") {
    return { role: "assistant", content: [{ type: "tool_use", id, name: tool?.name ?? "", input: input ?? {} }] };
  }
  if (hook === "PostToolUse") {
    const content = output ?? error?.message ?? null;
    const isError = error !== undefined ? { is_error: true } : {};
    return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, ...isError }] };
  }
  const last = details?.["lastAssistantMessage"];
  return typeof last === "string" ? { role: "assistant", content: [{ type: "text", text: last }] } : null;
}
