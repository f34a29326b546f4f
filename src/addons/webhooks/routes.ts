/**
 * Webhooks over HTTP.
 *
 * @module
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { printWarning } from "../../core/values/printable.ts";
import { failureResponse, problemResponse } from "../../http/problem.ts";
import type { NewWebhook, WebhookManager } from "./manager.ts";

/** An app that answers requests: mount it anywhere. */
export interface WebhookRoutes {
  /** Answers one request below its mount point. */
  fetch(request: Request): Response | Promise<Response>;
}

const MAX_BODY = 64 * 1024;

/**
 * Returns the routes of a manager, to mount in an app that has authenticated the caller: the routes check nobody.
 *
 *     POST   /webhooks                              registers one; only this answer holds its secret
 *     GET    /webhooks                              lists them
 *     GET    /webhooks/:id                          shows one
 *     PATCH  /webhooks/:id                          changes url, events, enabled
 *     DELETE /webhooks/:id                          forgets one
 *     POST   /webhooks/:id/secret                   gives it a new secret
 *     GET    /webhooks/:id/deliveries               lists its deliveries, each with every attempt
 *     POST   /webhooks/:id/deliveries/:delivery/replay   sends one again
 *
 * Failures are `application/problem+json` with the code of the error table.
 */
export function webhookRoutes(manager: WebhookManager): WebhookRoutes {
  const routes = new Hono();
  routes.use(bodyLimit({ maxSize: MAX_BODY, onError: () => problemResponse(bodyProblem("it is larger than 64 KiB")) }));
  routes.onError((error) => failureResponse(error, printWarning));
  routes.post("/webhooks", async (c) => c.json(await manager.create(await bodyOf(c.req) as NewWebhook), 201));
  routes.get("/webhooks", (c) => c.json(manager.list()));
  routes.get("/webhooks/:id", (c) => c.json(manager.get(c.req.param("id"))));
  routes.patch(
    "/webhooks/:id",
    async (c) => c.json(await manager.update(c.req.param("id"), await bodyOf(c.req) ?? {})),
  );
  routes.delete("/webhooks/:id", async (c) => {
    await manager.delete(c.req.param("id"));
    return c.body(null, 204);
  });
  routes.post("/webhooks/:id/secret", async (c) => {
    return c.json(await manager.rotateSecret(c.req.param("id"), await bodyOf(c.req) ?? {}));
  });
  routes.get("/webhooks/:id/deliveries", (c) => c.json(manager.deliveries(c.req.param("id"))));
  routes.post("/webhooks/:id/deliveries/:delivery/replay", (c) => {
    return c.json(manager.replay(c.req.param("id"), c.req.param("delivery")), 202);
  });
  return routes;
}

/** The body as data; undefined when there is none. */
async function bodyOf(request: { text(): Promise<string> }): Promise<object | undefined> {
  const text = await request.text();
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bodyProblem(`it is not JSON: ${messageOf(error)}`);
  }
}

function bodyProblem(problem: string): HostError {
  return new HostError("addons.webhook_invalid", `The body cannot be read: ${problem}`, {
    hint: "Send one JSON object, such as { url, events }",
  });
}
