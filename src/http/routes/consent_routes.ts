/**
 * What the operator is asked before the project gets a plugin it declares.
 *
 * @module
 */
import * as v from "valibot";
import type { ConsentRequest } from "../../packages/install/consent_types.ts";
import { type Route, route } from "../route.ts";
import { capability, failure } from "../schemas.ts";

const offer = v.pipe(
  v.strictObject({
    name: v.string(),
    version: v.string(),
    kaged_api: v.number(),
    description: v.string(),
    author: v.nullable(v.string()),
    license: v.nullable(v.string()),
    homepage: v.nullable(v.string()),
    hash: v.string(),
    bytes: v.number(),
    capabilities: v.array(capability),
    installed: v.nullable(v.string()),
    added: v.array(v.string()),
    removed: v.array(v.string()),
  }),
  v.title("Offer"),
);
const request = v.pipe(
  v.strictObject({
    id: v.string(),
    package: v.string(),
    source: v.nullable(v.string()),
    version: v.nullable(v.string()),
    agents: v.array(v.string()),
    step: v.picklist(["source", "fetch", "grant"]),
    state: v.picklist(["waiting", "declined", "installed"]),
    offer: v.nullable(offer),
    error: v.nullable(failure),
  }),
  v.title("Consent"),
);
const named = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,100}$/, "It is no id of a request")),
});
const text = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max));
const one = { types: ["application/json"], schema: request } as const;

/** Routes about consent. */
export const CONSENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/consents",
    summary: "Plugins the project declares and has not, or not in that version: what each would be allowed to do",
    answer: { types: ["application/json"], schema: v.strictObject({ consents: v.array(request) }) },
    errors: [],
    run: (_, { host }) => ({ consents: host.consents().map(requestJson) }),
  }),
  route({
    method: "POST",
    path: "/api/v1/consents/{id}/approve",
    summary: "Say yes to the next step: to fetch an address, then to grant what was fetched each capability by name",
    params: named,
    body: v.strictObject({
      source: v.exactOptional(text(4096)),
      allow_http: v.exactOptional(v.boolean()),
      hash: v.exactOptional(text(200)),
      grant: v.exactOptional(v.pipe(v.array(text(4096)), v.maxLength(1000))),
    }),
    answer: one,
    errors: [
      "consent.unknown",
      "install.consent_missing",
      "install.changed",
      "install.source_invalid",
      "install.source_unspecified",
      "install.source_unreachable",
      "install.version_unfit",
    ],
    async run({ params: { id }, body: { allow_http: allowHttp, ...answer } }, { host }) {
      return requestJson(await host.approve(id, { ...answer, ...(allowHttp !== undefined && { allowHttp }) }));
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/consents/{id}/decline",
    summary: "Say no: the project stays without the plugin",
    params: named,
    answer: one,
    errors: ["consent.unknown"],
    run: async ({ params: { id } }, { host }) => requestJson(await host.decline(id)),
  }),
];

function requestJson(
  { id, package: pkg, source, version, agents, step, state, offer, error }: ConsentRequest,
): Record<string, unknown> {
  return { id, package: pkg, source, version, agents, step, state, offer, error };
}
