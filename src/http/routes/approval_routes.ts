/**
 * Calls of tools that wait for a person's yes, and the answers that hold for later calls.
 *
 * @module
 */
import * as v from "valibot";
import { pageOf } from "../../core/values/page_of.ts";
import { approvalJson, standingAnswerJson } from "../approval_json.ts";
import { pageFields, pageQuery } from "../page.ts";
import { type Route, route } from "../route.ts";
import { anyMap, textLike } from "../schemas.ts";

const id = textLike(/^[A-Za-z0-9_-]{1,100}$/, "It is no id of a request");
const named = v.strictObject({ id });
/** Whoever answers, as the client names itself or its person: it holds the token, and may say so. */
const by = v.optional(
  textLike(/^[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,63}$/, "It is no name: up to 64 letters, digits, spaces and ._@+-"),
  "http",
);

export const APPROVAL_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/approvals",
    summary: "Calls of tools that wait for a person, or have waited, the newest first; big arguments are cut",
    query: v.strictObject({
      state: v.optional(v.picklist(["waiting", "ended", "all"]), "waiting"),
      ...pageFields,
    }),
    errors: ["http.cursor_invalid", "http.cursor_gone", "jobs.store_unavailable"],
    async run({ query }, { host }) {
      const { items, next } = await host.approvals.list(query);
      return { approvals: items.map(approvalJson), next };
    },
  }),
  // Before the route of one request: `answers` is no id.
  route({
    method: "GET",
    path: "/api/v1/approvals/answers",
    summary: "Answers that hold for later calls, the oldest first",
    query: pageQuery,
    errors: ["http.cursor_invalid", "http.cursor_gone", "jobs.store_unavailable"],
    async run({ query }, { host }) {
      const { items, next } = pageOf("answers", await host.approvals.standing(), ({ id }) => id, query);
      return { answers: items.map(standingAnswerJson), next };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/v1/approvals/answers/{id}",
    summary: "Revoke an answer that holds for later calls: they are asked again",
    params: named,
    query: v.strictObject({ by }),
    errors: ["approval.unknown", "jobs.store_unavailable"],
    async run({ params, query }, { host }) {
      await host.approvals.revoke(params.id, query);
      return { success: true };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/approvals/{id}",
    summary: "One such call, with its arguments whole up to 1 MiB",
    params: named,
    errors: ["approval.unknown", "jobs.store_unavailable"],
    run: async ({ params }, { host }) => approvalJson(await host.approvals.get(params.id)),
  }),
  route({
    method: "POST",
    path: "/api/v1/approvals/{id}/answer",
    summary: "Allow or deny the call: once, for its session, or always. The first answer counts",
    params: named,
    body: v.strictObject({
      decision: v.picklist(["allow", "deny"]),
      scope: v.exactOptional(v.picklist(["once", "session", "always"])),
      reason: v.exactOptional(v.pipe(v.string(), v.maxLength(2000))),
      arguments: v.exactOptional(anyMap),
      content: v.exactOptional(anyMap),
      by,
    }),
    errors: [
      "approval.unknown",
      "approval.ended",
      "approval.answer_invalid",
      "tool.arguments_invalid",
      "jobs.store_unavailable",
    ],
    run: async ({ params, body: { by, ...answer } }, { host }) =>
      approvalJson(await host.approvals.answer(params.id, answer, { by })),
  }),
];
