/**
 * Requirements that held in parts of the code, shown through the surface that people use: the host, its HTTP API, the
 * command and the entry `./hooks`.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { errorKnowledge, fileNotes } from "@kaged/plugin-host/hooks";
import { detectRuntime } from "../../src/adapters/default.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { served } from "../support/served.ts";
import { installedHome } from "./support.ts";

/** A plugin that answers `code.give` with the error it is asked for, and `code.context` with the context it was given. */
const GIVES_CODES = `import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const methods = ["code.give", "code.context"];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    send({ id, result: { name: "echo", version: "1.0.0", api_version: 1, methods, notifications: [], capabilities_used: [] } });
  } else if (method === "shutdown") process.exit(0);
  else if (method === "code.give") send({ id, error: { code: params.code, message: "As asked", data: { at: params.code } } });
  else if (method === "code.context") send({ id, result: params._context });
  else if (id !== undefined) send({ id, result: { status: "ok" } });
});
`;
const GIVER = {
  primary: { echo: {} },
  fixtures: {
    "@test/echo": {
      fixture: "echo",
      manifest: {
        version: "1.0.0",
        command: ["js", "./main.mjs"] as [string, string],
        methods: ["code.give", "code.context"],
        notifications: [],
        tools: [],
      },
      files: { "main.mjs": GIVES_CODES },
    },
  },
};

test("K-017 every number of the table reaches the caller of a plugin, over HTTP and in the program", async () => {
  await using s = await served(GIVER);
  for (const code of [-32000, -32001, -32002, -32003, -32004, -32005, -32006, -32050, -32099, -32602, -32603]) {
    await assert.rejects(s.h.host.callMethod("echo", "code.give", { code }), { rpc: code, message: /As asked/ });
    const { status, body } = await s.ask("/api/v1/plugins/echo/call/code.give", { method: "POST", json: { code } });
    assert.ok(status >= 400, `${status}`);
    assert.equal(body.rpc, code);
  }
  await assert.rejects(s.h.host.callMethod("echo", "code.missing"), { rpc: -32601 });
});

test("K-015 K-013 a context is whole or all null, whichever way a call comes", async () => {
  await using s = await served(GIVER);
  s.h.host.openSession({ id: "ses_1" });
  const path = "/api/v1/plugins/echo/call/code.context";
  const { body: { result: daemon } } = await s.ask(path);
  const { body: { result: run } } = await s.ask(`${path}?session=ses_1`);
  const parts = (
    { project_id, agent_path, session_id }: Record<string, unknown>,
  ) => [project_id, agent_path, session_id];
  assert.deepEqual(parts(daemon), [null, null, null]);
  assert.deepEqual(parts(run), ["music", "primary", "ses_1"]);
  for (const { request_id } of [daemon, run]) assert.match(request_id, /^req_/);
  // An agent alone chooses the instance; the call is still the host's own.
  assert.deepEqual(parts((await s.ask(`${path}?agent=primary`)).body.result), [null, null, null]);
});

test("K-013 a hanging plugin costs its caller -32603, is ended and started again", async () => {
  await using h = await hosted({ primary: { hangs: {} }, fixtures: { "@test/hangs": "freezes_on_call" } });
  const call = h.host.callMethod("freezes-on-call", "fixture.call", {}, { timeoutMs: 1_000 });
  const failed = assert.rejects(call, { rpc: -32603, http: 502 });
  await h.pass(1_000);
  await failed;
  await h.pass(5_000); // The ping that follows is not answered.
  await h.next("plugin.health_fail");
  await h.pass(2_000); // SIGTERM does not reach a frozen handler everywhere.
  await h.next("plugin.crashed");
  await h.pass(1_000);
  await h.next("plugin.initialized");
  await h.next("plugin.initialized");
});

test("K-042 K-046 a manifest that became invalid disables its plugin for the run, is said everywhere, and stops nobody", async (t) => {
  const { place, kaged } = await installedHome(t, "echo");
  await writeFile(join(place, "kaged-plugin.yaml"), "name: echo\nkaged_api: 7\n");
  const listed = await kaged("plugin", "list");
  assert.match(listed.stdout, /echo.*disabled \(invalid manifest\)/);
  await using s = await served({
    primary: { good: {}, bad: {} },
    fixtures: {
      "@test/good": { fixture: "echo", manifest: { name: "good" } },
      "@test/bad": { fixture: "echo", manifest: { name: "bad", kaged_api: 7 as 1 } },
    },
  });
  const { body: { plugins } } = await s.ask("/api/v1/plugins");
  const status = Object.fromEntries(plugins.map((one: { plugin: string; state: string }) => [one.plugin, one.state]));
  assert.equal(status["good"], "running");
  assert.equal(status["bad"], "refused", JSON.stringify(status));
  assert.equal((await s.ask("/api/v1/plugins/good/call/echo.config")).status, 200);
});

const runtime = await detectRuntime();

test("B-012 B-010 in a host, a failed tool is known before its next call, and a broken handler stops neither", async (t) => {
  const notes = fileNotes({ dir: await scratchDir(t), files: runtime.files, ids: runtime.ids });
  const knowledge = errorKnowledge({ notes });
  await using h = await hosted({ primary: { toolbox: {} }, fixtures: { "@test/toolbox": "toolbox" } });
  h.host.hooks.add(knowledge.registrations);
  h.host.hooks.register("PreToolUse", () => {
    throw new Error("broken");
  });
  const session = h.host.openSession();
  const context = [] as string[];
  const fails = async () => {
    const error = await session.callTool("toolbox.fail", {}, { onContext: (texts) => void context.push(...texts) })
      .then(() => assert.fail("It did not fail"), (thrown: Error) => thrown);
    return error.message;
  };
  const message = await fails();
  assert.equal(context.length, 0);
  await knowledge.learn({ tool: "toolbox.fail", error: message, fix: "Ask again later" });
  await fails();
  assert.ok(context.some((text) => text.includes("Ask again later")), JSON.stringify(context));
});
