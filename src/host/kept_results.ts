/**
 * Results that are too large to be shown to a model: a session keeps each whole, behind a handle, as long as it is open
 * and there is room.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { type McpToolResult, toolResultIn } from "../core/mcp/tool_result.ts";
import type { Ids } from "../core/ports/ports.ts";
import { largeResult, partOfJson } from "../core/tools/large_result.ts";
import { matchesIn, rangeOf } from "../core/tools/read_text.ts";
import { byteLength, cutText } from "../core/values/cut_text.ts";

/** A result that is kept, as the model is shown it. */
export interface KeptResult {
  readonly handle: string;
  readonly bytes: number;
  /** By the host's count. */
  readonly tokens: number;
  readonly type: "text" | "json";
  /** How it begins. */
  readonly preview: string;
}

/** Arguments of `read_result`. */
export interface ReadRequest {
  readonly handle: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly search?: string;
  readonly context?: number;
  readonly path?: string;
}

interface Entry {
  readonly text: string;
  readonly bytes: number;
  /** Answers about it have at most so many bytes. */
  readonly maxBytes: number;
}

/** Where a result of an MCP server has the facts of what was kept, in its `_meta`. */
const KEPT_KEY = "kaged/kept";
/** Most results that a session keeps at once. */
export const MAX_KEPT = 100;
const PREVIEW_BYTES = 500;
/** Bytes of an answer beside the text that was read. */
const ENVELOPE_BYTES = 256;

/** The kept results of one session. */
export class KeptResults {
  readonly #ports: { readonly ids: Ids; readonly tokens: (text: string) => number; readonly keepBytes: number };
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #count = 0;
  /** Begins every handle of this session, and no other's: a handle of another session is unknown here. */
  #prefix: string | null = null;

  /** Begins empty. `keepBytes` bounds all results together; the newest is kept even where it alone has more. */
  constructor(ports: { readonly ids: Ids; readonly tokens: (text: string) => number; readonly keepBytes: number }) {
    this.#ports = ports;
  }

  /** Returns an output, or the small one that stands for it where it has more than `maxBytes`. */
  shown(output: unknown, maxBytes: number): unknown {
    const large = largeResult(output, maxBytes);
    if (!large) return output;
    const { kept, note } = this.#keep(large, maxBytes);
    return large.beside ? besideNote(large.beside, kept, note) : { kept, note };
  }

  /** Returns a failure, or a short one where it has more than `maxBytes`: a failed tool may say very much. */
  shownError(error: HostError, maxBytes: number): HostError {
    const { code, rpc, message } = error;
    const large = largeResult((code === "mcp.tool_failed" && toolResultIn(error.data)) || message, maxBytes);
    if (!large) return error;
    const { kept, note } = this.#keep(large, maxBytes);
    const data = { kept, ...(large.beside && besideNote(large.beside, kept, note)) };
    return new HostError(code, `${kept.preview}…`, { rpc, data, hint: note, cause: error });
  }

  /** Answers `read_result`. Throws `result.unknown`, `result.dropped` or `tool.arguments_invalid`. */
  read({ handle, path, search, ...range }: ReadRequest): unknown {
    const entry = this.#entries.get(handle);
    if (!entry) throw this.#missing(handle);
    const text = path === undefined || path === "" ? entry.text : partOfJson(entry.text, path);
    const how = { ...range, maxBytes: entry.maxBytes - ENVELOPE_BYTES };
    return { handle, ...(search === undefined ? rangeOf(text, how) : matchesIn(text, { ...how, search })) };
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #keep(
    { type, text }: { readonly type: "text" | "json"; readonly text: string },
    maxBytes: number,
  ): { kept: KeptResult; note: string } {
    const { ids, tokens, keepBytes } = this.#ports;
    const bytes = byteLength(text);
    this.#prefix ??= `${ids.create("res")}_`;
    const handle = `${this.#prefix}${++this.#count}`;
    this.#entries.set(handle, { text, bytes, maxBytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#entries) {
      if (oldest === handle || (this.#bytes <= keepBytes && this.#entries.size <= MAX_KEPT)) break;
      this.#entries.delete(oldest);
      this.#bytes -= freed;
    }
    const preview = cutText(text, Math.min(PREVIEW_BYTES, Math.floor(maxBytes / 4)));
    const kept = { handle, bytes, tokens: tokens(text), type, preview };
    const note =
      `This result has ${bytes} bytes, too many to show at once. It is kept whole: read it with read_result ` +
      `and the handle "${handle}", by offset and limit, or with search.`;
    return { kept, note };
  }

  #missing(handle: string): HostError {
    const number = this.#prefix !== null && handle.startsWith(this.#prefix) ? handle.slice(this.#prefix.length) : "";
    const wasKept = /^[1-9]\d*$/.test(number) && Number(number) <= this.#count;
    if (wasKept) {
      return new HostError("result.dropped", `The result "${handle}" is kept no longer: newer ones took its room`, {
        data: { handle },
        hint: "Call the tool again, for less at once if it can",
      });
    }
    return new HostError("result.unknown", `This session keeps no result "${handle.slice(0, 200)}"`, {
      data: { handle: handle.slice(0, 200) },
      hint: "Use the handle that the note of a kept result names; handles end with their session",
    });
  }
}

/** Returns the parts of a result that are shown, after the text that says where the rest is. */
function besideNote({ content, _meta }: McpToolResult, kept: KeptResult, note: string): McpToolResult {
  const text = `${note}\n\nIt begins:\n${kept.preview}`;
  return { content: [{ type: "text", text }, ...content], _meta: { ..._meta, [KEPT_KEY]: kept } };
}
