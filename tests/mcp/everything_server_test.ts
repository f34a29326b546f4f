import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { McpEvent } from "../../src/core/mcp/peer.ts";
import { bundledServer } from "../support/bundled_server.ts";
import { supervised } from "../support/supervised.ts";
import { until } from "../support/until.ts";

const EVERYTHING: string = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/", import.meta.url),
);

/** A result of a tool as far as these tests look at it. */
interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
}

test("N-030 every part of server-everything is there through the cage", async (t) => {
  const dir = await bundledServer(t, `${EVERYTHING}dist/index.js`, { name: "everything" });
  await cp(`${EVERYTHING}dist/docs`, join(dir, "docs"), { recursive: true });
  const events: McpEvent[] = [];
  const asked: string[] = [];
  await using s = await supervised({
    runtime: await detectRuntime(), // Its own timers decide how long its task takes.
    onMcpEvent: (_, event) => events.push(event),
    mcpOffers: ["elicitation", "sampling", "roots"],
    onMcpRequest: (_, { method }) => {
      asked.push(method);
      if (method === "roots/list") return Promise.resolve({ roots: [{ uri: "file:///project", name: "project" }] });
      if (method === "elicitation/create") return Promise.resolve({ action: "decline" });
      const content = { type: "text", text: "A sampled answer" };
      return Promise.resolve({ role: "assistant", model: "m", content });
    },
  });
  const { instance } = await s.supervisor.register({ dir });
  await s.supervisor.start(instance);
  const peer = s.supervisor.mcp(instance);
  assert.deepEqual([peer.info.protocol, typeof peer.info.instructions], ["2025-11-25", "string"]);
  const call = async (tool: string, args: object = {}, more: object = {}) =>
    await s.supervisor.call(instance, `everything.${tool}`, { ...args }, more) as Result;

  const resources = await peer.resources();
  assert.ok(resources.length > 0 && (await peer.templates()).length > 0);
  const { contents } = await peer.readResource(resources[0]!.uri) as { contents: { uri: string }[] };
  assert.equal(contents[0]!.uri, resources[0]!.uri);
  const prompts = (await peer.prompts()).map(({ name }) => name);
  assert.ok(prompts.includes("args-prompt"), prompts.join());
  assert.ok(((await peer.getPrompt("args-prompt", { city: "Berlin" })).messages as unknown[]).length > 0);
  const ref = { type: "ref/prompt", name: "completable-prompt" };
  const { completion } = await peer.complete({ ref, argument: { name: "department", value: "E" } });
  assert.ok(Array.isArray((completion as { values: unknown }).values));

  assert.equal((await call("echo", { message: "Ahoy" })).content[0]!.text, "Echo: Ahoy");
  assert.equal(typeof (await call("get_structured_content", { location: "Chicago" })).structuredContent, "object");
  assert.match(JSON.stringify(await call("trigger_sampling_request", { prompt: "Hello" })), /A sampled answer/);
  assert.match(JSON.stringify(await call("get_roots_list")), /file:\/\/\/project/);
  await call("trigger_elicitation_request");
  assert.deepEqual(new Set(asked), new Set(["roots/list", "sampling/createMessage", "elicitation/create"]));

  const reports: { message?: string }[] = [];
  const research = call("simulate_research_query", { topic: "cages" }, {
    onProgress: (report: object) => reports.push(report),
  });
  const found = await research;
  assert.match(found.content[0]!.text!, /cages/);
  assert.ok(reports.length > 1, "the task said how it went");

  await peer.setLogLevel("debug");
  await call("toggle_simulated_logging");
  await until(() => events.some(({ type }) => type === "log"), "a log message");
  await peer.subscribe(resources[0]!.uri);
  await peer.unsubscribe(resources[0]!.uri);
  assert.deepEqual(s.types().filter((type) => type.includes("violation")), []);
});
