/**
 * The body of a webhook. Names, ids and numbers are always sent; prompts, answers and error messages only when the
 * operator asks for them.
 *
 * @module
 */
import type { AnyEvent } from "../../events/types.ts";

/** A field that can hold a prompt, an answer, or a quotation of either: a hook's figures may be texts too. */
export type ContentField = "input" | "output" | "error" | "figures";

/** Which content is sent: none, all, or the fields named. */
export type ContentChoice = boolean | readonly ContentField[];

/** The JSON that a receiver gets. */
export interface WebhookPayload {
  /** Name of the event, such as `agent:end`. */
  readonly type: AnyEvent["type"];
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  /** Its other fields, as far as they may be sent. */
  readonly data: Readonly<Record<string, unknown>>;
}

type KeysOfEach<T> = T extends unknown ? keyof T : never;
type Field = Exclude<KeysOfEach<AnyEvent>, "type" | "timestamp">;

/** Every field of every event is a fact or content: a new field does not compile before it stands here. */
const KIND: Readonly<Record<Field, "fact" | "content">> = {
  input: "content",
  output: "content",
  error: "content",
  figures: "content",
  agentName: "fact",
  conversationId: "fact",
  correlationId: "fact",
  scopeId: "fact",
  jobId: "fact",
  toolsUsed: "fact",
  usage: "fact",
  duration: "fact",
  cronId: "fact",
  executionId: "fact",
  status: "fact",
  toolName: "fact",
  parentAgent: "fact",
  childAgent: "fact",
  model: "fact",
  promptTokens: "fact",
  completionTokens: "fact",
  plugin: "fact",
  hook: "fact",
  outcome: "fact",
  trigger: "fact",
  by: "fact",
  before: "fact",
  after: "fact",
};

/** Returns the body for an event. An unknown field is taken for content. */
export function payloadOf({ type, timestamp, ...fields }: AnyEvent, content: ContentChoice): WebhookPayload {
  const isSent = ([name]: [string, unknown]): boolean => {
    if (content === true || KIND[name as Field] === "fact") return true;
    return content !== false && content.includes(name as ContentField);
  };
  return { type, timestamp, data: Object.fromEntries(Object.entries(fields).filter(isSent)) };
}
