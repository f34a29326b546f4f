import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { openCage } from "../../../src/core/cage/open_cage.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import type { Network } from "../../../src/core/ports/ports.ts";
import { attackersOf } from "../../support/attackers.ts";
import { cagedBash, placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { supervised } from "../../support/supervised.ts";

const runtime = await detectRuntime();
const { files, processes } = runtime;
const PROXIED = new URL("./fixtures/proxied.py", import.meta.url);

/** Places for one test, or null when this machine cannot cage. */
async function ground(t: TestContext): Promise<Awaited<ReturnType<typeof placesIn>> | null> {
  const places = await placesIn(await scratchDir(t), runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  return await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor") ? places : null;
}

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A web server on loopback that tells what it was asked; returns its port. */
const webServer = (t: TestContext): Promise<number> =>
  listening(t, createHttpServer((request, response) => void response.end(`${request.headers.host}${request.url}`)));

const GATED = ["net:api.example.com:443"];

test("K-044 a plugin fetches from a host it was granted and from no other, and both are audited", async (t) => {
  if (!await ground(t)) return;
  const port = await webServer(t);
  await using s = await supervised();
  const instance = await s.add("fetches", { manifest: { capabilities: [`net:localhost:${port}`] } });
  await s.supervisor.start(instance);
  const fetched = await s.supervisor.call(instance, "fixture.call", { url: `http://localhost:${port}/x` });
  assert.deepEqual(fetched, { status: 200, text: `localhost:${port}/x` });
  const refused = await s.supervisor.call(instance, "fixture.call", { url: "http://evil.example/" });
  assert.notEqual((refused as { status?: number }).status, 200);
  assert.deepEqual((await s.next("plugin.net_opened")).data, { host: "localhost", port });
  let { data } = await s.next("plugin.net_refused");
  // Deno looks the name up before it asks the proxy.
  if ("source" in data) ({ data } = await s.next("plugin.net_refused"));
  assert.deepEqual(data, { host: "evil.example", port: 80, reason: "not-allowed" });
  await s.supervisor.stop(instance);
  assert.deepEqual(s.types().slice(-1), ["plugin.stopped"]);
  assert.deepEqual(await files.list(`${s.home}/run`), []);
});

test("the relay passes on stdin, stdout, stderr, arguments, environment and exit code, and nothing of its own", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script = 'read line; echo "$line $0 $TOKEN $KAGED_PLUGIN_NAME $PWD $NODE_OPTIONS"; echo err >&2; exit 7';
  // Options for the plugin's runtime are not for the relay's: this file does not exist.
  const env = { TOKEN: "t", NODE_OPTIONS: "--import=/absent.js", BUN_OPTIONS: "--preload=/absent.js" };
  const command = ["bash", "-c", script, "zero"];
  const caged = await startCaged(requestOf({ command, env, capabilities: GATED }, places));
  caged.child.write("line\n");
  const { exit, out, err, failure } = await caged.end();
  const seen = `line zero t caged ${places.installDir} --import=/absent.js\n`;
  assert.deepEqual({ exit, out, err, failure }, {
    exit: { code: 7, signal: null },
    out: seen,
    err: "err\n",
    failure: null,
  });
});

test("a stop reaches the handler of a plugin behind the relay, which waits for its end", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do read -t 1 line; done";
  const caged = await startCaged(requestOf({ command: ["bash", "-c", script], capabilities: GATED }, places));
  assert.equal(await caged.firstLine(), "ready");
  await caged.cage.verifyMounts();
  const pid = await caged.cage.childPid();
  assert.equal(processes.signal(-(pid ?? 0), "SIGTERM"), true);
  const { exit, out } = await caged.end();
  assert.deepEqual([exit, out], [{ code: 5, signal: null }, "ready\nasked\n"]);
});

test("a plugin behind the relay that a signal ends, or that cannot be run, ends as shells report it", async (t) => {
  const places = await ground(t);
  if (!places) return;
  assert.equal((await cagedBash("kill -KILL $$", { capabilities: GATED }, places)).exit.code, 137);
  const broken = `${places.installDir}/broken`;
  await files.write(broken, "#!/bin/sh\n", 0o755);
  const request = requestOf({ command: ["./broken"], capabilities: GATED }, places);
  const { exit, err } = await (await startCaged(request, () => files.remove(broken))).end();
  assert.equal(exit.code, 127);
  assert.match(err, /^relay: Cannot run .*broken/);
});

