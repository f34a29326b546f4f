/**
 * Failures of the HTTP API.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const HTTP_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "http.not_found": row(-32601, 404, "The API has no such path", "See /openapi.json"),
  "http.method_not_allowed": row(-32601, 405, "The path does not take this method", "Use a method of the Allow header"),
  "http.unauthorized": row(-32001, 401, "The token is missing or wrong", "Send Authorization: Bearer <token>"),
  ...rows("http", -32001, 403, {
    host_refused: [
      "The request names a host this server does not answer for",
      "Use the printed address, or add the name to allowed_hosts under http in config.toml",
    ],
    origin_refused: ["The request comes from a page of another site", "Use the console's own page"],
  }),
  ...rows("http", -32602, 400, {
    input_invalid: ["The path, the query or the body does not fit the route", "Correct the places in data.issues"],
    cursor_invalid: ["The cursor is none of this list", "Pass the value of next from the page before, as it is"],
  }),
  "http.body_invalid": row(-32700, 400, "The body is not JSON", "Send a JSON object as UTF-8"),
  "http.body_too_large": row(-32602, 413, "The body is larger than the limit", "Send less than 4 MiB"),
  "http.body_timeout": row(-32602, 408, "The body took too long to arrive", "Send all of it within 30 seconds"),
  "http.media_type": row(-32602, 415, "The body is not sent as JSON", "Send Content-Type: application/json"),
  "http.cursor_gone": row(-32602, 410, "The list has changed since the page before", "Start again without a cursor"),
  ...rows("http", -32005, 429, {
    rate_limited: ["More calls arrived in a second than the limit allows", "Wait as long as Retry-After says"],
  }),
  "http.port_taken": row(-32603, 502, "Another program listens at the address", "Use another --port"),
  "http.listen_failed": row(-32603, 502, "The server cannot listen at the address", "Use another --host or --port"),
};
