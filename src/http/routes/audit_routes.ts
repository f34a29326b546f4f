/**
 * The audit trails as they are stored: of the host's project, and of the commands of its operator.
 *
 * @module
 */
import * as v from "valibot";
import { defined } from "../../core/values/plain_data.ts";
import { pageFields } from "../page.ts";
import { type Route, route } from "../route.ts";
import { agentPath, pluginName, sessionId, textLike } from "../schemas.ts";

const of = v.optional(v.picklist(["project", "operator"]), "project");
const time = v.exactOptional(v.pipe(v.string(), v.minLength(4), v.maxLength(40)));
const type = "[a-z][a-z_.]{0,63}\\*?";
const types = v.exactOptional(v.pipe(
  textLike(new RegExp(`^${type}(,${type}){0,49}$`), "It is no list of types such as plugin.hook.*,plugin.crashed"),
  v.transform((text) => text.split(",")),
));

export const AUDIT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/audit",
    summary: "Stored audit events, the newest first: of the project or of the operator's commands, by time, type, " +
      "plugin, agent, session and text",
    query: v.strictObject({
      of,
      trail: v.optional(v.picklist(["audit", "calls"]), "audit"),
      since: time,
      until: time,
      types,
      plugin: v.exactOptional(pluginName),
      agent: v.exactOptional(agentPath),
      session: v.exactOptional(sessionId),
      text: v.exactOptional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
      ...pageFields,
    }),
    errors: ["audit.invalid_query"],
    run: ({ query: { of, ...query } }, { host }) => host.view.audit(of, defined(query)),
  }),
  route({
    method: "GET",
    path: "/api/v1/audit/verify",
    summary: "Whether the chain of an audit trail is whole, and the first line that does not fit",
    query: v.strictObject({ of }),
    run: ({ query }, { host }) => host.view.verifyAudit(query.of),
  }),
];
