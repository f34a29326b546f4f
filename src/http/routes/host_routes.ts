/**
 * The host itself: its health, its API document, its metrics, its project.
 *
 * @module
 */
import * as v from "valibot";
import { HOST_VERSION } from "../../core/values/version.ts";
import { OPENAPI_TEXT } from "../generated/openapi.ts";
import { type Route, route } from "../route.ts";
import { textLike } from "../schemas.ts";

export const HOST_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/healthz",
    summary: "Whether the host answers",
    isOpen: true,
    run: () => ({ ok: true }),
  }),
  route({
    method: "GET",
    path: "/openapi.json",
    summary: "This document",
    isOpen: true,
    run: () => new Response(OPENAPI_TEXT, { headers: { "Content-Type": "application/json" } }),
  }),
  route({
    method: "GET",
    path: "/metrics",
    summary: "Counters and states of the host, in the text format of Prometheus",
    types: ["text/plain"],
    async run(_, { host, metrics }) {
      const instances = host.plugins();
      const names = [...new Set(instances.map(({ plugin }) => plugin))];
      // A plugin whose storage cannot be read now is left out, so that the other figures still arrive.
      const sizes = await Promise.all(
        names.map((name) => host.view.storage(name).then(({ bytes }) => [[name, bytes] as const], () => [])),
      );
      const storageBytes = Object.fromEntries(sizes.flat());
      const sessions = host.view.sessions().length;
      const now = { instances, sessions, storageBytes, approvals: host.view.approvals() };
      return new Response(metrics.render(now), { headers: { "Content-Type": "text/plain; version=0.0.4" } });
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/host",
    summary: "The host: its version, its project, its open sessions",
    run(_, { host: { view } }) {
      const ids = view.sessions();
      return { version: HOST_VERSION, project: view.project, sessions: { count: ids.length, ids } };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/tickets",
    summary:
      "A ticket for a minute: ?ticket=<ticket> in the address of that path stands for the token, for streams of web " +
      "pages",
    body: v.strictObject({ path: textLike(/^\/[^?#\s]{0,2000}$/, "It is no path, such as /api/v1/events") }),
    run: ({ body: { path } }, { tickets }) => tickets.issue(path),
  }),
];
