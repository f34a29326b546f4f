/**
 * Calls as the APIs of models name them: by the name of a tool, with arguments that may be anything.
 *
 * @module
 */
import type { OnAsk } from "../core/approvals/desk_types.ts";
import { HostError } from "../core/errors/host_error.ts";
import type { Session } from "../host/types.ts";
import { failureOf, type SessionResult } from "./result_parts.ts";
import { type SessionTool, sessionTools, type SessionToolsOptions } from "./session_tools.ts";

/** How calls are made. */
export interface PlainCallOptions {
  /** Ends the call when it fires. */
  readonly signal?: AbortSignal;
  /** Answers where a person is asked; nothing leaves it to the front ends of the host. */
  readonly onAsk?: OnAsk;
  /** Called with each progress report of a plugin, and the call that it is about. */
  readonly onProgress?: (progress: unknown, call: { readonly id: string; readonly name: string }) => void;
}

/** A call of a model, in no API's shape. */
export interface PlainCall {
  readonly id: string;
  readonly name: string;
  /** The arguments; where the API has them as JSON, its text is in `json`. */
  readonly args?: unknown;
  readonly json?: string;
}

/** The tools of a session, for one agent. */
export interface PlainTools {
  readonly list: readonly SessionTool[];
  /** Whether it is one of them. */
  has(name: string): boolean;
  /** Makes a call. One of an unknown tool, or with arguments that are no JSON, resolves with an error for the model. */
  call(call: PlainCall, options: PlainCallOptions): Promise<SessionResult>;
}

/** Returns the tools that a session has now. */
export function plainTools(session: Session, options: SessionToolsOptions): PlainTools {
  const byName = new Map(sessionTools(session, options).map((tool) => [tool.name, tool]));
  return {
    list: [...byName.values()],
    has: (name) => byName.has(name),
    async call({ id, name, args, json }, { signal, onAsk, onProgress }) {
      const tool = byName.get(name);
      if (!tool) return failureOf(unknownTool(name));
      const given = json === undefined ? { args } : parsed(json);
      if (!given) return failureOf(noJson(name));
      return await tool.call(given.args, {
        signal,
        onAsk,
        ...(onProgress && { onProgress: (progress: unknown) => onProgress(progress, { id, name }) }),
      });
    },
  };
}

/** Models that call a tool without arguments send an empty text. */
function parsed(json: string): { readonly args: unknown } | null {
  try {
    return { args: json.trim() === "" ? {} : JSON.parse(json) };
  } catch {
    return null;
  }
}

function unknownTool(name: string): HostError {
  return new HostError("tool.unknown", `There is no tool "${name}"`, {
    data: { tool: name },
    hint: "Call one of the tools that were offered",
  });
}

function noJson(name: string): HostError {
  return new HostError("tool.arguments_invalid", `The arguments of "${name}" are no JSON`, {
    data: { tool: name },
    hint: "Send a JSON object that follows the tool's schema",
  });
}
