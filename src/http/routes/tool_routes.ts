/**
 * Calls of tools on behalf of an agent: through the gate, as every call of a tool.
 *
 * @module
 */
import * as v from "valibot";
import type { ToolOutcome } from "../../host/types.ts";
import { type Api, type Route, route } from "../route.ts";
import { pageOf } from "../../core/values/page_of.ts";
import { pageQuery } from "../page.ts";
import { agentPath, anyMap, namedAgent, sessionId } from "../schemas.ts";
import { CALL_ERRORS } from "./call_routes.ts";

/** The routes of this file. */
export const TOOL_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/agents/{agent}/tools",
    summary: "The tools that an agent may call",
    params: namedAgent,
    query: pageQuery,
    errors: ["agent.unknown", "http.cursor_invalid", "http.cursor_gone"],
    run({ params: { agent }, query }, { host }) {
      const { items, next } = pageOf("tools", host.tools(agent), ({ name }) => name, query);
      const tools = items.map(({ name, alias, description, plugin, parametersSchema }) => ({
        name,
        alias,
        description,
        plugin,
        parameters_schema: { ...parametersSchema },
      }));
      return { tools, next };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/agents/{agent}/tools/{tool}",
    summary: "Call a tool of an agent, in a session or in one that ends with the call",
    params: v.strictObject({
      agent: agentPath,
      tool: v.pipe(v.string(), v.regex(/^[a-z][A-Za-z0-9_.-]{0,255}$/, "It is no name of a tool")),
    }),
    body: v.strictObject({
      arguments: v.exactOptional(anyMap),
      session: v.exactOptional(sessionId),
      timeout_ms: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(999_999))),
    }),
    isCall: true,
    errors: [...CALL_ERRORS, "result.unknown", "result.dropped"],
    run: ({ params, body, connection: { signal } }, api) => callTool(params, body, signal, api),
  }),
];

interface ToolBody {
  readonly arguments?: Record<string, unknown>;
  readonly session?: string;
  readonly timeout_ms?: number;
}

async function callTool(
  { agent, tool }: { readonly agent: string; readonly tool: string },
  { arguments: args = {}, session: id, timeout_ms: timeoutMs }: ToolBody,
  signal: AbortSignal | null,
  { host }: Api,
): Promise<ToolOutcome> {
  const session = id === undefined ? host.openSession() : host.session(id);
  try {
    const limits = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const { output, context, warnings } = await session.callTool(tool, args, { agent, ...limits });
    return { output: output ?? null, context, warnings };
  } finally {
    if (id === undefined) await session.close();
  }
}
