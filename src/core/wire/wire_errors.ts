/**
 * Errors on their way over the wire: what was thrown to an error response, an error response to a {@link HostError}.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { ErrorBody } from "./codec.ts";

const CODE_OF: ReadonlyMap<number, HostErrorCode> = new Map<number, HostErrorCode>([
  [-32601, "protocol.method_unknown"],
  [-32602, "protocol.params_invalid"],
  [-32603, "protocol.internal"],
  [-32000, "plugin.error"],
  [-32001, "plugin.capability_denied"],
  [-32002, "plugin.not_initialized"],
  [-32003, "plugin.storage_denied"],
  [-32004, "plugin.config_invalid"],
  [-32005, "protocol.busy"],
  [-32006, "plugin.not_applicable"],
]);

/** Makes the error a call rejects with out of the `error` of its response, however malformed that is. */
export function errorFromWire(error: unknown, method: string): HostError {
  const { code, message, data } = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  if (typeof code !== "number" || !Number.isInteger(code) || typeof message !== "string") {
    return new HostError("plugin.error", `The answer to "${method}" is a malformed error`, {
      data: { error },
      hint: 'Send { "code": <integer>, "message": <string> } as error',
    });
  }
  return new HostError(CODE_OF.get(code) ?? "plugin.error", message, { rpc: code, data });
}

/** Makes the error response out of what a handler threw. Only a {@link HostError} speaks for itself. */
export function errorToWire(thrown: unknown): ErrorBody {
  if (!(thrown instanceof HostError)) return { code: -32603, message: "Internal error" };
  return { code: thrown.rpc, message: thrown.message, data: withHint(thrown.data, thrown.hint) };
}

function withHint(data: unknown, hint: string | undefined): unknown {
  if (hint === undefined) return data;
  if (data === undefined) return { hint };
  const isRecord = typeof data === "object" && data !== null && !Array.isArray(data);
  return isRecord ? { ...data, hint } : { value: data, hint };
}
