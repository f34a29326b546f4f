/**
 * The source of a small MCP server without dependencies, for packages, folders and bundles of tests.
 *
 * @module
 */

/**
 * Its tools: `environment` returns a variable, `arguments` what it was started with, `read` the text of a file. `before` runs before it
 * serves; `tools` are names of more tools.
 */
export function smallServer(before = "", tools: readonly string[] = []): string {
  return `#!/usr/bin/env node
const { createInterface } = require("node:readline");
const { readFileSync } = require("node:fs");
${before}
const schema = { type: "object", properties: { name: { type: "string" } } };
const names = ["environment", "arguments", "read", ...${JSON.stringify(tools)}];
const tools = names.map((name) => ({ name, description: "Tool " + name, inputSchema: schema }));
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const calls = {
  environment: ({ name }) => text(process.env[name]),
  arguments: () => text(JSON.stringify(process.argv.slice(2))),
  read: ({ name }) => text(readFileSync(name, "utf8")),
};
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "small", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => calls[name](given ?? {}),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: "no such method" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
});
`;
}
