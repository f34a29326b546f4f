/**
 * Answers that the gatekeeper gives in the place of a server.
 *
 * @module
 */
import type { RefusalStatus } from "./bound/refused.ts";
import { latin1Bytes } from "./bytes.ts";
import type { Refusal, RefusalReason } from "./judge_target.ts";

/** Returns a whole answer of plain text, after which the connection ends. */
export function textAnswer(status: RefusalStatus | 200, text: string): Uint8Array {
  const body = `${text}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_TEXT[status]}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${latin1Bytes(body).length}`,
    "Connection: close",
  ];
  return latin1Bytes(`${head.join("\r\n")}\r\n\r\n${body}`);
}

const STATUS_TEXT = {
  200: "OK",
  400: "Bad Request",
  403: "Forbidden",
  431: "Request Header Fields Too Large",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

/** Returns the refusal of something that names no target. */
export const refusal = (reason: RefusalReason): Refusal => ({ refused: reason, host: "", port: 0 });

/** Whether the other side is at fault, rather than the plugin. */
export const isFault = (reason: RefusalReason): boolean => reason === "unresolved" || reason === "unreachable";

/** Advice to the author of the plugin. */
export const ADVICE: Readonly<Record<RefusalReason, (target: Refusal) => string>> = {
  "not-allowed": ({ host, port }) => `the manifest does not grant net:${host}:${port === 0 ? "<port>" : port}`,
  "bad-target": () => "name one host in its usual spelling, and a port",
  "resolves-to-private": ({ host }) =>
    `${host} leads to a private address; grant that address itself where it is meant`,
  "bad-request": () => "send CONNECT host:port, or a request for http://host/, with lines that end in CR LF",
  "unresolved": ({ host }) => `${host} has no address`,
  "unreachable": ({ host, port }) => `nobody answers at ${host}:${port}`,
  "handshake": ({ host }) => `trust the certificates of SSL_CERT_FILE for ${host}`,
  "too-many": () => "close some connections first",
};
