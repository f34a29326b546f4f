import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import type { NetEvent } from "../../../../src/core/cage/net/gatekeeper.ts";
import { probeCage } from "../../../../src/core/cage/probe_cage.ts";
import { UNSHARE } from "../../../../src/core/cage/sealed_nodes.ts";
import type { ProcessSpawner } from "../../../../src/core/ports/ports.ts";
import { placesIn, requestOf, startCaged } from "../../../support/cage_requests.ts";
import { GRANTED, networkOf } from "../../../support/granted_servers.ts";
import { requireOrSkip } from "../../../support/require_or_skip.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const PROGRAM = new URL("fixtures/talks.py", import.meta.url);

/** Where a plugin connects to, the text it sends, and how often. */
type Talk = readonly [host: string, port: number, text: string, count: number];
/** Length and beginning of the answer, or why there was no connection. */
type Heard = readonly [length: number, start: string] | string;

/** A host for one test. */
interface Ground {
  readonly capabilities: readonly string[];
  readonly servers?: Readonly<Record<number, Server>>;
  /** Names that lead elsewhere than to the servers. */
  readonly names?: Readonly<Record<string, string>>;
  readonly processes?: ProcessSpawner;
}

/** Lets a caged plugin talk; returns what it heard, and the events of its gatekeeper. Null where nothing can be caged. */
async function talked(
  t: TestContext,
  talks: readonly Talk[],
  { capabilities, servers = {}, names, processes = runtime.processes }: Ground,
): Promise<{ heard: Heard[]; events: NetEvent[] } | null> {
  const places = await placesIn(await scratchDir(t), runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return null;
  await runtime.files.write(`${places.installDir}/talks.py`, await readFile(PROGRAM), 0o644);
  const events: NetEvent[] = [];
  const request = requestOf({ command: ["python3", "talks.py", JSON.stringify(talks)], capabilities }, places);
  const network = await networkOf(t, servers, names);
  const onNet = (event: NetEvent): void => void events.push(event);
  const caged = await startCaged({ ...request, onNet }, undefined, { ...runtime, network, processes });
  const { out, err } = await caged.end();
  assert.equal(err, "");
  return { heard: JSON.parse(out), events };
}

/** Gives back what it hears, once the other side has ended. */
const echo = (): Server => createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));

test("a connection to a granted name carries all bytes both ways, whoever speaks first and whoever ends first", async (t) => {
  const greets = createServer({ allowHalfOpen: true }, (socket) => {
    socket.write("220 ready\r\n");
    socket.on("data", () => {}).on("end", () => socket.end("221 bye\r\n"));
  });
  const hangsUp = createServer((socket) => void socket.end("gone"));
  const ended = await talked(t, [
    [GRANTED, 443, "0123456789abcdef", 262_144],
    [GRANTED, 25, "QUIT\r\n", 1],
    [GRANTED, 25, "", 0],
    [GRANTED, 8080, "", 0],
  ], {
    capabilities: [443, 25, 8080].map((port) => `net:${GRANTED}:${port}`),
    servers: { 443: echo(), 25: greets, 8080: hangsUp },
  });
  if (!ended) return;
  assert.deepEqual(ended.heard, [
    [4_194_304, "0123456789abcdef".repeat(13).slice(0, 200)],
    [20, "220 ready\r\n221 bye\r\n"],
    [20, "220 ready\r\n221 bye\r\n"],
    [4, "gone"],
  ]);
});

test("a port that was not granted is refused by the gatekeeper: in words to HTTP, by hanging up to all else", async (t) => {
  const get = `GET /x HTTP/1.1\r\nHost: ${GRANTED}\r\n\r\n`;
  const ended = await talked(t, [
    [GRANTED, 80, get, 1],
    [GRANTED, 443, "\x16\x03\x01 a hello of TLS", 1],
    [GRANTED, 443, "", 0],
    [GRANTED, 8081, get, 1],
  ], { capabilities: [`net:${GRANTED}:8080`], servers: { 80: echo(), 443: echo() } });
  if (!ended) return;
  const [words, ...silent] = ended.heard;
  assert.match(
    words?.[1] as string,
    /^HTTP\/1\.1 403 .*not-allowed: the manifest does not grant net:hooks\.example:80\n$/s,
  );
  assert.deepEqual(silent, [[0, ""], [0, ""], "ECONNREFUSED"]);
  const refused = { kind: "refused", host: GRANTED, reason: "not-allowed" };
  assert.deepEqual(ended.events, [{ ...refused, port: 80 }, { ...refused, port: 443 }]);
});

