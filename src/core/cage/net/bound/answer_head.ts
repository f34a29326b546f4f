/**
 * The head of a server's answer (RFC 9112 §4), read as strictly as that of a request.
 *
 * @module
 */
import { connectionFields, endToEnd, type Field, readFields, valuesOf } from "../request_head.ts";

/** How long the body of an answer is (RFC 9112 §6.3). */
export type AnswerBody =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number; readonly stated: true }
  | { readonly kind: "chunked" }
  /** Up to the end of the connection. */
  | { readonly kind: "rest" };

/** An answer as its head describes it. */
export interface AnswerHead {
  readonly status: number;
  /** Status code and phrase. */
  readonly line: string;
  /** The fields that are about the answer itself, without its length. */
  readonly fields: readonly Field[];
  readonly body: AnswerBody;
  /** Content-Length as stated, also where no body comes, as for HEAD. */
  readonly length: string | null;
  /** Compression of the body in lower case; null when there is none. */
  readonly encoding: string | null;
  /** Whether the server takes another request on this connection. */
  readonly keepAlive: boolean;
}

const STATUS_LINE = /^(HTTP\/1\.[01]) (([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?)$/;

/** Reads the head of an answer to a request of this method; null when two programs could read it differently. */
export function readAnswerHead(text: string, method: string): AnswerHead | null {
  const [first = "", ...lines] = text.split("\r\n");
  const [, version, line = "", code] = STATUS_LINE.exec(first) ?? [];
  const fields = readFields(lines);
  if (code === undefined || fields === null) return null;
  const status = Number(code);
  const [length = null, ...lengths] = valuesOf(fields, "content-length");
  const codings = valuesOf(fields, "transfer-encoding").map((value) => value.toLowerCase());
  if (lengths.length > 0 || (length !== null && !/^[0-9]{1,15}$/.test(length))) return null;
  if (codings.length > 0 && (length !== null || codings.join() !== "chunked")) return null;
  const body = ((): AnswerBody => {
    if (method === "HEAD" || status < 200 || status === 204 || status === 304) return { kind: "none" };
    if (codings.length > 0) return { kind: "chunked" };
    return length === null ? { kind: "rest" } : { kind: "length", bytes: Number(length), stated: true };
  })();
  const encoding = valuesOf(fields, "content-encoding").join(",").trim().toLowerCase();
  const isOpen = version === "HTTP/1.1" && !connectionFields(fields).has("close");
  return {
    status,
    line,
    fields: endToEnd(fields),
    body,
    length,
    encoding: encoding === "" || encoding === "identity" ? null : encoding,
    keepAlive: isOpen && body.kind !== "rest",
  };
}
