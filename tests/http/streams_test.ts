import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { Feed } from "../../src/core/values/feed.ts";
import { feedEvents, sendOverWebSocket } from "../../src/http/event_stream.ts";
import { sseResponse } from "../../src/http/sse.ts";
import { type Ticket, Tickets } from "../../src/http/tickets.ts";
import type { WebSocketPeer, WebSocketUpgrade } from "../../src/core/ports/http.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { failed, listening, type Served, served, TOKEN } from "../support/served.ts";
import { type SseEvent, sseReader } from "../support/sse.ts";
import { until } from "../support/until.ts";

const EVENTS = "/api/v1/events";
const PLUGIN = "/api/v1/plugins/echo";
const STREAM = { headers: { Accept: "text/event-stream" } };
const notify = (s: Served, count: number) => s.ask(`${PLUGIN}/call/echo.notify`, { method: "POST", json: { count } });
const numbers = (events: readonly (SseEvent | null)[]) => events.map((event) => event?.data.params.number);

test("audit events and notifications stream as server-sent events, from now on", async () => {
  await using s = await served();
  await notify(s, 1);
  const stream = sseReader(await s.raw(`${EVENTS}?plugin=echo`, STREAM));
  await notify(s, 1);
  const kinds: string[] = [];
  for (let event = await stream.next(); event; event = await stream.next()) {
    kinds.push(`${event.event} ${event.data.type ?? event.data.method}`);
    if (event.data.type === "plugin.method_returned") break;
  }
  assert.deepEqual(kinds, [
    "audit plugin.method_called",
    "audit plugin.notification",
    "notification echo.happened",
    "audit plugin.method_returned",
  ]);
  await stream.close();
});

test("a reader that comes back with Last-Event-ID gets exactly what it missed, and then what is new", async () => {
  await using s = await served();
  const path = `${EVENTS}?kind=notification`;
  const first = sseReader(await s.raw(path, STREAM));
  await notify(s, 3);
  const seen = [await first.next(), await first.next()];
  await first.close();
  await notify(s, 2);
  const again = { headers: { Accept: "text/event-stream", "Last-Event-ID": seen[1]!.id } };
  const second = sseReader(await s.raw(path, again));
  await notify(s, 1);
  const rest = [await second.next(), await second.next(), await second.next(), await second.next()];
  assert.deepEqual(numbers([...seen, ...rest]), [0, 1, 2, 0, 1, 0]);
  assert.equal(new Set([...seen, ...rest].map((event) => event!.id)).size, 6);
  await second.close();
});

test("a reader that names an event of another host gets a gap first", async () => {
  await using s = await served();
  await notify(s, 1);
  const headers = { Accept: "text/event-stream", "Last-Event-ID": "evt_other-7" };
  const stream = sseReader(await s.raw(`${EVENTS}?kind=notification`, { headers }));
  const gap = await stream.next();
  assert.deepEqual([gap?.event, gap?.data], ["gap", {}]);
  assert.deepEqual(numbers([await stream.next()]), [0]);
  await stream.close();
});

test("GET /api/v1/events as JSON returns the kept events, and the id to stream on from", async () => {
  await using s = await served();
  await notify(s, 2);
  const { body } = await s.ask(`${EVENTS}?kind=notification`);
  assert.deepEqual(body.entries.map(({ data }: never) => (data as { method: string }).method), [
    "echo.happened",
    "echo.happened",
  ]);
  assert.equal(body.missed, false);
  await notify(s, 1);
  const rest = await s.ask(`${EVENTS}?kind=notification&last_event_id=${body.last_event_id}`);
  assert.equal(rest.body.entries.length, 1);
  assert.deepEqual(failed(await s.ask(`${EVENTS}?last_event_id=`)), [400, "http.input_invalid"]);
});

test("a quiet stream sends a comment every 15 seconds", async () => {
  await using s = await served({});
  const stream = sseReader(await s.raw(EVENTS, STREAM));
  s.h.clock.advance(15_000);
  assert.equal(await stream.comment(), ": alive");
  s.h.clock.advance(15_000);
  assert.equal(await stream.comment(), ": alive");
  await stream.close();
  assert.equal(s.h.clock.isDueIn(15_000), false);
});

test("streams end when the app closes", async () => {
  await using s = await served({});
  const stream = sseReader(await s.raw(EVENTS, STREAM));
  s.app.close();
  assert.equal(await stream.next(), null);
});

test("a reader that does not read delays nothing, and gets a gap for the entries it missed", async () => {
  const feed = new Feed({ name: "f", maxEntries: 10, maxLength: 10_000 });
  const source = feedEvents({ feed, from: { seq: 0, missed: false }, wants: () => true });
  const response = sseResponse(source, createFakeClock());
  for (let at = 0; at < 5000; at++) feed.push("audit", "echo", { at });
  feed.close();
  const stream = sseReader(response);
  const events: SseEvent[] = [];
  for (let event = await stream.next(); event; event = await stream.next()) events.push(event);
  // The stream took a few before it was full; of the rest it gets the newest ten, after a word on those between.
  const gap = events.findIndex(({ event }) => event === "gap");
  assert.ok(gap >= 0 && gap < 50, `${gap}`);
  assert.deepEqual(events.slice(gap + 1).map(({ data }) => data.at), Array.from({ length: 10 }, (_, at) => 4990 + at));
});

