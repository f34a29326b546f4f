/**
 * Failures of the wire.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

export const PROTOCOL_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "protocol.parse": row(-32700, 400, "A line is not JSON", "Write one JSON object per line on stdout; log to stderr"),
  "protocol.invalid": row(-32600, 400, "A line is JSON but no JSON-RPC 2.0 message", "Send one request or response"),
  "protocol.batch": row(-32600, 400, "A line holds a JSON array", "Send each message on a line of its own"),
  "protocol.method_unknown": row(-32601, 404, "The method does not exist", "Call a method the other side declares"),
  "protocol.params_invalid": row(
    -32602,
    400,
    "The method does not take these params",
    "Send what the method documents",
  ),
  "protocol.internal": row(-32603, 502, "The other side failed in an unspecified way", "Read the plugin's log"),
  "protocol.oversize_message": row(-32603, 502, "A line is longer than 4 MiB", "Split the message or send less"),
  "protocol.busy": row(-32005, 409, "The other side has stopped reading", "Try again once it has caught up"),
  "protocol.closed": row(-32603, 502, "The connection ended before the answer came", "Try again once the plugin runs"),
  "protocol.timeout": row(
    -32603,
    502,
    "No answer came in time",
    "Raise the timeout, or report progress from the plugin",
  ),
  "protocol.cancelled": row(-32603, 499, "The caller cancelled the call", "Nothing, if it was meant"),
  "protocol.unserializable": row(-32602, 400, "A value cannot be written as JSON", "Send plain JSON values"),
  "protocol.violation": row(-32600, 502, "A plugin broke the order of the protocol", "Stay silent until initialize"),
};
