/**
 * Reads a request and checks it against the schemas of its route.
 *
 * @module
 */
import * as v from "valibot";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import { isForeign } from "./guard.ts";
import type { Route, Schema } from "./route.ts";

/** The same as the limit on a line of the wire to a plugin, where the body may go. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const BODY_MS = 30_000;

/**
 * Reads a request and checks its path, its query and its body. Each is as its schema returns it, and undefined where the
 * route has no schema.
 *
 * @throws {HostError} `http.input_invalid` with every issue, `http.body_invalid`, `http.body_too_large`,
 * `http.body_timeout` or `http.media_type`.
 */
export async function readInput(
  route: Pick<Route, "params" | "query" | "body" | "isUntyped">,
  request: Request,
  { params, clock }: { readonly params: Readonly<Record<string, string>>; readonly clock: Clock },
): Promise<Record<"params" | "query" | "body", unknown>> {
  const searchParams = request.url.includes("?") ? new URL(request.url).searchParams : new URLSearchParams();
  const twice = [...new Set(searchParams.keys())].find((key) => searchParams.getAll(key).length > 1);
  if (twice !== undefined) throw invalid([{ at: "query", path: twice, message: "It is given twice" }]);
  const checked = {
    params: check(route.params, params, "path"),
    query: check(route.query ?? NOTHING, Object.fromEntries(searchParams), "query"),
  };
  if (!route.body) return { ...checked, body: undefined };
  const json = await readJson(request, clock, { isUntyped: route.isUntyped ?? false });
  return { ...checked, body: check(route.body, json, "body") };
}

const NOTHING: Schema = v.strictObject({});

interface InputIssue {
  readonly at: "path" | "query" | "body";
  readonly path: string;
  readonly message: string;
}

/** Returns a part of a request as its schema returns it. Throws `http.input_invalid` with every issue. */
function check(schema: Schema | undefined, value: unknown, at: InputIssue["at"]): unknown {
  if (!schema) return undefined;
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw invalid(result.issues.map((issue) => ({ at, path: v.getDotPath(issue) ?? "", message: issue.message })));
}

function invalid(issues: readonly InputIssue[]): HostError {
  const shown = issues.slice(0, 20).map(({ at, path, message }) => ({ at, path, message: message.slice(0, 300) }));
  const [{ at, path, message }] = shown as [InputIssue];
  return new HostError("http.input_invalid", `The ${at} does not fit the route: ${path} ${message}`.trim(), {
    data: { issues: shown },
    hint: "See /openapi.json for its parameters and its body",
  });
}

/**
 * Reads a JSON body of bounded size within a bounded time.
 *
 * @throws {HostError} `http.body_invalid`, `http.body_too_large`, `http.body_timeout` or `http.media_type`.
 */
export async function readJson(
  request: Request,
  clock: Clock,
  { isUntyped = false }: { readonly isUntyped?: boolean } = {},
): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  // A form of another site can send text as well, with the cookies of its visitor: such a request must name JSON.
  const isNamed = type === "application/json" ||
    isUntyped && (type === "" || type === "text/plain") && !isForeign(request);
  if (!isNamed) {
    throw new HostError("http.media_type", `The body is sent as ${type === "" ? "nothing named" : `"${type}"`}`, {
      hint: "Send Content-Type: application/json",
    });
  }
  const bytes = await readBytes(request, clock);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new HostError("http.body_invalid", `The body is not JSON: ${messageOf(error)}`, {
      hint: "Send one JSON value as UTF-8",
    });
  }
}

async function readBytes(request: Request, clock: Clock): Promise<Uint8Array> {
  const { headers } = request;
  const length = headers.get("content-length");
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => cancel = clock.after(BODY_MS, () => reject(tooSlow())));
  try {
    // A body with a length cannot exceed it, and reading it in one call is several times faster than counting pieces.
    const isBounded = length !== null && !headers.has("transfer-encoding");
    const read = isBounded ? request.arrayBuffer().then((bytes) => new Uint8Array(bytes)) : readCounted(request);
    return await Promise.race([read, late]);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("http.body_invalid", "The body ended early", { cause: error });
  } finally {
    cancel();
  }
}

/** Reads a body of unknown length, and stops at the limit. */
async function readCounted(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function tooSlow(): HostError {
  return new HostError("http.body_timeout", `The body was not complete after ${BODY_MS / 1000} seconds`, {
    data: { timeout_ms: BODY_MS },
    hint: "Send it without pauses",
  });
}

function tooLarge(): HostError {
  return new HostError("http.body_too_large", `The body is larger than ${MAX_BODY_BYTES} bytes`, {
    data: { max_bytes: MAX_BODY_BYTES },
    hint: "Send less, or send it in parts",
  });
}
