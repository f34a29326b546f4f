import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { remoteTarget } from "../../../src/core/manifest/remote_rules.ts";
import { boundOf } from "../../../src/core/remote/body_bound.ts";
import { directFetch } from "../../../src/core/remote/direct_fetch.ts";
import { oauthFetch } from "../../../src/core/remote/link_fetch.ts";
import { receiver } from "../../support/receiver.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { AUTHORITY } from "../../support/tls_identity.ts";

const runtime = await detectRuntime();

/** A server that answers each connection with these bytes. */
async function answering(t: { after(run: () => Promise<void>): void }, text: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("N-033 a request carries what it was given, and no fetch() of the runtime sends it: those obey proxy variables", async (t) => {
  const server = await receiver(t);
  const own = globalThis.fetch;
  globalThis.fetch = () => Promise.reject(new Error("not this one"));
  try {
    const body = new URLSearchParams({ a: "b c" });
    const response = await directFetch(runtime)(`${server.url}x?y=1`, {
      method: "POST",
      headers: { "X-A": "ä" },
      body,
    });
    assert.equal(response.status, 200);
  } finally {
    globalThis.fetch = own;
  }
  const { method, path, headers, body } = server.received[0]!;
  assert.deepEqual([method, path.endsWith("x?y=1"), body], ["POST", true, "a=b+c"]);
  assert.match(headers["content-type"]!, /^application\/x-www-form-urlencoded/);
});

test("N-033 TLS is trusted as the operator says, and a server that is not is named with the way out", async (t) => {
  const server = await receiver(t, { isSecure: true });
  const roots = join(await scratchDir(t), "roots.pem");
  await writeFile(roots, AUTHORITY);
  const trusting = { ...runtime, env: (name: string) => name === "SSL_CERT_FILE" ? roots : null };
  const response = await directFetch(trusting)(server.url);
  assert.equal(response.status, 200);
  await assert.rejects(directFetch(runtime)(server.url), (error: HostError) => {
    assert.equal(error.code, "plugin.unreachable");
    assert.match(error.hint ?? "", /does not trust the certificate .* SSL_CERT_FILE/);
    return true;
  });
});

test("N-033 a name that leads to a private network is not followed there; an address that names it is", async (t) => {
  const inside = {
    ...runtime,
    network: { ...runtime.network, resolve: () => Promise.resolve(["10.1.2.3", "127.0.0.1"]) },
  };
  await assert.rejects(directFetch(inside)("https://rebound.example/mcp?key=1"), (error: HostError) => {
    assert.equal(error.code, "mcp.elsewhere_refused");
    assert.doesNotMatch(error.message, /key=1/);
    return true;
  });
  await assert.rejects(directFetch(runtime)("http://rebound.example/"), { code: "mcp.elsewhere_refused" });
  const server = await receiver(t);
  const atPublic = oauthFetch(runtime, remoteTarget("https://a.example/mcp")!);
  await assert.rejects(async () => await atPublic(server.url), { code: "mcp.elsewhere_refused" });
  await assert.rejects(async () => await atPublic("https://192.168.1.1/token"), { code: "mcp.elsewhere_refused" });
  const atHome = oauthFetch(runtime, remoteTarget("http://localhost:1/mcp")!);
  assert.equal((await atHome(server.url)).status, 200);
});

test("N-033 an answer that is no HTTP, ends early, or is compressed unasked fails the request", async (t) => {
  const wrong = [
    "nonsense\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
    "HTTP/1.1 200 OK\r\n",
  ];
  for (const text of wrong) {
    await assert.rejects(directFetch(runtime)(await answering(t, text)), { code: "plugin.unreachable" }, text);
  }
  const short = await directFetch(runtime)(await answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"));
  await assert.rejects(short.text(), /ended early/);
  const early =
    "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
  assert.equal(await (await directFetch(runtime)(await answering(t, early))).text(), "ok");
});

test("N-033 a whole answer is bounded, and of a stream each event", () => {
  const bytes = (count: number, text = "x"): Uint8Array => new TextEncoder().encode(text.repeat(count));
  const MIB = 1024 * 1024;
  const json = boundOf("application/json; charset=utf-8", 10);
  json.take(bytes(4 * MIB));
  assert.throws(() => json.take(bytes(1)), RangeError);
  assert.throws(() => boundOf("text/html", 10).take(bytes(11)), RangeError);
  for (const end of ["\n\n", "\r\n\r\n", "\r\r"]) {
    const stream = boundOf("text/event-stream", 10);
    for (let event = 0; event < 3; event++) stream.take(bytes(1, `data: ${"x".repeat(3 * MIB)}${end}`));
    const line = end.slice(0, end.length / 2);
    assert.throws(() => stream.take(bytes(5 * MIB, `d${line}`)), RangeError, JSON.stringify(end));
  }
});
