/**
 * Streamable HTTP of the revisions with a handshake (2025-03-26 to 2025-11-25): one session of the host for each session
 * of the protocol.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import { createEventStore } from "./serve_http_events.ts";
import { type IdleWatch, idleWatch } from "./serve_http_idle.ts";
import type { HttpSdk, McpSeat, SessionTransport } from "./serve_http_sdk.ts";
import { watched } from "./serve_http_streams.ts";

/** Options of {@link legacySessions}. */
export interface LegacyOptions {
  readonly sdk: HttpSdk;
  readonly clock: Clock;
  /** Opens a session of the host for a client that shakes hands. */
  readonly open: () => Promise<McpSeat>;
  readonly maxSessions?: number;
  readonly idleMs?: number;
}

/** The sessions of clients. */
export interface LegacySessions {
  /** Answers a request; `body` is its JSON, undefined where it has none. */
  fetch(request: Request, body: unknown): Promise<Response>;
  /** Ends every session. */
  close(): Promise<void>;
}

interface LegacySession {
  readonly transport: SessionTransport;
  readonly watch: IdleWatch;
  end(): Promise<void>;
}

const MAX_SESSIONS = 100;
/** Time without a request and without an open stream after which a session is ended. */
export const IDLE_MS: number = 30 * 60_000;
/** Pause that clients are told to make before they come back to a stream that ended. */
const RETRY_MS = 1_000;
const SESSION_HEADER = "mcp-session-id";

/** Serves clients of the older revisions. */
export function legacySessions(options: LegacyOptions): LegacySessions {
  const { sdk, clock, open, maxSessions = MAX_SESSIONS, idleMs = IDLE_MS } = options;
  const sessions = new Map<string, LegacySession>();
  let opening = 0;

  async function begin(request: Request, body: unknown): Promise<Response> {
    opening++; // Before anything is awaited: others may come at the same moment.
    try {
      await makeRoom();
      const seat = await open();
      const server = seat.server("legacy");
      let id: string | null = null;
      const transport = new sdk.WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (given) => void sessions.set(id = given, session),
        eventStore: createEventStore(),
        retryInterval: RETRY_MS,
      });
      const watch = idleWatch({ clock, idleMs, onIdle: () => void session.end() });
      const session: LegacySession = { transport, watch, end: () => server.close() };
      const closed = server.onclose;
      server.onclose = () => {
        closed?.();
        watch.stop();
        if (id !== null) sessions.delete(id);
        void seat.close();
      };
      await server.connect(transport);
      const response = await used(session, () => transport.handleRequest(request, { parsedBody: body }));
      if (id === null) await session.end(); // The handshake was refused.
      return response;
    } finally {
      opening--;
    }
  }

  /** Ends the session that was out of use for longest where there are too many. */
  async function makeRoom(): Promise<void> {
    if (sessions.size + opening <= maxSessions) return;
    const [longest] = [...sessions.values()].filter(({ watch }) => !watch.isUsed())
      .sort((a, b) => a.watch.lastUsedMs() - b.watch.lastUsedMs());
    if (longest) return await longest.end();
    throw new HostError("mcp.sessions_full", `All ${maxSessions} sessions are in use`, {
      data: { max_sessions: maxSessions },
      hint: "End one with DELETE, or try again later",
    });
  }

  return {
    async fetch(request, body) {
      const id = request.headers.get(SESSION_HEADER);
      if (id === null) {
        if (request.method === "POST" && sdk.isInitializeRequest(body)) return await begin(request, body);
        return rpcError(400, -32000, "Bad Request: Mcp-Session-Id header is required");
      }
      const session = sessions.get(id);
      if (!session) return rpcError(404, -32001, "Session not found");
      const given = body === undefined ? {} : { parsedBody: body };
      return await used(session, () => session.transport.handleRequest(request, given));
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ end }) => end()));
    },
  };
}

/** Answers a request of a session, which is in use until the answer has ended. */
async function used({ watch }: LegacySession, answer: () => Promise<Response>): Promise<Response> {
  const done = watch.use();
  try {
    return watched(await answer(), done);
  } catch (error) {
    done();
    throw error;
  }
}

/** A failure in the protocol's own shape. */
export function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
