/**
 * A server in front of a mock of the suite that answers no `server/discover`: it answers that in the mock's place and
 * hands everything else on, untouched. The official SDK's own conformance client does the same.
 *
 * @module
 */
import { detectRuntime } from "../../../mod.ts";

/** A proxy that stands. */
export interface DiscoveringProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a proxy in front of the server at `url`. */
export async function discoveringProxy(url: string): Promise<DiscoveringProxy> {
  const { http } = await detectRuntime();
  const server = await http.listen({
    at: { hostname: "127.0.0.1", port: 0 },
    background: true,
    async handler(request) {
      const body = request.method === "POST" ? await request.text() : null;
      const message = body === null ? null : JSON.parse(body);
      if (message?.method === "server/discover") {
        return Response.json({ jsonrpc: "2.0", id: message.id, result: OFFER });
      }
      const headers = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length"]) headers.delete(name);
      return await fetch(url, { method: request.method, headers, ...(body !== null && { body }) });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, close: () => server.destroy() };
}

const OFFER = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {}, resources: {}, prompts: {} },
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "mock", version: "1.0.0" } },
};