test("what a gated plugin reaches is the relay, and through it what was granted, as root and as a user", async (t) => {
  const heard: string[] = [];
  const neighbour = await listening(t, createServer((socket) => void (heard.push("neighbour"), socket.end())));
  const port = await listening(
    t,
    createServer((socket) => void socket.on("data", (part) => (heard.push(`${part}`), socket.end("ok")))),
  );
  const statusOf = (answer: unknown): string => String(answer).split(" ")[1] ?? "";
  for (const { attack, places } of await attackersOf(t)) {
    await files.write(`${places.installDir}/proxied.py`, await readFile(PROXIED), 0o644);
    const connect = (target: string): string => `CONNECT ${target} HTTP/1.1\r\n\r\n`;
    const asked = [
      ["direct", "127.0.0.1", port],
      ["direct", "127.0.0.1", neighbour],
      ["direct", "127.0.0.2", 4443],
      ["direct", "192.0.2.1", 8080],
      ["list", "/.cage"],
      ["relayed", `${connect(`localhost:${port}`)}hi`],
      ["relayed", connect(`127.0.0.1:${port}`)],
      ["relayed", connect(`localhost:${port === 1 ? 2 : 1}`)],
      ["relayed", connect(`[::ffff:127.0.0.1]:${port}`)],
      ["relayed", connect(`127.1:${port}`)],
      ["relayed", `GET http://localhost:${port}@evil.example/ HTTP/1.1\r\n\r\n`],
    ];
    const command = ["python3", "proxied.py", JSON.stringify(asked)];
    const { results } = await attack([], { command, capabilities: [`net:localhost:${port}`] });
    const [granted, loopback, unnamed, internet, helpers, tunnel, ...refused] = results as string[];
    assert.deepEqual([granted, loopback, unnamed], ["connected", "ECONNREFUSED", "ECONNREFUSED"]);
    // Every address is local to the cage: nobody listens there.
    assert.equal(internet, "ECONNREFUSED");
    const shown = (helpers as unknown as string[]).filter((name) => name !== "prlimit");
    assert.deepEqual(shown, ["js", "net.sock", "relay.json", "relay.mjs"]);
    assert.equal(tunnel, "HTTP/1.1 200 Connection established\r\n\r\nok");
    assert.deepEqual(refused.map(statusOf), Array(5).fill("403"));
  }
  assert.ok(heard.every((text) => text === "hi"), heard.join());
});

test("a gated cage is granted no folder that holds a unix socket; any other cage could not open it", async (t) => {
  const places = await ground(t);
  if (!places) return;
  await files.makeDir(`${places.projectDir}/deep/er`, { recursive: true });
  const server = createServer().listen(`${places.projectDir}/deep/er/s`);
  await once(server, "listening");
  t.after(() => void server.close());
  const granted = `read:fs:${places.projectDir}`;
  await assert.rejects(openCage(requestOf({ capabilities: [...GATED, granted] }, places), runtime), {
    code: "capability.socket_inside",
    message: /deep\/er\/s"$/,
  });
  for (const capabilities of [[granted], [granted, "net:*"]]) {
    await (await openCage(requestOf({ capabilities }, places), runtime)).close();
  }
  assert.deepEqual(await files.list(`${places.home}/run`), []);
});

test("a closed cage takes its gatekeeper with it, and a gate that cannot be opened leaves no files", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const closed: string[] = [];
  const listen: Network["listen"] = async (path, onConnection) => {
    const listener = await runtime.network.listen(path, onConnection);
    return { close: async () => (closed.push(path), await listener.close()) };
  };
  const request = requestOf({ capabilities: GATED }, places);
  const cage = await openCage(request, { ...runtime, network: { ...runtime.network, listen } });
  await cage.close();
  assert.equal(closed.length, 1);
  const broken = { ...runtime.network, listen: () => Promise.reject(new Error("No more sockets")) };
  await assert.rejects(openCage(request, { ...runtime, network: broken }), { message: "No more sockets" });
  assert.deepEqual(await files.list(`${places.home}/run`), []);
});

test("a cage with net:* shares the host's network", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const port = await listening(t, createServer((socket) => void socket.end("direct\n")));
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; read -u 3 line; echo $line; echo "[$HTTP_PROXY]"`;
  assert.equal((await cagedBash(script, { capabilities: ["net:*"] }, places)).out, "direct\n[]\n");
});
