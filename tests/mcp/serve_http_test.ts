import assert from "node:assert/strict";
import { test } from "node:test";
import { type McpApp, mcpApp, type McpAppOptions } from "../../src/mcp/serve_http.ts";
import type { HttpMcpServer, ServerEvent } from "../../src/mcp/serve_http_sdk.ts";
import { createFakeClock, type FakeClock } from "../support/fake_clock.ts";
import { turn, until } from "../support/until.ts";

// Loaded this way because not every runtime can read the types of the SDK.
// deno-lint-ignore no-explicit-any
const { Server } = await import("@modelcontextprotocol/server") as any;

const TOKEN = "t".repeat(40);
const URL_ = "http://127.0.0.1:4718/mcp";

/** The host's side, as a test sees it: its sessions, the calls that wait, the resources that are watched. */
interface Seats {
  readonly app: McpApp;
  readonly clock: FakeClock;
  /** Names of sessions of the host that are open, which count up. */
  readonly open: string[];
  /** Calls of the tool `wait`, until the test answers them; the signal aborts when the call is cancelled. */
  readonly calls: { answer(text: string): void; readonly signal: AbortSignal }[];
  readonly watched: Set<string>;
  change(event: ServerEvent): void;
  ask(json: unknown, init?: { method?: string; headers?: Record<string, string> }): Promise<Response>;
}

async function seats(options: Partial<McpAppOptions> = {}): Promise<Seats> {
  const clock = createFakeClock();
  const open: string[] = [];
  const calls: Seats["calls"] = [];
  const watched: Seats["watched"] = new Set();
  const listeners = new Set<(event: ServerEvent) => void>();
  let opened = 0;
  const app = await mcpApp({
    clock,
    guard: { token: TOKEN, allowedHosts: ["kaged.example"] },
    open() {
      const name = `session ${++opened}`;
      open.push(name);
      return Promise.resolve({
        server: () => server(calls),
        inputSchema: () => ({ type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }),
        on(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        watch(uris) {
          for (const uri of uris) watched.add(uri);
          return () => uris.forEach((uri) => watched.delete(uri));
        },
        close: () => Promise.resolve(void open.splice(open.indexOf(name), 1)),
      });
    },
    ...options,
  });
  return {
    app,
    clock,
    open,
    calls,
    watched,
    change: (event) => {
      for (const listener of listeners) listener(event);
    },
    async ask(json, { method = "POST", headers = {} } = {}) {
      const all = new Headers({
        host: "127.0.0.1:4718",
        authorization: `Bearer ${TOKEN}`,
        accept: "application/json, text/event-stream",
      });
      if (json !== undefined) all.set("content-type", "application/json");
      for (const [name, value] of Object.entries(headers)) {
        if (value === "") all.delete(name);
        else all.set(name, value);
      }
      const body = json === undefined ? {} : { body: typeof json === "string" ? json : JSON.stringify(json) };
      const upgrade = (): never => assert.fail("no WebSocket");
      return await app.fetch(new Request(URL_, { method, headers: all, ...body }), { upgrade, signal: null });
    },
  };
}

/** A server with one tool, whose calls the test answers. */
function server(calls: Seats["calls"]): HttpMcpServer {
  const made = new Server({ name: "test", version: "1.0.0" }, {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
  });
  made.setRequestHandler("tools/list", () => ({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }));
  made.setRequestHandler("tools/call", (_: unknown, { mcpReq: { signal } }: { mcpReq: { signal: AbortSignal } }) => {
    const { promise, resolve } = Promise.withResolvers<object>();
    calls.push({ answer: (text) => resolve({ content: [{ type: "text", text }] }), signal });
    return promise;
  });
  return made as HttpMcpServer;
}

const CLIENT = { name: "test", version: "1.0.0" };
const hello = (protocolVersion = "2025-11-25") => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: CLIENT },
});
const call = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "wait" } });

/** A request of revision 2026-07-28, and the headers that go with it. */
function modern(method: string, params: object = {}): [object, { headers: Record<string, string> }] {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const named = "name" in params ? { "mcp-name": String(params.name) } : {};
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...named };
  return [{ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }, { headers }];
}

/** Shakes hands and returns the headers of the session. */
async function handshake(s: Seats): Promise<Record<string, string>> {
  const response = await s.ask(hello());
  await response.text();
  return { "mcp-session-id": response.headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-11-25" };
}

interface Events {
  /** Ids of the events so far. */
  readonly ids: string[];
  /** Messages of the events so far. */
  // deno-lint-ignore no-explicit-any
  readonly messages: any[];
  ended(): boolean;
  leave(): Promise<void>;
}

/** Reads a stream of events for as long as it lasts. */
function eventsOf(response: Response): Events {
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const [ids, messages]: [string[], unknown[]] = [[], []];
  const reader = response.body!.getReader();
  let text = "";
  let isEnded = false;
  void (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += new TextDecoder().decode(read.value);
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const line of blocks.flatMap((block) => block.split("\n"))) {
        if (line.startsWith("id: ")) ids.push(line.slice(4));
        if (line.startsWith("data: ") && line.length > 6) messages.push(JSON.parse(line.slice(6)));
      }
    }
    isEnded = true;
  })();
  return { ids, messages, ended: () => isEnded, leave: () => reader.cancel() };
}

