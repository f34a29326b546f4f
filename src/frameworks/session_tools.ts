/**
 * The tools of a session as every adapter takes them: safe names, JSON Schemas, and a call whose result is parts.
 *
 * @module
 */
import type { OnAsk } from "../core/approvals/desk_types.ts";
import { asHostError } from "../core/errors/host_error.ts";
import type { JsonSchema } from "../core/schema/json_schema.ts";
import type { HostTool, Session } from "../host/types.ts";
import { failureOf, resultOf, type SessionResult } from "./result_parts.ts";

/** Which tools of a session are taken. */
export interface SessionToolsOptions {
  /** Path of the agent whose tools they are, and who calls them. Default `primary`. */
  readonly agent?: string;
  /** `search_tools` and `call_tool` in place of a long list. Default false. */
  readonly search?: boolean;
  /** A result of more bytes is kept, and `read_result` is offered. Default: as the session was opened. */
  readonly maxResultBytes?: number;
}

/** How one call is made. */
export interface SessionCallOptions {
  /** Ends the call when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each progress report of the plugin. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** Answers where a person is asked; nothing leaves it to the front ends of the host. */
  readonly onAsk?: OnAsk | undefined;
  /** Awaited when the call has been allowed, before it is made. */
  readonly whenAllowed?: (() => Promise<void>) | undefined;
}

/** A tool of a session. */
export interface SessionTool {
  /** Of `^[a-zA-Z0-9_-]{1,64}$`, unique in the session: {@link HostTool.alias}. */
  readonly name: string;
  /** Full name: `<plugin>.<tool>`. */
  readonly fullName: string;
  /** Name for people, where an MCP server gave one. */
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of its arguments: always an object's. */
  readonly parameters: JsonSchema & { readonly type: "object" };
  /**
   * Calls it through the gate. A call that fails, or is blocked or denied, resolves with an error for the model to read;
   * rejects only when `signal` aborts, with its reason.
   */
  call(args: unknown, options?: SessionCallOptions): Promise<SessionResult>;
}

/** Returns the tools that a session has now. */
export function sessionTools(session: Session, options: SessionToolsOptions = {}): SessionTool[] {
  const { maxResultBytes, ...of } = options;
  const kept = maxResultBytes === undefined ? {} : { results: true };
  return session.tools({ ...of, ...kept }).map((tool) => sessionTool(session, tool, options));
}

function sessionTool(session: Session, tool: HostTool, how: SessionToolsOptions): SessionTool {
  const { name: fullName, alias: name, description, parametersSchema, definition } = tool;
  const title = definition?.["title"];
  return {
    name,
    fullName,
    ...(typeof title === "string" && { title }),
    description,
    parameters: { properties: {}, ...parametersSchema, type: "object" },
    call: (args, options = {}) => callTool(session, fullName, args, { ...options, ...how }),
  };
}

async function callTool(
  session: Session,
  name: string,
  args: unknown,
  { agent, maxResultBytes, signal, onProgress, onAsk, whenAllowed }: SessionCallOptions & SessionToolsOptions,
): Promise<SessionResult> {
  const context: string[] = [];
  try {
    const { output } = await session.callTool(name, (args ?? {}) as Record<string, unknown>, {
      ...(agent !== undefined && { agent }),
      ...(maxResultBytes !== undefined && { maxResultBytes }),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
      ...(onAsk && { onAsk }),
      ...(whenAllowed && { whenAllowed }),
      onContext: (texts) => void context.push(...texts),
    });
    return resultOf(output, context);
  } catch (error) {
    signal?.throwIfAborted();
    return failureOf(asHostError(error), context);
  }
}
