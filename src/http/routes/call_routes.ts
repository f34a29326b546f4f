/**
 * Calls of plugins' methods; one that names a tool passes the gate.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import type { HttpConnection } from "../../core/ports/http.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { type Api, type Route, route } from "../route.ts";
import { agentPath, anyMap, pluginName, sessionId } from "../schemas.ts";

const params = v.strictObject({
  name: pluginName,
  method: v.pipe(v.string(), v.regex(/^[a-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+){0,7}$/, "It is no name of a method")),
});
const place = {
  agent: v.exactOptional(agentPath),
  session: v.exactOptional(sessionId),
  timeout_ms: v.exactOptional(v.pipe(
    v.string(),
    v.regex(/^[1-9][0-9]{0,5}$/, "It is no number of milliseconds below a million"),
    v.transform(Number),
  )),
};
type Place = { readonly agent?: string; readonly session?: string; readonly timeout_ms?: number };

/** Failures of every call of a plugin, tools included. */
export const CALL_ERRORS = [
  "agent.unknown",
  "session.unknown",
  "tool.unknown",
  "tool.arguments_invalid",
  "tool.blocked",
  "tool.denied",
  "protocol.params_invalid",
  "protocol.internal",
  "protocol.busy",
  "protocol.closed",
  "protocol.oversize_message",
  "protocol.timeout",
  "plugin.error",
  "plugin.capability_denied",
  "plugin.not_initialized",
  "plugin.storage_denied",
  "plugin.config_invalid",
  "plugin.not_applicable",
  "plugin.unavailable",
  "plugin.refused",
  "http.rate_limited",
] as const;

const shared = {
  path: "/api/v1/plugins/{name}/call/{method}",
  params,
  isCall: true,
  errors: ["plugin.unknown", "protocol.method_unknown", "instance.ambiguous", ...CALL_ERRORS],
} as const;

/** Routes that call plugins. */
export const CALL_ROUTES: readonly Route[] = [
  route({
    ...shared,
    method: "GET",
    summary: "Call a method; its params are JSON in the query",
    query: v.strictObject({ params: v.exactOptional(v.pipe(v.string(), v.maxLength(65_536))), ...place }),
    run: ({ params, query: { params: text = "{}", ...at }, connection }, api) =>
      call(params, paramsIn(text), at, { connection, api }),
  }),
  route({
    ...shared,
    method: "POST",
    summary: "Call a method; its params are the body",
    query: v.strictObject(place),
    body: anyMap,
    run: ({ params, query, body, connection }, api) => call(params, body, query, { connection, api }),
  }),
];

function paramsIn(text: string): Record<string, unknown> {
  try {
    const params = JSON.parse(text);
    if (isMap(params)) return params;
  } catch {
    // Told below.
  }
  throw new HostError("http.input_invalid", "The query's params are no JSON object", {
    data: { issues: [{ at: "query", path: "params", message: "It is no JSON object" }] },
    hint: "Write params={} and what the method takes, percent-encoded",
  });
}

async function call(
  { name, method }: { readonly name: string; readonly method: string },
  params: Record<string, unknown>,
  { agent, session, timeout_ms }: Place,
  { connection: { signal }, api: { host } }: { readonly connection: HttpConnection; readonly api: Api },
): Promise<{ result: unknown }> {
  if (/^(kaged|system)\./.test(method)) {
    throw new HostError("protocol.method_unknown", `"${method}" is the host's own to call`, {
      data: { method },
      hint: "Call a method the plugin declares",
    });
  }
  const at = {
    ...(signal && { signal }),
    ...(agent !== undefined && { agent }),
    ...(session !== undefined && { session }),
    ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
  };
  return { result: await host.callMethod(name, method, params, at) ?? null };
}
