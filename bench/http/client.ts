/**
 * Asks a server as fast as it answers, over 16 connections: `client.ts <port> <path> <token> <seconds>`. Prints answers
 * per second. A process of its own, on Node whatever the server runs on: its work is not the server's.
 *
 * @module
 */
import { Agent, request } from "node:http";
import process from "node:process";

const CONNECTIONS = 16;
const [port = "", path = "/", token = "", seconds = "1"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const body = '{"text":"hello"}';
const headers = {
  "Authorization": `Bearer ${token}`,
  "Content-Type": "application/json",
  "Content-Length": body.length,
};

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: "127.0.0.1", port, path, method: "POST", headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${path} answers ${answer.statusCode}`));
      answer.resume().on("end", resolve);
    });
    sent.on("error", reject).end(body);
  });
}

async function rate(forMs: number): Promise<number> {
  const startMs = performance.now();
  let count = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    for (; performance.now() - startMs < forMs; count++) await ask();
  }));
  return count * 1000 / (performance.now() - startMs);
}

await rate(200);
console.log(await rate(Number(seconds) * 1000));
agent.destroy();
