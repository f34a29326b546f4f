// The echo tool as a user of the MCP SDK writes it: its own server answers its own client.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const text = '{"status":"ok","items":[1,2,3],"note":"the quick brown fox"}';
const server = new McpServer({ name: "echo", version: "1.0.0" });
server.registerTool("echo", { description: "Answers at once" }, () => ({ content: [{ type: "text", text }] }));
await server.connect(new StdioServerTransport());
