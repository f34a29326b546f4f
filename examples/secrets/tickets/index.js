// A plugin without an SDK that uses a token it never sees. To the program the placeholder is a token like any other.
import { createInterface } from "node:readline";
import process from "node:process";

let token = "";

const methods = {
  "initialize": () => ({ name: "tickets", version: "0.1.0", api_version: 1, methods: ["tickets.list"] }),
  "config.update": ({ api_token }) => {
    token = api_token;
    return {};
  },
  "ping": () => ({ status: "ok" }),
  "tickets.list": async () => {
    const response = await fetch("https://localhost:8443/", { headers: { Authorization: `Bearer ${token}` } });
    return { status: response.status, ...await response.json(), holds: token.slice(0, "kaged_secret_".length) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "shutdown") process.exit(0);
  if (id !== undefined) void answer(id, method, params);
}

async function answer(id, method, params) {
  const reply = (part) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...part })}\n`);
  try {
    if (!Object.hasOwn(methods, method)) return reply({ error: { code: -32601, message: "Method not found" } });
    reply({ result: await methods[method](params) });
  } catch (error) {
    reply({ error: { code: -32000, message: String(error.cause ?? error) } });
  }
}
