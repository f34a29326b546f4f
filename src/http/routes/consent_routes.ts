/**
 * Requests for consent: plugins that the project declares and the operator has yet to allow.
 *
 * @module
 */
import * as v from "valibot";
import { pageOf } from "../../core/values/page_of.ts";
import { pageQuery } from "../page.ts";
import { type Route, route } from "../route.ts";
import { textLike } from "../schemas.ts";

const named = v.strictObject({ id: textLike(/^[A-Za-z0-9_-]{1,100}$/, "It is no id of a request") });
const text = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max));

export const CONSENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/consents",
    summary: "Plugins the project declares and lacks, or lacks in that version, with the capabilities each asks for",
    query: pageQuery,
    errors: ["http.cursor_invalid", "http.cursor_gone"],
    run({ query }, { host }) {
      const { items: consents, next } = pageOf("consents", host.consents(), ({ id }) => id, query);
      return { consents, next };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/consents/{id}/approve",
    summary: "Approve the next step: fetching from an address, then granting or withholding each capability by name",
    params: named,
    body: v.strictObject({
      source: v.exactOptional(text(4096)),
      allow_http: v.exactOptional(v.boolean()),
      hash: v.exactOptional(text(200)),
      grant: v.exactOptional(v.pipe(v.array(text(4096)), v.maxLength(1000))),
      withhold: v.exactOptional(v.pipe(v.array(text(4096)), v.maxLength(1000))),
    }),
    errors: [
      "consent.unknown",
      "install.consent_missing",
      "install.capability_unknown",
      "install.withhold_granted",
      "install.changed",
      "install.source_invalid",
      "install.source_unspecified",
      "install.source_unreachable",
      "install.version_unfit",
      "install.upgrade_failed",
    ],
    run: ({ params: { id }, body: { allow_http: allowHttp, ...answer } }, { host }) =>
      host.approve(id, { ...answer, ...(allowHttp !== undefined && { allowHttp }) }),
  }),
  route({
    method: "POST",
    path: "/api/v1/consents/{id}/decline",
    summary: "Decline: the project stays without the plugin, and later hosts do not ask for it",
    params: named,
    errors: ["consent.unknown"],
    run: ({ params: { id } }, { host }) => host.decline(id),
  }),
  route({
    method: "POST",
    path: "/api/v1/consents/{id}/ask-again",
    summary: "Open a request that was declined",
    params: named,
    errors: ["consent.unknown"],
    run: ({ params: { id } }, { host }) => host.askAgain(id),
  }),
];