test("logs follow: the newest lines first, then what is written", async () => {
  await using s = await served();
  const log = (text: string) => s.ask(`${PLUGIN}/call/echo.log`, { method: "POST", json: { text } });
  await log("one\ntwo\n");
  await s.h.logged(2);
  const stream = sseReader(await s.raw(`${PLUGIN}/logs?tail=1`, STREAM));
  assert.equal((await stream.next())?.data.line, "two");
  await log("three\n");
  const { event, data } = (await stream.next())!;
  assert.deepEqual([event, data.line, data.instance], ["log", "three", "echo@music/primary"]);
  await stream.close();
});

test("a client that goes away over the network leaves nobody listening", async () => {
  await using s = await served({});
  await using server = await listening(s);
  const controller = new AbortController();
  const before = s.h.clock.waiting;
  const response = await fetch(`http://127.0.0.1:${server.port}${EVENTS}`, {
    headers: { Accept: "text/event-stream", Authorization: `Bearer ${TOKEN}` },
    signal: controller.signal,
  });
  await response.body!.getReader().read();
  assert.equal(s.h.clock.waiting, before + 1);
  controller.abort();
  await until(() => s.h.clock.waiting <= before, "the end of its beat", "turn");
});

test("K-016 notifications reach a WebSocket that is subscribed to the plugin", async () => {
  await using s = await served();
  await using server = await listening(s);
  const protocols = ["kaged.v1", `kaged.token.${TOKEN}`];
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${EVENTS}?kind=notification&plugin=echo`, protocols);
  const messages: { id: string; kind: string; plugin: string; data: { method: string; params: unknown } }[] = [];
  const two = new Promise<void>((resolve) => {
    socket.onmessage = ({ data }) => void (messages.push(JSON.parse(data)) === 2 && resolve());
  });
  await new Promise((resolve) => socket.onopen = resolve);
  assert.equal(socket.protocol, "kaged.v1");
  await notify(s, 2);
  await two;
  assert.deepEqual(messages.map(({ kind, plugin, data }) => [kind, plugin, data.method, data.params]), [
    ["notification", "echo", "echo.happened", { number: 0 }],
    ["notification", "echo", "echo.happened", { number: 1 }],
  ]);
  socket.close();
  const again = new WebSocket(
    `ws://127.0.0.1:${server.port}${EVENTS}?kind=notification&last_event_id=${messages[0]!.id}`,
    protocols,
  );
  const replayed = await new Promise<string>((resolve) => again.onmessage = ({ data }) => resolve(data));
  assert.deepEqual(JSON.parse(replayed).data.params, { number: 1 });
  const closed = new Promise<CloseEvent>((resolve) => again.onclose = resolve);
  s.app.close();
  assert.equal((await closed).code, 1001);
});

test("a WebSocket without the token, or from a page of another site, is refused", async () => {
  await using s = await served({});
  const upgrade = {
    Upgrade: "websocket",
    Connection: "keep-alive, Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    Authorization: "",
  };
  const ask = (headers: Record<string, string>) => s.ask(EVENTS, { headers: { ...upgrade, ...headers } });
  assert.deepEqual(failed(await ask({})), [401, "http.unauthorized"]);
  assert.deepEqual(failed(await ask({ "Sec-WebSocket-Protocol": "kaged.v1, kaged.token.wrong" })), [
    401,
    "http.unauthorized",
  ]);
  const protocol = `kaged.v1, kaged.token.${TOKEN}`;
  assert.deepEqual(failed(await ask({ "Sec-WebSocket-Protocol": protocol, Origin: "http://evil.example" })), [
    403,
    "http.origin_refused",
  ]);
  // The subprotocol speaks for a WebSocket and for nothing else.
  const plain = await s.ask(EVENTS, { headers: { Authorization: "", "Sec-WebSocket-Protocol": protocol } });
  assert.deepEqual(failed(plain), [401, "http.unauthorized"]);
});

test("a request for a WebSocket that lacks a part of the handshake is a plain request", async () => {
  await using s = await served({});
  await using server = await listening(s);
  const whole = {
    Upgrade: "websocket",
    Connection: "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x",
  };
  for (const headers of [whole, { Upgrade: "websocket" }, { ...whole, "Sec-WebSocket-Version": "12" }]) {
    assert.equal((await s.ask(EVENTS, { headers })).status, 200);
    const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
      const all = { ...headers, Authorization: `Bearer ${TOKEN}` };
      const sent = request({ host: "127.0.0.1", port: server.port, path: EVENTS, headers: all, agent: false });
      sent.on("response", (answer) => resolve({ status: answer.resume().statusCode })).on("error", reject).end();
    });
    assert.equal(status, 200);
  }
});

