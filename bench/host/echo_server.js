// One echo server in two dialects, the plugin wire and MCP: it costs next to nothing, so that the host is what is
// measured. It finds the id, parses no arguments, and answers from ready-made text. One message per line.
import { Buffer } from "node:buffer";
import process from "node:process";

const small = '{"status":"ok","items":[1,2,3],"note":"the quick brown fox"}';
const content = `{"content":[{"type":"text","text":${JSON.stringify(small)}}]}`;
const tool = { name: "echo", description: "Answers at once", inputSchema: { type: "object" } };
const initialized = JSON.stringify({
  name: "wire",
  version: "1.0.0",
  api_version: 1,
  methods: [],
  notifications: [],
  capabilities_used: [],
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "mcp", version: "1.0.0" },
});

function resultOf(line) {
  if (line.includes('"method":"wire.')) return small;
  if (line.includes('"method":"tools/call"')) return content;
  if (line.includes('"method":"initialize"')) return initialized;
  if (line.includes('"method":"tools/list"')) return JSON.stringify({ tools: [tool] });
  return '{"status":"ok"}';
}

function answer(line) {
  const at = line.indexOf('"id":');
  if (at === -1) return line.includes('"shutdown"') ? process.exit(0) : "";
  return `{"jsonrpc":"2.0","id":${Number.parseInt(line.slice(at + 5, at + 21), 10)},"result":${resultOf(line)}}\n`;
}

let partial = "";
process.stdin.on("data", (chunk) => {
  const lines = (partial + chunk.toString("latin1")).split("\n");
  partial = lines.pop();
  const out = lines.map(answer).join("");
  if (out !== "") process.stdout.write(Buffer.from(out, "latin1"));
});
process.stdin.on("end", () => process.exit(0));
