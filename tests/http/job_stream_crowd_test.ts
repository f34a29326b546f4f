import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { jobRoutes } from "../../src/http/job_app.ts";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import { memoryJobs } from "../../src/jobs/sqlite_jobs.ts";
import { heldAgent } from "../jobs/jobs_stage.ts";
import { createDice } from "../support/chance.ts";

const [READERS, EVENTS] = [200, 400];
const dice = createDice();
const eventsIn = (text: string): string[] => text.split("\n\n").filter((block) => block.startsWith("id: "));

/** Reads a stream over the network; one that is restless leaves after a while and comes back with the last id. */
async function read(url: string, isRestless: boolean): Promise<string[]> {
  const seen: string[] = [];
  for (let lastId = "";;) {
    const response = await fetch(url, { headers: lastId === "" ? {} : { "Last-Event-ID": lastId } });
    const patience = isRestless ? 1 + dice.below(100) : Infinity;
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let count = 0;
    for (let step = await reader.read(); !step.done && count < patience; step = await reader.read()) {
      const blocks = (rest + step.value).split("\n\n");
      rest = blocks.pop()!;
      const events = eventsIn(blocks.join("\n\n"));
      seen.push(...events);
      count += events.length;
    }
    await reader.cancel();
    if (seen.at(-1)?.includes("event: done")) return seen;
    lastId = /^id: (.*)$/m.exec(seen.at(-1) ?? "")?.[1] ?? "";
  }
}

test("T-009 200 readers over HTTP, joining at random times, leaving and coming back, each see the same full sequence", async () => {
  const runtime = await detectRuntime();
  const jobs = createJobs({ runtime, backend: memoryJobs(runtime) });
  await jobs.work();
  const agent = heldAgent(jobs);
  const routes = jobRoutes({ jobs, clock: runtime.clock });
  const handler = async (request: Request): Promise<Response> => await routes.fetch(request);
  const server = await runtime.http.listen({ at: { hostname: "127.0.0.1", port: 0 }, handler });
  try {
    const { id } = await jobs.start({ agentName: "primary", input: "x" });
    const { context, answer } = await agent.next();
    const joins = Array.from({ length: READERS }, () => dice.below(EVENTS));
    const readers: Promise<string[]>[] = [];
    const url = `http://127.0.0.1:${server.port}/jobs/${id}/stream`;
    for (let n = 0; n < EVENTS; n++) {
      for (const join of joins) if (join === n) readers.push(read(url, dice.pick([true, false, false])));
      context.emit("text", { n, delta: `word ${n} with a ⚙ in it` });
      if (n % 10 === 0) await new Promise(setImmediate);
    }
    answer("done");
    const job = await jobs.finished(id);
    const expected = [
      ...Array.from({ length: EVENTS }, (_, n) => {
        return `id: 1-${n + 1}\nevent: text\ndata: ${JSON.stringify({ n, delta: `word ${n} with a ⚙ in it` })}`;
      }),
      `id: 1-${EVENTS + 1}\nevent: done\ndata: ${JSON.stringify(job)}`,
    ];
    for (const seen of await Promise.all(readers)) assert.deepEqual(seen, expected);
    assert.equal(readers.length, READERS);
  } finally {
    const stopped = server.stop();
    await server.destroy();
    await stopped;
    await jobs.stop();
  }
});
