// Asks for a table that is not its own, then prints a million lines that are no messages, whoever listens.
import { writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

const LINES = 1_000_000;
const PIECE = 1000;
const noise = "The quick brown fox jumps over the lazy dog and writes to the wrong stream\n".repeat(PIECE);

const send = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function write(text) {
  for (let bytes = Buffer.from(text); bytes.length > 0;) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

createInterface(process.stdin).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") {
    const identity = { name: "flooder", version: "1.0.0", api_version: 1, methods: [], notifications: [] };
    send({ id, result: { ...identity, capabilities_used: [] } });
  } else if (method === "initialized") {
    send({ id: "steal", method: "kaged.storage.query", params: { sql: "SELECT * FROM sqlite_schema" } });
  } else if (method === undefined && id === "steal") {
    for (let lines = 0; lines < LINES; lines += PIECE) write(noise);
  } else if (id !== undefined) {
    send({ id, result: method === "ping" ? { status: "ok" } : {} });
  }
});