test("a WebSocket whose client leaves too much unread is closed, to connect again with its id", async () => {
  const feed = new Feed({ name: "f", maxEntries: 100, maxLength: 100_000_000 });
  let unread = 0;
  const closes: [number, string][] = [];
  const peer: WebSocketPeer = {
    send: (text) => void (unread += text.length),
    bufferedBytes: () => unread,
    close: (code, reason) => void closes.push([code, reason]),
  };
  let upgraded!: WebSocketUpgrade;
  const subscription = { feed, from: { seq: 0, missed: false }, wants: () => true };
  sendOverWebSocket(subscription, { signal: null, upgrade: (upgrade) => void (upgraded = upgrade) }, true);
  upgraded.open(peer);
  for (let at = 0; at < 50; at++) feed.push("audit", "echo", "x".repeat(100_000));
  for (let turn = 0; turn < 100 && closes.length === 0; turn++) await Promise.resolve();
  assert.deepEqual(closes, [[1013, "Too much is unread: connect again with last_event_id"]]);
  assert.ok(unread < 1_300_000, `${unread}`);
  upgraded.closed();
});

test("a very long notification is sent without its params", async () => {
  await using s = await served({ primary: { big: {} }, fixtures: { "@test/big": "echo" } });
  const { host } = s.h;
  let send: (notification: { instance: string; method: string; params: unknown }) => void = () => {};
  const { createApp } = await import("../../src/http/create_app.ts");
  const app = createApp({
    host: {
      ...host,
      onNotification: (listener) => {
        send = listener;
        return () => {};
      },
    },
    token: null,
  });
  send({ instance: "echo@music/primary", method: "echo.happened", params: { text: "x".repeat(300_000) } });
  const response = await app.fetch(new Request("http://kaged/api/v1/events"), { signal: null, upgrade() {} });
  const { entries } = await response.json();
  assert.deepEqual([entries.at(-1).data.params, entries.at(-1).data.cut, entries.at(-1).plugin], [null, true, "echo"]);
  app.close();
});

test("T-009 a ticket opens one path for a minute, so that a page can follow a stream without a header", async () => {
  await using s = await served();
  const ask = (path: string, init: RequestInit = {}) =>
    s.ask(path, { ...init, headers: { Authorization: "", ...init.headers } });
  const { body: { ticket, path, expiresAt } } = await s.ask("/api/v1/tickets", {
    method: "POST",
    json: { path: EVENTS },
  });
  assert.match(ticket, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual([path, Date.parse(expiresAt) - s.h.clock.now()], [EVENTS, 60_000]);

  const address = `${EVENTS}?kind=notification&ticket=${ticket}`;
  const stream = sseReader(await s.raw(address, { headers: { Authorization: "", Accept: "text/event-stream" } }));
  await notify(s, 1);
  assert.deepEqual(numbers([await stream.next()]), [0]);
  assert.equal((await ask(address)).status, 200, "an EventSource comes back with the same address");

  const refused = [401, "http.unauthorized"];
  assert.deepEqual(failed(await ask(`${EVENTS}?ticket=${ticket.slice(1)}x`)), refused);
  assert.deepEqual(failed(await ask(`${EVENTS}?ticket=`)), refused);
  assert.deepEqual(failed(await ask(`/api/v1/plugins?ticket=${ticket}`)), refused, "another path");
  assert.deepEqual(failed(await ask(`${EVENTS}?ticket=${ticket}`, { method: "POST" })), refused, "another method");
  assert.deepEqual(failed(await ask("/api/v1/tickets", { method: "POST", body: "{}" })), refused);
  const foreign = { headers: { Origin: "http://evil.example" } };
  assert.deepEqual(failed(await ask(address, foreign)), [403, "http.origin_refused"]);
  for (const wrong of ["events", "/a?b", "/a b", ""]) {
    const answer = await s.ask("/api/v1/tickets", { method: "POST", json: { path: wrong } });
    assert.deepEqual(failed(answer), [400, "http.input_invalid"]);
  }
  await stream.close();
});

test("a ticket ends after a minute, and the oldest of more than a thousand goes", () => {
  const clock = createFakeClock();
  const tickets = new Tickets(clock);
  const opens = ({ ticket, path }: Ticket) =>
    tickets.admitted(new Request(`http://localhost${path}?a=b&ticket=${ticket}`));
  const first = tickets.issue(EVENTS);
  assert.equal(opens(first)?.url, `http://localhost${EVENTS}?a=b`);
  clock.advance(59_999);
  assert.ok(opens(first));
  clock.advance(1);
  assert.equal(opens(first), null);
  const many = Array.from({ length: 1001 }, () => tickets.issue(EVENTS));
  assert.deepEqual([opens(many[0]!), opens(many[1]!) !== null, opens(many[1000]!) !== null], [null, true, true]);
});
