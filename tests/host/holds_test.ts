import assert from "node:assert/strict";
import type { Socket as NodeSocket } from "node:net";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Network, Socket } from "../../src/core/ports/ports.ts";
import { upstream } from "../support/gate.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { turn, until } from "../support/until.ts";

const IDLE_MS = 1_000;
const onDemand = { start: "on_demand", idle_stop_sec: IDLE_MS / 1000 };
/** No ping falls between two steps of the clock. */
const CALM = { health_interval_sec: 300 };
const METHODS = { methods: ["fixture.connect", "fixture.ask"] };
const states = ({ host }: Hosted): string[] => host.plugins().map(({ state }) => state);

/** Moves the clock past the longest time that a process lives after its last activity, and lets it be told so. */
async function idleTime(h: Hosted): Promise<void> {
  h.clock.advance(IDLE_MS * 1.25);
  await turn();
}

/** The process has been put to rest by now, or is at the next look. */
async function assertRests(h: Hosted): Promise<void> {
  await idleTime(h);
  assert.deepEqual(states(h), ["resting"]);
  await h.next("plugin.stopped");
}

test("N-041 a process that has a connection open through the gatekeeper is kept, and rests once that has closed", async (t) => {
  const { network } = await detectRuntime();
  const open: NodeSocket[] = [];
  const server = await upstream(t, (socket) => {
    open.push(socket);
    socket.write("hello");
  });
  let ended = 0;
  const watched = (socket: Socket): Socket => ({
    read: () => socket.read(),
    write: (bytes) => socket.write(bytes),
    end: () => socket.end(),
    destroy: () => (ended++, socket.destroy()),
  });
  const own: Network = {
    ...network,
    listen: (path, serve) => network.listen(path, (socket) => serve(watched(socket))),
    resolve: () => Promise.resolve(["93.184.216.34"]),
    connect: (_address, _port, signal) => network.connect("127.0.0.1", server.port, signal),
  };
  await using h = await hosted({
    primary: { works: onDemand },
    fixtures: {
      "@test/works": {
        fixture: "works_on",
        manifest: { ...CALM, ...METHODS, capabilities: ["net:api.example.com:443"] },
      },
    },
    ports: { network: own },
  });
  await h.host.callMethod("works-on", "fixture.connect", { target: "api.example.com:443" });
  assert.deepEqual(h.all("plugin.net_opened").map(({ data }) => data.host), ["api.example.com"]);
  for (let times = 0; times < 4; times++) await idleTime(h);
  assert.deepEqual([states(h), ended], [["running"], 0]);
  open[0]!.end();
  await until(() => ended > 0, "the end of the connection at the gatekeeper");
  await turn();
  await assertRests(h);
});

for (const era of ["legacy", "modern"]) {
  test(`N-041 an MCP server is kept while a task of it runs, also between two looks at the task, and rests after its end, ${era}`, async () => {
    await using h = await hosted({
      primary: { tasks: onDemand },
      fixtures: { "@test/tasks": { fixture: "mcp_tasks", manifest: { ...CALM, env: { ERA: era } } } },
    });
    h.host.openSession({ id: "ses_1" });
    const at = { agent: "primary", session: "ses_1" };
    const found = h.host.callTool("mcp-tasks.research", {}, at);
    await until(() => h.clock.isDueIn(250), "the wait before the next look at the task");
    await idleTime(h);
    assert.deepEqual(states(h), ["running"]);
    await h.host.callTool("mcp-tasks.step", { message: "Done", status: "completed" }, at);
    await h.pass(250);
    assert.deepEqual(await found, { content: [{ type: "text", text: "Found it" }] });
    await assertRests(h);
  });
}

test("N-041 a process whose request for storage is open is kept, and rests once that has an answer", async () => {
  await using h = await hosted({
    primary: { works: onDemand },
    fixtures: {
      "@test/works": { fixture: "works_on", manifest: { ...CALM, ...METHODS, capabilities: ["kaged:storage:read"] } },
    },
  });
  const sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";
  const given = { sql, params: [] };
  await h.host.callMethod("works-on", "fixture.ask", { method: "kaged.storage.query", given });
  await until(() => h.clock.isDueIn(5_000), "the deadline of a statement that runs");
  for (let times = 0; times < 3; times++) await idleTime(h);
  assert.deepEqual([states(h), h.logs], [["running"], []]);
  await idleTime(h); // Now the statement has run for as long as it may.
  await h.logged(1);
  assert.match(h.logs[0]!.line, /stopped after 5000 ms/);
  await assertRests(h);
});
