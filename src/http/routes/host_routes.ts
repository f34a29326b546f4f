/**
 * The host itself: whether it lives, what it runs, what was counted.
 *
 * @module
 */
import * as v from "valibot";
import { HOST_VERSION } from "../../core/values/version.ts";
import { OPENAPI_TEXT } from "../generated/openapi.ts";
import { type Route, route } from "../route.ts";

/** Routes about the host. */
export const HOST_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/healthz",
    summary: "Whether the host answers",
    isOpen: true,
    answer: { types: ["application/json"], schema: v.strictObject({ ok: v.literal(true) }) },
    errors: [],
    run: () => ({ ok: true }),
  }),
  route({
    method: "GET",
    path: "/openapi.json",
    summary: "This document",
    isOpen: true,
    answer: { types: ["application/json"], schema: v.looseObject({ openapi: v.string() }) },
    errors: [],
    run: () => new Response(OPENAPI_TEXT, { headers: { "Content-Type": "application/json" } }),
  }),
  route({
    method: "GET",
    path: "/metrics",
    summary: "What was counted, as Prometheus reads it",
    answer: { types: ["text/plain"] },
    errors: [],
    async run(_, { host, metrics }) {
      const instances = host.view.instances();
      const names = [...new Set(instances.map(({ plugin }) => plugin))];
      // A plugin whose size cannot be told now is left out: the rest is worth reading.
      const sizes = await Promise.all(
        names.map((name) => host.view.storage(name).then(({ bytes }) => [[name, bytes] as const], () => [])),
      );
      const storageBytes = Object.fromEntries(sizes.flat());
      const now = { instances, sessions: host.view.sessions().length, storageBytes };
      return new Response(metrics.render(now), { headers: { "Content-Type": "text/plain; version=0.0.4" } });
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/host",
    summary: "The host: its version, its project, its open sessions",
    answer: {
      types: ["application/json"],
      schema: v.strictObject({
        version: v.string(),
        project: v.strictObject({ id: v.string(), dir: v.string() }),
        sessions: v.strictObject({ count: v.number(), ids: v.array(v.string()) }),
      }),
    },
    errors: [],
    run(_, { host: { view } }) {
      const ids = view.sessions();
      return { version: HOST_VERSION, project: view.project, sessions: { count: ids.length, ids } };
    },
  }),
];
