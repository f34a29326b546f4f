/** The routes of jobs in the OpenAPI documents of the frameworks they are mounted in. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Elysia } from "elysia";
import { Hono } from "hono";
import { type JobRoutes, jobRoutes, type JobRoutesOptions } from "../../src/http/job_app.ts";
import { jobsStage } from "../jobs/jobs_stage.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";

const PATHS = {
  "/api/agents/{agent}": ["post"],
  "/api/jobs": ["get"],
  "/api/jobs/{id}": ["delete", "get"],
  "/api/jobs/{id}/cancel": ["post"],
  "/api/jobs/{id}/result": ["get"],
  "/api/jobs/{id}/stream": ["get"],
};

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: unknown;
  readonly responses: Record<string, { content?: Record<string, { schema?: unknown }> }>;
}

type Document = { readonly paths: Record<string, Record<string, Operation>> };

async function routesOf(options: Partial<JobRoutesOptions> = {}): Promise<JobRoutes> {
  const { jobs, clock } = await jobsStage({ work: false });
  return jobRoutes({ jobs, clock, ...options });
}

/** Every route is there, with its parameters, its body and the schema of its answers. */
function checkDocument({ paths }: Document): void {
  const found = Object.entries(paths).filter(([path]) => path.startsWith("/api/"));
  assert.deepEqual(
    Object.fromEntries(found.map(([path, methods]) => [path, Object.keys(methods).sort()])),
    PATHS,
  );
  const job = paths["/api/jobs/{id}"]!["get"]!;
  assert.equal(job.summary, "One job");
  assert.deepEqual(job.parameters?.map((one) => `${one.in} ${one.name}`), ["path id"]);
  const { properties } = job.responses["200"]!.content!["application/json"]!.schema as { properties: object };
  assert.ok(["id", "agentName", "status", "result"].every((name) => name in properties));
  assert.ok(job.responses["404"]!.content!["application/problem+json"]!.schema);
  const list = paths["/api/jobs"]!["get"]!;
  const names = ["agentName", "cursor", "fields", "limit", "scope", "status"];
  assert.deepEqual(list.parameters?.map(({ name }) => name).sort(), names);
  const run = paths["/api/agents/{agent}"]!["post"]!;
  assert.ok(run.requestBody && run.responses["202"]);
  assert.doesNotMatch(JSON.stringify(found), /#\/components/, "no reference leads into a document that is not there");
}

/** Loads a framework that is only here for this test; null where it is not installed. */
async function framework<T>(t: TestContext, name: string): Promise<T | null> {
  const loaded = await import(name).catch(() => null);
  return await requireOrSkip(t, name, loaded !== null, "npm ci") ? loaded as T : null;
}

test("N-040 T-011 the operations of the routes stand by themselves", async () => {
  const routes = await routesOf();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { method, path, ...operation } of routes.operations) {
    (paths[`/api${path}`] ??= {})[method] = operation as unknown as Operation;
  }
  checkDocument({ paths });
});

test("N-040 T-011 an app of hono-openapi that the routes are part of has them in its document", async (t) => {
  const openapi = await framework<{
    describeRoute: NonNullable<JobRoutesOptions["describe"]>;
    generateSpecs(app: Hono): Promise<Document>;
  }>(t, "hono-openapi");
  if (!openapi) return;
  const app = new Hono().route("/api", await routesOf({ describe: openapi.describeRoute }));
  checkDocument(await openapi.generateSpecs(app));
  assert.equal((await app.request("/api/jobs")).status, 200);
});

test("N-040 T-011 an app of @hono/zod-openapi whose registry has the operations has them in its document", async (t) => {
  const openapi = await framework<{
    OpenAPIHono: new () => Hono & {
      openAPIRegistry: { registerPath(path: object): void };
      getOpenAPI31Document(info: object): Document;
    };
  }>(t, "@hono/zod-openapi");
  if (!openapi) return;
  const app = new openapi.OpenAPIHono();
  const routes = await routesOf();
  app.route("/api", routes);
  for (const { path, ...operation } of routes.operations) {
    app.openAPIRegistry.registerPath({ path: `/api${path}`, ...operation });
  }
  checkDocument(app.getOpenAPI31Document({ openapi: "3.1.0", info: { title: "App", version: "1" } }));
  assert.equal((await app.request("/api/jobs")).status, 200);
});

test("N-040 T-011 an app of Elysia that uses the routes has them in its document", async (t) => {
  const plugin = await framework<{ openapi(): Elysia }>(t, "@elysiajs/openapi");
  if (!plugin) return;
  const routes = await routesOf();
  const app = new Elysia().use(plugin.openapi()).group("/api", (api) => api.use(routes.elysia));
  const answer = await app.handle(new Request("http://localhost/openapi/json"));
  checkDocument(await answer.json() as Document);
  assert.equal((await app.handle(new Request("http://localhost/api/jobs"))).status, 200);
});
