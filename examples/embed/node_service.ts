/** A service on Node: plugins behind an HTTP API with console and metrics, a route of its own, and a clean end. */
import process from "node:process";
import { createHost, detectRuntime } from "../../mod.ts";
import { serveHost } from "../../src/http/mod.ts";

const runtime = await detectRuntime();
const host = await createHost({
  project: import.meta.dirname,
  plugins: { notes: `${import.meta.dirname}/../plugins/notes` }, // A folder this program vouches for.
  runtime,
});
host.onAudit(({ type, instance }) => {
  if (type === "plugin.crashed" || type === "plugin.failed") console.error(type, instance);
});

const mount = [{ path: "/app", app: { fetch: remember } }]; // Every path below /app, behind the same token.
const served = await serveHost({ host, runtime, port: Number(process.env["PORT"] ?? 4717), mount });
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);
console.log(`Listening at ${served.address}`);

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);

async function remember(request: Request): Promise<Response> {
  const session = host.openSession();
  try {
    const args = await request.json(); // Checked against the tool's schema by the host.
    const { output } = await session.callTool("notes.add", args);
    return Response.json(output);
  } finally {
    await session.close();
  }
}

async function stop(): Promise<void> {
  await served.close(); // Takes no more requests and finishes those under way.
  await host.stop(); // Plugins get shutdown, then SIGTERM, then SIGKILL.
  console.log("Stopped");
}