test("a granted name that leads into the machine's own networks is refused to a direct connection too", async (t) => {
  const get = "GET / HTTP/1.1\r\n\r\n";
  const talks: Talk[] = [["inner.example", 443, get, 1], ["lost.example", 443, get, 1], ["127.0.0.2", 443, get, 1]];
  const ended = await talked(t, talks, {
    capabilities: ["net:inner.example:443", "net:lost.example:443"],
    servers: { 443: echo() },
    names: { "inner.example": "127.0.0.1" },
  });
  if (!ended) return;
  const [inner, lost, address] = ended.heard.map((heard) =>
    /^HTTP\/1\.1 (\d+).*\n([\w-]+):/s.exec(heard[1] ?? "")?.slice(1)
  );
  assert.deepEqual([inner, lost, address], [
    ["403", "resolves-to-private"],
    ["502", "unresolved"],
    ["403", "resolves-to-private"],
  ]);
  const reason = "resolves-to-private";
  assert.deepEqual(ended.events, [{ kind: "refused", host: "inner.example", port: 443, reason }]);
});

test("N-020 an address is refused by the gatekeeper on the ports of usual services, of IPv4 and of IPv6", async (t) => {
  const get = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
  const ended = await talked(t, [
    ["93.184.216.34", 80, get, 1],
    ["10.0.0.7", 22, "SSH-2.0-x\r\n", 1],
    ["127.0.0.1", 443, "", 0],
    ["2606:2800:220:1::1", 443, "", 0],
    [GRANTED, 25, "", 0],
  ], { capabilities: [`net:${GRANTED}:8080`], servers: { 80: echo(), 22: echo(), 443: echo() } });
  if (!ended) return;
  const [words, ...silent] = ended.heard;
  assert.match(words?.[1] as string, /^HTTP\/1\.1 403 .*the manifest does not grant net:93\.184\.216\.34:80\n$/s);
  assert.deepEqual(silent, [[0, ""], [0, ""], [0, ""], [0, ""]]);
  const refused = (host: string, port: number) => ({ kind: "refused", host, port, reason: "not-allowed" });
  assert.deepEqual(ended.events, [
    refused("93.184.216.34", 80),
    refused("10.0.0.7", 22),
    refused("127.0.0.1", 443),
    refused("[2606:2800:220:1::1]", 443),
    refused(GRANTED, 25),
  ]);
});

test("an address that was granted is reached by any client at its own place, and at no other port", async (t) => {
  const ended = await talked(t, [
    ["93.184.216.34", 5432, "hello", 1],
    ["93.184.216.34", 443, "hello", 1],
    ["93.184.216.34", 5433, "hello", 1],
  ], { capabilities: ["net:93.184.216.34:5432", "net:93.184.216.34:443"], servers: { 443: echo(), 5432: echo() } });
  if (!ended) return;
  assert.deepEqual(ended.heard, [[5, "hello"], [5, "hello"], "ECONNREFUSED"]);
  assert.deepEqual(ended.events.map(({ kind, port }) => [kind, port]), [["opened", 5432], ["opened", 443]]);
});

test("where no user namespace can be made around a cage, ports from 1024 on are still reached", async (t) => {
  const processes: ProcessSpawner = {
    ...runtime.processes,
    spawn(command, listeners) {
      const isRefused = command.file === UNSHARE && command.args.includes("--net");
      return isRefused ? Promise.reject(new Error("EPERM")) : runtime.processes.spawn(command, listeners);
    },
  };
  const ended = await talked(t, [[GRANTED, 5432, "hello", 1], [GRANTED, 443, "hello", 1]], {
    capabilities: [`net:${GRANTED}:5432`, `net:${GRANTED}:443`],
    servers: { 443: echo(), 5432: echo() },
    processes,
  });
  if (!ended) return;
  assert.deepEqual(ended.heard, [[5, "hello"], "ECONNREFUSED"]);
});
