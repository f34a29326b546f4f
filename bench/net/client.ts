/**
 * Asks a TLS server through a proxy's unix socket, or directly: `client.ts <port> <socket or -> <ca file> <seconds>`. A
 * process of its own, on Node. Prints requests per second over 8 connections, the median time of a request on one
 * connection, and that of the first request on a new one, in ms.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import process from "node:process";
import { connect as connectTls } from "node:tls";

const CONNECTIONS = 8;
const [port = "", socket = "-", caFile = "", seconds = "1"] = process.argv.slice(2);
const ca = readFileSync(caFile, "utf8");
const headers = { Authorization: `Bearer kaged_secret_${"0123456789abcdef".repeat(2)}` };

class TunnelAgent extends Agent {
  override createConnection(_options: unknown, done?: (error: Error | null, socket: Socket) => void): undefined {
    const tunnel = connectTcp({ path: socket });
    tunnel.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`);
    tunnel.once("data", () => {
      const secure = connectTls({ socket: tunnel, ca, host: "127.0.0.1" }, () => done?.(null, secure));
    });
  }
}

const agentFor = (maxSockets: number): Agent =>
  new (socket === "-" ? Agent : TunnelAgent)({ keepAlive: true, maxSockets, ca });

function ask(agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: "127.0.0.1", port, path: "/user", headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`The answer is ${answer.statusCode}`));
      answer.resume().on("end", resolve);
    });
    sent.on("error", reject).end();
  });
}

async function rate(agent: Agent, forMs: number): Promise<number> {
  const startMs = performance.now();
  let count = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    for (; performance.now() - startMs < forMs; count++) await ask(agent);
  }));
  return count * 1000 / (performance.now() - startMs);
}

async function median(times: number, run: () => Promise<void>): Promise<number> {
  const taken: number[] = [];
  for (let at = 0; at < times; at++) {
    const startMs = performance.now();
    await run();
    taken.push(performance.now() - startMs);
  }
  return taken.sort((a, b) => a - b)[times >> 1] ?? NaN;
}

const [many, one] = [agentFor(CONNECTIONS), agentFor(1)];
await rate(many, 200);
const perSecond = await rate(many, Number(seconds) * 1000);
await ask(one);
const latencyMs = await median(200, () => ask(one));
const firstMs = await median(15, async () => {
  const fresh = agentFor(1);
  await ask(fresh);
  fresh.destroy();
});
console.log(JSON.stringify({ perSecond, latencyMs, firstMs }));
many.destroy();
one.destroy();
