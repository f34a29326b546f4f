/** A worker on Bun: an agent that runs in the background, and a server of Bun's own that queues and follows its jobs. */
import process from "node:process";
import { createHost, detectRuntime } from "../../mod.ts";
import { jobRoutes } from "../../src/http/mod.ts";

const host = await createHost({
  project: import.meta.dir,
  plugins: { notes: `${import.meta.dir}/../plugins/notes` }, // A folder this program vouches for.
});
host.agent("primary", async ({ input, emit, session, tools, signal }) => {
  await session.start("You keep notes for Ada.");
  for (const text of input.split(/(?<=\.)\s+/)) {
    emit("note", { text }); // Clients that follow the run receive this.
    await tools.call("notes.add", { text }, { signal });
  }
  const { notes } = await tools.call("notes.find", { query: "" }) as { notes: string[] };
  return { output: `${notes.length} notes kept`, toolsUsed: ["notes.add", "notes.find"] };
});
await host.start();

const { clock } = await detectRuntime();
const routes = jobRoutes({ jobs: host.jobs, clock });
const server = Bun.serve({ hostname: "127.0.0.1", port: Number(Bun.env["PORT"] ?? 4718), fetch: routes.fetch });
console.log(`Listening at ${server.url}`);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, async () => {
    await server.stop();
    await host.stop(); // Running jobs have 5 s; then they fail, or wait again if attempts are left.
    console.log("Stopped");
  });
}
