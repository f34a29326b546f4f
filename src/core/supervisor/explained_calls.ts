/**
 * Calls over a link: it knows more of a failure than the connection does, such as that a login is needed.
 *
 * @module
 */
import { asHostError, type HostError } from "../errors/host_error.ts";
import type { Connection } from "../wire/connection_types.ts";

/** Changes a connection so that the error of each call is the one that `explain` makes of it. */
export function explainedCalls(connection: Connection, explain: (error: HostError) => HostError): Connection {
  const call = connection.call.bind(connection);
  return Object.assign(connection, {
    call: (...[method, params, options, end]: Parameters<Connection["call"]>) =>
      call(method, params, options, {
        ok: (result) => end ? end.ok(result) : result,
        failed(thrown) {
          const error = explain(asHostError(thrown));
          if (end) return end.failed(error);
          throw error;
        },
      }),
  });
}
