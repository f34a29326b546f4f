/**
 * MCP: a server of that protocol as a plugin. It gets what its manifest grants; its tools are called as the tools of any
 * plugin, and its other parts are there as {@link Dialect.peer}.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import type { Dialect, DialectPorts, PluginProfile } from "./dialect.ts";
import { McpClient } from "./mcp_client.ts";

/** Speaks MCP over the connection that `ports` makes, in the way of the era that `ports` names. */
export function mcpDialect(ports: DialectPorts): Dialect {
  const client = new McpClient(ports);
  const { tools } = client;
  return {
    async handshake({ config, beforeConfig, onInitialized }): Promise<PluginProfile> {
      const info = await client.meet(beforeConfig);
      if (isMap(info.capabilities.tools) && !ports.byWireName) await tools.listFirst();
      onInitialized();
      return {
        callable: new Set(tools.byName.keys()),
        methods: [],
        features: ["cancel", "progress"],
        missing: [],
        undeclared: [],
        configIgnored: Object.keys(config).length > 0,
        mcp: { ...info, tools: tools.all },
      };
    },
    call(method, params, context, options, end) {
      if (method !== "ping") return client.callTool(method, params, context, options, end);
      const answer = client.talk.checkAlive(options).then(() => ({ status: "ok" }));
      return end ? answer.then((result) => end.ok(result), (error) => end.failed(error)) : answer;
    },
    updateConfig: () => Promise.resolve(false),
    notify() {}, // Notifications of the plugin wire mean nothing to it.
    askToEnd: () => ports.endInput(),
    idle: () => client.calls.idle(),
    activity: () => client.activity(),
    peer: client.parts,
  };
}
