// Floods the host in one way, while it is told to: `main.mjs <name> <kind>`. Reads its input all along.
import process from "node:process";
import { createInterface } from "node:readline";

const [name, kind] = process.argv.slice(2);
const PIECE_BYTES = 32 * 1024;
let isFlooding = false;
let lastId = 0;

const line = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const fill = (make) => {
  let text = "";
  while (text.length < PIECE_BYTES) text += make();
  return text;
};

/** Each returns the next piece of the flood; ids of requests are new ones. */
const floods = {
  notifications: () => fill(() => line({ method: "flood.note", params: { text: "the quick brown fox" } })),
  progress: () => fill(() => line({ method: "system.progress", params: { id: 1, progress: 0.5 } })),
  requests: () =>
    fill(() => line({ id: ++lastId, method: "kaged.storage.query", params: { sql: "SELECT * FROM rows" } })),
  unknown_requests: () => fill(() => line({ id: ++lastId, method: "host.log", params: { text: "hello" } })),
  answers: () => fill(() => line({ id: 1e6 + ++lastId, result: { text: "the quick brown fox" } })),
  noise: () => fill(() => "The quick brown fox jumps over the lazy dog and writes to the wrong stream\n"),
  big_lines: () => line({ method: "flood.note", params: { text: "x".repeat(1024 * 1024) } }),
  stderr: () => fill(() => "The quick brown fox jumps over the lazy dog and has a lot to log\n"),
};

// Waits until the pipe has taken a piece: as long as the host does not read, the flooder sleeps.
function flood() {
  if (!isFlooding) return;
  const stream = kind === "stderr" ? process.stderr : process.stdout;
  stream.write(floods[kind](), () => setImmediate(flood));
}

createInterface(process.stdin).on("line", (text) => {
  const { id, method, params } = JSON.parse(text);
  const answer = (result) => process.stdout.write(line({ id, result }));
  if (method === "initialize") {
    const identity = { name, version: "1.0.0", api_version: 1, methods: ["flood.switch"], notifications: [] };
    answer({ ...identity, capabilities_used: [] });
  } else if (method === "flood.switch") {
    const was = isFlooding;
    isFlooding = params.on;
    answer({});
    if (isFlooding && !was) flood();
  } else if (method === "shutdown") process.exit(0);
  else if (id !== undefined && method !== undefined) answer(method === "ping" ? { status: "ok" } : {});
}).on("close", () => process.exit(0));
