import fc from "./fast_check.ts";
/**
 * Requests made from an OpenAPI document: most of them good, the rest wrong in ways that clients are.
 *
 * @module
 */

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The path in the document it was made from. */
  readonly route: string;
}

/** Facts about the server that its document does not hold. */
export interface RequestHints {
  /** Headers of a good request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values that exist, by the name of the parameter or the property. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** How often an operation is chosen, against 10 of every other. */
  readonly weight: (operationId: string) => number;
}

type Json = Record<string, unknown>;
interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Json;
}

/** The hints, and the shapes that the document names. */
interface Within extends RequestHints {
  readonly schemas: Readonly<Record<string, Json>>;
}

/** Returns an arbitrary of requests to what `document` describes. */
export function openApiRequests(
  document: { paths: Record<string, Json>; components: { schemas: Record<string, Json> } },
  hints: RequestHints,
): fc.Arbitrary<WireRequest> {
  const within = { ...hints, schemas: document.components.schemas };
  const weighted = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Json>).map(([method, operation]) => ({
      weight: hints.weight(operation.operationId as string),
      arbitrary: requestTo(path, method.toUpperCase(), operation, within),
    }))
  );
  return fc.oneof(...weighted);
}

function requestTo(path: string, method: string, operation: Json, hints: Within): fc.Arbitrary<WireRequest> {
  const parameters = (operation.parameters ?? []) as Parameter[];
  const inPath = parameters.filter((one) => one.in === "path");
  const inQuery = parameters.filter((one) => one.in === "query");
  const content = (operation.requestBody as { content?: Record<string, { schema: Json }> } | undefined)?.content;
  const schema = content?.["application/json"]?.schema;
  const good = fc.record({
    path: fc.tuple(...inPath.map((one) => mostly(valueOf(one.schema, one.name, hints), fc.string()))),
    query: fc.tuple(
      ...inQuery.map(({ name, schema, required }) =>
        fc.option(mostly(valueOf(schema, name, hints), fc.string()), { nil: null, freq: required ? 50 : 1 })
      ),
    ),
    body: schema
      ? mostly(valueOf(schema, "", hints), fc.jsonValue()).map((value) => JSON.stringify(value))
      : fc.constant(null),
  }).map(({ path: parts, query, body }): WireRequest => {
    const filled = inPath.reduce((text, { name }, at) => text.replace(`{${name}}`, encode(parts[at])), path);
    const pairs = inQuery.flatMap(({ name }, at) => query[at] === null ? [] : [`${name}=${encode(query[at])}`]);
    const target = pairs.length > 0 ? `${filled}?${pairs.join("&")}` : filled;
    const headers = { ...hints.headers, ...(body !== null && { "Content-Type": "application/json" }) };
    return { method, target, headers, body, route: path };
  });
  return mostly(good, good.chain(spoiled));
}

/** Three times in four the first. */
function mostly<A, B>(usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>): fc.Arbitrary<A | B> {
  return fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

/** A value that fits a schema: one that exists, where such are known. */
function valueOf(schema: Json, name: string, hints: Within): fc.Arbitrary<unknown> {
  const known = hints.known[name];
  if (known) return mostly(fc.constantFrom(...known), byType(schema, hints));
  return byType(schema, hints);
}

function byType(schema: Json, hints: Within): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === "string") return byType(hints.schemas[schema.$ref.split("/").at(-1)!]!, hints);
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((one) => byType(one as Json, hints)));
  switch (schema.type) {
    case "string":
      if (typeof schema.pattern === "string") return fc.stringMatching(new RegExp(schema.pattern));
      return fc.string({
        minLength: Number(schema.minLength ?? 0),
        maxLength: Math.min(50, Number(schema.maxLength ?? 50)),
      });
    case "object": {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
      if (properties.length === 0) return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue(), { maxKeys: 4 });
      const fields = properties.map(([name, one]) => [name, valueOf(one, name, hints)]);
      return fc.record(Object.fromEntries(fields), { requiredKeys: (schema.required ?? []) as never[] });
    }
    default:
      return fc.jsonValue();
  }
}

/** A request, wrong in one way. */
function spoiled(request: WireRequest): fc.Arbitrary<WireRequest> {
  const { headers, target } = request;
  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  const header = (name: string, value: fc.Arbitrary<string>) =>
    value.map((text) => ({ headers: { ...headers, [name]: text } }));
  const token = fc.stringMatching(/^[ -~]{0,60}$/);
  return fc.oneof(
    fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD").map((method) => ({ method })),
    fc.constant({ headers: without("Authorization") }),
    header("Authorization", token.map((text) => `Bearer ${text}`)),
    header("Host", fc.constantFrom("evil.example", "127.0.0.1.evil.example", "", "[::1", "a b", "localhost:99999999")),
    header("Origin", fc.constantFrom("http://evil.example", "null", "file://", "http://127.0.0.1")),
    header("Content-Type", fc.constantFrom("text/plain", "application/xml", "application/json;charset=latin1", ";")),
    header("Accept", fc.constantFrom("text/event-stream", "*/*", "application/xml")),
    header("Last-Event-ID", token),
    header("Upgrade", fc.constantFrom("websocket", "h2c")),
    header("Content-Length", fc.constantFrom("99999999999", "-1", "x")),
    fc.oneof(fc.string(), fc.constantFrom("{", '{"a":', "[".repeat(50_000), '{"__proto__":{"x":1}}', "\u0000", "NaN"))
      .map((body) => ({ body })),
    fc.string({ minLength: 1 }).map((text) => ({
      target: `${target}${target.includes("?") ? "&" : "?"}${encode(text)}=1`,
    })),
    fc.constantFrom("/..", "/%00", "/%ff", "//", "/%2e%2e/%2e%2e/etc/passwd", "?a=1&a=2", "%", "?%", "/constructor")
      .map((tail) => ({ target: target + tail })),
    fc.integer({ min: 1, max: 20 }).map((times) => ({ target: target + "/x".repeat(times) })),
    fc.constant({ target: `${target}?q=${"x".repeat(8000)}` }),
  ).map((change) => ({ ...request, ...change }));
}

function encode(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(text.toWellFormed());
}