test("N-029 a request without the token is answered with 401 and a challenge, and reaches no session", async () => {
  const s = await seats();
  const none = await s.ask(hello(), { headers: { authorization: "" } });
  assert.deepEqual([none.status, none.headers.get("www-authenticate")], [401, 'Bearer realm="kaged"']);
  const wrong = await s.ask(hello(), { headers: { authorization: `Bearer ${TOKEN}x` } });
  const challenge = 'Bearer realm="kaged", error="invalid_token"';
  assert.deepEqual([wrong.status, wrong.headers.get("www-authenticate")], [401, challenge]);
  assert.equal((await wrong.json()).code, "http.unauthorized");
  assert.deepEqual(s.open, []);
});

test("N-029 pages of other sites and rebound names are refused, whatever they carry", async () => {
  const s = await seats();
  for (
    const [headers, code] of [
      [{ host: "evil.example" }, "http.host_refused"],
      [{ origin: "http://evil.example" }, "http.origin_refused"],
      [{ origin: "null" }, "http.origin_refused"],
      [{ "sec-fetch-site": "cross-site" }, "http.origin_refused"],
    ] as [Record<string, string>, string][]
  ) {
    const response = await s.ask(hello(), { headers });
    assert.deepEqual([response.status, (await response.json()).code], [403, code]);
  }
  for (const host of ["localhost:4718", "[::1]:4718", "kaged.example"]) {
    const response = await s.ask(hello(), { headers: { host, origin: `http://${host}` } });
    assert.equal(response.status, 200, host);
    assert.equal(response.headers.get("access-control-allow-origin"), null);
    await response.text();
  }
});

test("N-029 a body that is no message is answered with the protocol's error and what to do", async () => {
  const s = await seats();
  const failed = async (response: Response) => {
    const { jsonrpc, id, error } = await response.json();
    assert.deepEqual([jsonrpc, id], ["2.0", null]);
    return [response.status, error.code, error.data?.code];
  };
  assert.deepEqual(await failed(await s.ask("{")), [400, -32700, "http.body_invalid"]);
  assert.deepEqual(await failed(await s.ask(hello(), { headers: { "content-type": "text/plain" } })), [
    415,
    -32602,
    "http.media_type",
  ]);
  const length = { "content-length": String(5 * 1024 * 1024) };
  assert.deepEqual(await failed(await s.ask(hello(), { headers: length })), [413, -32602, "http.body_too_large"]);
  assert.deepEqual(await failed(await s.ask([])), [400, -32600, undefined]);
  const put = await s.ask(hello(), { method: "PUT" });
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, POST, DELETE"]);
});

