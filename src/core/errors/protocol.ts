/**
 * Failures of the wire.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const PROTOCOL_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "protocol.parse": row(-32700, 400, "A line is not JSON", "Write one JSON object per line on stdout; log to stderr"),
  "protocol.invalid": row(-32600, 400, "A line is JSON but no JSON-RPC 2.0 message", "Send one request or response"),
  "protocol.batch": row(-32600, 400, "A line holds a JSON array", "Send each message on a line of its own"),
  "protocol.method_unknown": row(-32601, 404, "The method does not exist", "Call a method the other side declares"),
  ...rows("protocol", -32602, 400, {
    params_invalid: ["The method does not take these params", "Send what the method documents"],
    unserializable: ["A value cannot be written as JSON", "Send plain JSON values"],
  }),
  ...rows("protocol", -32603, 502, {
    internal: ["The other side failed in an unspecified way", "Read the plugin's log"],
    oversize_message: ["A line is longer than 4 MiB", "Split the message or send less"],
    closed: ["The connection ended before the answer came", "Try again once the plugin runs"],
    timeout: ["No answer came in time", "Raise the timeout, or report progress from the plugin"],
  }),
  "protocol.busy": row(-32005, 409, "The other side has stopped reading", "Try again once it has caught up"),
  "protocol.cancelled": row(-32603, 499, "The caller cancelled the call", "Nothing, if it was meant"),
  "protocol.violation": row(-32600, 502, "A plugin broke the order of the protocol", "Stay silent until initialize"),
};
