import assert from "node:assert/strict";
import { test } from "node:test";
import { toolAnswer } from "../../src/mcp/tool_answer.ts";
import { type RunTask, type ToolTasks, toolTasks } from "../../src/mcp/tool_tasks.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { until } from "../support/until.ts";

const SERVER = { primary: { server: {} }, fixtures: { "@test/server": "mcp_tools" } };

const run: RunTask = async (name, args, { session, signal }, onProgress) =>
  toolAnswer((await session.callTool(name, args, { agent: "primary", signal, onProgress })).output);

const tasksOf = ({ host }: Hosted): ToolTasks => toolTasks(host, "primary", run);

test("N-030 a tool call as a task is a job of the host, and its result is kept", async () => {
  await using h = await hosted(SERVER);
  const tasks = tasksOf(h);
  const begun = await tasks.start("mcp-tools__say_it", { what: "hello" });
  assert.equal(begun.status, "working");
  assert.equal(begun.outcome, null);
  const ended = await tasks.finished(begun.id);
  assert.equal(ended.status, "completed");
  assert.deepEqual(ended.outcome, { result: { content: [{ type: "text", text: "hello" }] } });
  assert.deepEqual(await tasks.get(begun.id), ended);
  assert.equal((await h.host.jobs.get(begun.id)).agentName, "mcp.primary");
});

test("N-030 a task says how far it is, and a cancelled one ends the call in the server", async () => {
  await using h = await hosted(SERVER);
  const tasks = tasksOf(h);
  const { id } = await tasks.start("mcp-tools__slow", {});
  const working = await until(
    async () => {
      const task = await tasks.get(id);
      return task.message === undefined ? undefined : task;
    },
    "words of the tool",
    "turn",
  );
  assert.equal(working?.status, "working");
  assert.equal((await tasks.cancel(id)).status, "cancelled");
  await h.logged(1);
  assert.equal(h.logs[0]?.line, "[info] cancelled");
  assert.equal((await tasks.cancel(id)).status, "cancelled");
  assert.equal((await tasks.get(id)).outcome, null);
});

test("N-030 a mistake in the request makes a task fail with the error of the protocol", async () => {
  await using h = await hosted(SERVER);
  const tasks = tasksOf(h);
  const { id } = await tasks.start("mcp-tools__nothing", {});
  const { status, outcome } = await tasks.finished(id);
  assert.equal(status, "failed");
  assert.equal((outcome as { error: { data: { code: string } } }).error.data.code, "tool.unknown");
});

test("N-030 tasks are listed the newest first, page by page, and none of another agent is found", async () => {
  await using h = await hosted(SERVER);
  const tasks = tasksOf(h);
  const ids: string[] = [];
  for (let count = 0; count < 51; count++) ids.push((await tasks.start("mcp-tools__say_it", { what: "x" })).id);
  await Promise.all(ids.map((id) => tasks.finished(id)));
  const first = await tasks.list();
  assert.equal(first.tasks.length, 50);
  const second = await tasks.list(first.nextCursor);
  assert.deepEqual([...first.tasks, ...second.tasks].map(({ id }) => id).toSorted(), ids.toSorted());
  assert.equal(second.nextCursor, undefined);
  const others = toolTasks(h.host, "primary.subagents.other", run);
  for (const look of [others.get(ids[0]!), tasks.get("job_nobody"), tasks.list("job_nobody")]) {
    await assert.rejects(look, { code: "mcp.task_unknown" });
  }
});

test("N-030 a task that waits for a person says so, and goes on with the answer", async () => {
  await using h = await hosted({
    ...SERVER,
    config: '[[tool_rules]]\ntool = "mcp-tools.say_it"\ndecision = "ask"\n',
  });
  const tasks = tasksOf(h);
  const { id } = await tasks.start("mcp-tools__say_it", { what: "hello" });
  await until(async () => (await tasks.get(id)).status === "input_required" || undefined, "a question", "turn");
  const [asked] = await tasks.asked(id);
  assert.equal(asked?.jobId, id);
  await h.host.approvals.answer(asked!.id, { decision: "allow" });
  assert.equal((await tasks.finished(id)).status, "completed");
});
