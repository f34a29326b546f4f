// A plugin that costs next to nothing, so that the host is what is measured: it finds the id, parses nothing else, and
// answers from ready-made text. One message per line.
import { Buffer } from "node:buffer";
import process from "node:process";

const EXACT_BYTES = 4_194_304;
const small = '{"status":"ok","items":[1,2,3],"note":"the quick brown fox"}';
const mebibyte = JSON.stringify({ text: "x".repeat(1024 * 1024 - 12) });
const initialized = JSON.stringify({
  name: "bench-plugin",
  version: "1.0.0",
  api_version: 1,
  methods: ["bench.small"],
  notifications: [],
  capabilities_used: [],
  // What an MCP client wants to hear.
  protocolVersion: "2025-06-18",
  capabilities: {},
  serverInfo: { name: "bench-plugin", version: "1.0.0" },
});

function exactLine(id) {
  const [head, tail] = [`{"jsonrpc":"2.0","id":${id},"result":{"text":"`, '"}}'];
  return head + "x".repeat(EXACT_BYTES - head.length - tail.length) + tail;
}

function answer(line) {
  const at = line.indexOf('"id":');
  if (at === -1) return line.includes('"shutdown"') ? process.exit(0) : "";
  const id = Number.parseInt(line.slice(at + 5, at + 21), 10);
  if (line.includes('"bench.small"')) return `{"jsonrpc":"2.0","id":${id},"result":${small}}\n`;
  if (line.includes('"bench.mebibyte"')) return `{"jsonrpc":"2.0","id":${id},"result":${mebibyte}}\n`;
  if (line.includes('"bench.exact"')) return `${exactLine(id)}\n`;
  return `{"jsonrpc":"2.0","id":${id},"result":${line.includes('"initialize"') ? initialized : '{"status":"ok"}'}}\n`;
}

let partial = "";
process.stdin.on("data", (chunk) => {
  const text = partial + chunk.toString("latin1");
  const lines = text.split("\n");
  partial = lines.pop();
  let out = "";
  for (const line of lines) out += answer(line);
  if (out !== "") process.stdout.write(Buffer.from(out, "latin1"));
});
process.stdin.on("end", () => process.exit(0));
