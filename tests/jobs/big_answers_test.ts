/** Big answers in a host process of its own, over HTTP: they fail their jobs, and the host goes on. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { Job } from "../../src/jobs/types.ts";
import { runScript } from "../support/run_script.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const HOST = new URL("fixtures/big_host.ts", import.meta.url);
const BIG = 300_000_000;
const WIDE = 20_000_000;

test("N-042 T-008 an answer of 300 MB fails its job in a host with SQLite, and nothing else", async (t) => {
  const dir = await scratchDir(t);
  await mkdir(join(dir, "project"));
  await writeFile(join(dir, "project/project.yaml"), "id: big\nprimary: {}\n");
  const host = runScript(HOST, [join(dir, "home"), join(dir, "project")]);
  t.after(() => host.kill("SIGKILL"));
  const ended = once(host, "exit");
  const [line] = await once(createInterface(host.stdout!), "line");
  const { address, token } = JSON.parse(line);
  const ask = (path: string, input?: string): Promise<Response> =>
    fetch(`${address}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(input !== undefined && { method: "POST", body: JSON.stringify({ input }) }),
    });
  const start = async (input: string): Promise<string> =>
    (await (await ask("/agents/primary?async=true", input)).json()).jobId;
  const [big, small, emits, wide] = await Promise.all(
    [`answer ${BIG}`, "answer 2", `emit ${BIG}`, `answer ${WIDE}`].map(start),
  );
  const finished = async (id: string | undefined): Promise<Job> => {
    await (await ask(`/jobs/${id}/stream?unnamed=false`)).text(); // Ends with the job.
    return await (await ask(`/jobs/${id}`)).json();
  };
  const { status, error, errorCode } = await finished(big);
  assert.deepEqual([status, errorCode], ["failed", "jobs.result_too_large"]);
  assert.match(error!, /300000000 bytes, and a result may have 67108864/);
  assert.equal((await finished(small)).result, "xx");
  assert.equal((await finished(emits)).result, "emitted");
  assert.deepEqual((await finished(wide)).resultAside, { truncated: true, bytes: WIDE });
  let bytes = 0;
  for await (const piece of (await ask(`/jobs/${wide}/result`)).body!) bytes += piece.length;
  assert.equal(bytes, WIDE);
  const waited = await ask("/agents/primary", `answer ${BIG}`);
  assert.deepEqual([waited.status, (await waited.json()).code], [500, "jobs.result_too_large"]);
  assert.equal((await (await ask("/jobs")).json()).jobs.length, 4);
  host.stdin!.end();
  assert.deepEqual(await ended, [0, null]);
});