test("N-029 a session lasts from the handshake to DELETE, and its session of the host with it", async () => {
  const s = await seats();
  assert.equal((await s.ask(call(1))).status, 400, "no session");
  assert.equal((await s.ask(undefined, { method: "GET" })).status, 400, "no session");
  const unknown = { "mcp-session-id": "guessed" };
  assert.equal((await s.ask(call(1), { headers: unknown })).status, 404);
  const [one, two] = [await handshake(s), await handshake(s)];
  assert.notEqual(one["mcp-session-id"], two["mcp-session-id"]);
  assert.deepEqual(s.open, ["session 1", "session 2"]);
  const list = await s.ask({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { headers: one });
  const events = eventsOf(list);
  await until(events.ended, "the end of the answer", "turn");
  assert.equal(events.messages[0].result.tools[0].name, "wait");
  assert.equal((await s.ask(undefined, { method: "DELETE", headers: one })).status, 200);
  assert.deepEqual(s.open, ["session 2"]);
  assert.equal((await s.ask(call(2), { headers: one })).status, 404);
  await s.app.close();
  assert.deepEqual(s.open, []);
});

test("N-029 a refused handshake leaves no session behind", async () => {
  const s = await seats();
  const refused = await s.ask(hello(), { headers: { accept: "application/json" } });
  assert.equal(refused.status, 406);
  await refused.text();
  assert.deepEqual(s.open, []);
});

test("N-029 a session that nobody uses ends after half an hour; an open stream is a use", async () => {
  const s = await seats();
  const headers = await handshake(s);
  const stream = eventsOf(await s.ask(undefined, { method: "GET", headers }));
  s.clock.advance(60 * 60_000);
  assert.deepEqual(s.open, ["session 1"]);
  await stream.leave();
  s.clock.advance(30 * 60_000 - 1);
  assert.deepEqual(s.open, ["session 1"]);
  s.clock.advance(1);
  await until(() => s.open.length === 0, "the end of the session", "turn");
  assert.equal((await s.ask(call(1), { headers })).status, 404);
});

test("N-029 where all sessions are taken, the one that is out of use for longest ends; none that is in use does", async () => {
  const s = await seats({ maxSessions: 2 });
  const one = await handshake(s);
  s.clock.advance(1);
  const two = await handshake(s);
  s.clock.advance(1);
  const first = eventsOf(await s.ask(undefined, { method: "GET", headers: one }));
  const three = await handshake(s);
  assert.equal((await s.ask(call(1), { headers: two })).status, 404);
  const last = eventsOf(await s.ask(undefined, { method: "GET", headers: three }));
  const full = await s.ask(hello());
  assert.deepEqual([full.status, (await full.json()).error.data.code], [503, "mcp.sessions_full"]);
  assert.deepEqual(s.open, ["session 1", "session 3"]);
  await Promise.all([first.leave(), last.leave()]);
});

test("N-029 clients that shake hands at the same moment get no more sessions than there are", async () => {
  const s = await seats({ maxSessions: 2 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => s.ask(hello())));
  assert.deepEqual(answers.map(({ status }) => status).filter((status) => status === 503).length, 8);
  assert.equal(s.open.length, 2);
  await Promise.all(answers.map(({ body }) => body?.cancel()));
});

test("N-029 a client that lost its connection in a call comes back for the result", async () => {
  const s = await seats();
  const headers = await handshake(s);
  const lost = eventsOf(await s.ask(call(1), { headers }));
  await until(() => s.calls.length === 1 && lost.ids.length === 1, "the call", "turn");
  await lost.leave();
  assert.equal(s.calls[0]!.signal.aborted, false, "a lost connection is no cancellation");
  s.calls[0]!.answer("at last");
  await turn();
  const again = { ...headers, "last-event-id": lost.ids[0]! };
  const resumed = eventsOf(await s.ask(undefined, { method: "GET", headers: again }));
  await until(resumed.ended, "the end of the answer", "turn");
  assert.equal(resumed.messages[0].result.content[0].text, "at last");
  const forged = { ...headers, "last-event-id": "nonsense" };
  assert.equal((await s.ask(undefined, { method: "GET", headers: forged })).status, 400);
});

test("N-029 requests without a handshake share one session of the host, which ends when it is out of use", async () => {
  const s = await seats();
  const list = await s.ask(...modern("tools/list"));
  const { result } = await list.json();
  assert.deepEqual([result.resultType, result.tools[0].name], ["complete", "wait"]);
  await (await s.ask(...modern("tools/list"))).text();
  assert.deepEqual(s.open, ["session 1"]);
  s.clock.advance(30 * 60_000);
  await until(() => s.open.length === 0, "the end of the session", "turn");
  await (await s.ask(...modern("server/discover"))).text();
  assert.deepEqual(s.open, ["session 2"]);
  await s.app.close();
  assert.deepEqual(s.open, []);
});

test("N-029 a long call without a handshake is answered by a stream, and ends when its client goes", async () => {
  const s = await seats();
  const begun = async (): Promise<Events> => {
    const before = s.calls.length;
    const response = s.ask(...modern("tools/call", { name: "wait" }));
    await until(() => s.calls.length > before, "the call", "turn");
    s.clock.advance(5_000);
    return eventsOf(await response);
  };
  const one = await begun();
  s.clock.advance(15_000);
  s.calls[0]!.answer("later");
  await until(one.ended, "the end of the answer", "turn");
  assert.equal(one.messages[0].result.content[0].text, "later");
  const two = await begun();
  await two.leave();
  await until(() => s.calls[1]!.signal.aborted, "the cancellation", "turn");
});

test("N-029 an argument that its schema wants in a header as well is refused where the two differ", async () => {
  const s = await seats();
  const ask = (region: string) => {
    const [json, { headers }] = modern("tools/call", { name: "wait", arguments: { region: "north" } });
    return s.ask(json, { headers: { ...headers, "mcp-param-region": region } });
  };
  const refused = await ask("south");
  assert.deepEqual([refused.status, (await refused.json()).error.code], [400, -32020]);
  const taken = ask("north");
  await until(() => s.calls.length === 1, "the call", "turn");
  s.calls[0]!.answer("done");
  assert.equal((await (await taken).json()).result.content[0].text, "done");
});

test("N-029 subscriptions/listen hears changed lists and the resources it names, until its client goes", async () => {
  const s = await seats();
  const notifications = { toolsListChanged: true, resourceSubscriptions: ["test://one", "test://one", "test://two"] };
  const stream = eventsOf(await s.ask(...modern("subscriptions/listen", { notifications })));
  assert.deepEqual([...s.watched], ["test://one", "test://two"]);
  s.change({ kind: "tools_list_changed" });
  s.change({ kind: "prompts_list_changed" });
  s.change({ kind: "resource_updated", uri: "test://two" });
  s.change({ kind: "resource_updated", uri: "test://three" });
  await until(() => stream.messages.length === 3, "three messages", "turn");
  assert.deepEqual(stream.messages.map(({ method, params }) => [method, params.uri]), [
    ["notifications/subscriptions/acknowledged", undefined],
    ["notifications/tools/list_changed", undefined],
    ["notifications/resources/updated", "test://two"],
  ]);
  await stream.leave();
  await until(() => s.watched.size === 0, "the end of the watch", "turn");
});
