/**
 * Sends a request to a server that listens at a path.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { withShortPath } from "./short_path.ts";

/**
 * Sends `request` to the server whose socket stands at `path`; of its address only the path and the query count. The
 * body of the response is a stream that ends the connection when it is cancelled, as does an abort of the request's
 * signal.
 *
 * Rejects with the system's error: `ENOENT` when there is no such socket, `ECONNREFUSED` when nobody listens there any
 * more.
 */
export async function requestOverSocket(path: string, request: Request): Promise<Response> {
  const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
  const answer = await withShortPath(path, (socketPath) => ask(socketPath, request, body));
  const { statusCode = 502, rawHeaders } = answer;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  const isBare = request.method === "HEAD" || statusCode === 204 || statusCode === 304;
  if (isBare) answer.resume();
  const stream = isBare ? null : Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(stream, { status: statusCode, headers });
}

async function ask(socketPath: string, request: Request, body: Uint8Array | null): Promise<IncomingMessage> {
  const { request: send } = await import("node:http"); // Only here: it takes more memory than the whole host.
  const { pathname, search, host } = new URL(request.url);
  const headers: Record<string, string> = { ...Object.fromEntries(request.headers), host };
  if (body) headers["content-length"] = `${body.length}`;
  return await new Promise((resolve, reject) => {
    // No agent: a connection that is kept would outlive the server it leads to.
    const sent = send({
      socketPath,
      agent: false,
      path: `${pathname}${search}`,
      method: request.method,
      headers,
      signal: request.signal,
    }, resolve);
    sent.once("error", reject);
    sent.end(body ?? undefined);
  });
}
