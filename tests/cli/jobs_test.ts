import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../src/jobs/types.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { type KagedRun, runKaged } from "../support/run_kaged.ts";

const kaged = (h: Hosted, ...args: string[]): Promise<KagedRun> => runKaged(["jobs", ...args, "--home", h.home]);
const YAML = "id: music\nprimary: {}\n";
const LONG = `first\n${"x".repeat(2 * 1024 * 1024)}\nlast`;

/** Starts a job that ends with a long answer, and one of another scope that waits. */
async function twoJobs(h: Hosted): Promise<[ended: string, waiting: string]> {
  h.host.agent("primary", ({ input, signal }) => {
    if (input === "long") return LONG;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  await h.host.start();
  const ended = await h.host.jobs.start({ agentName: "primary", input: "long", scopeId: "acme" });
  await h.host.jobs.finished(ended.id, "acme");
  const waiting = await h.host.jobs.start({ agentName: "primary", input: "wait", scopeId: "other" });
  return [ended.id, waiting.id];
}

test("T-010 kaged jobs lists, shows and cancels the jobs of every scope of a running host, and prints results", async () => {
  await using h = await hosted({ yaml: YAML, start: false });
  const [ended, waiting] = await twoJobs(h);
  const { stdout } = await kaged(h, "list");
  const lines = stdout.trimEnd().split("\n");
  assert.match(lines[0]!, new RegExp(`^${ended} completed primary \\(music, scope acme, .*, ${LONG.length} bytes\\)$`));
  assert.match(lines[1]!, new RegExp(`^${waiting} \\w+ primary \\(music, scope other, [^,]*\\)$`));
  const one = JSON.parse((await kaged(h, "list", "--scope", "acme", "-n", "1", "--json")).stdout);
  assert.deepEqual(one.jobs.map(({ id }: Job) => id), [ended]);
  const first = JSON.parse((await kaged(h, "list", "-n", "1", "--json")).stdout);
  const older = await kaged(h, "list", "--project", "music", "--cursor", first.next.music, "--json");
  assert.deepEqual([first.jobs[0].id, JSON.parse(older.stdout).jobs[0].id], [waiting, ended]);
  assert.equal(JSON.parse((await kaged(h, "show", ended)).stdout).resultAside.bytes, LONG.length);
  assert.equal((await kaged(h, "result", ended)).stdout, `${LONG}\n`);
  assert.equal(JSON.parse((await kaged(h, "result", ended, "--json")).stdout).result, LONG);

  assert.deepEqual((await kaged(h, "cancel", waiting)).stdout, `✓ ${waiting} is cancelled\n`);
  assert.equal((await h.host.jobs.get(waiting, "other")).status, "cancelled");
  const again = await kaged(h, "cancel", waiting);
  assert.deepEqual([again.code, /error\[jobs\.finished\]/.test(again.stderr)], [1, true]);
  assert.match((await kaged(h, "result", waiting)).stderr, /error\[jobs\.result_missing\]/);
  assert.match((await kaged(h, "show", "job_none")).stderr, /error\[jobs\.unknown\][^]*kaged jobs list/);
  assert.match((await kaged(h, "list", "--project", "music", "--cursor", "x")).stderr, /error\[http\.cursor_invalid\]/);
  assert.equal((await kaged(h, "list", "--cursor", "x")).code, 2);
});

test("T-010 kaged jobs reads the file of a host that has ended", async () => {
  await using h = await hosted({ yaml: YAML, start: false });
  const [ended, waiting] = await twoJobs(h);
  await h.host.jobs.cancel(waiting, "other");
  await h.host.stop();
  assert.match((await kaged(h, "list")).stdout, new RegExp(`^${ended} completed`));
  assert.equal((await kaged(h, "result", ended)).stdout, `${LONG}\n`);
});
