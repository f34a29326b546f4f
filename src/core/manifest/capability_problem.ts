/**
 * Why a text is no capability.
 *
 * @module
 */
import { ERRORS, type HostErrorCode } from "../errors/host_error.ts";
import { shown } from "../values/shown_value.ts";

/** Why a text is no capability. */
export interface CapabilityProblem {
  /** The rule that the text breaks: `capability.<reason>`. */
  readonly code: HostErrorCode;
  readonly message: string;
  readonly hint?: string;
}

/** Makes a problem from its row of the error table and the value at fault. */
export function problem(code: HostErrorCode, value: unknown, hint?: string): CapabilityProblem {
  const { cause, fix } = ERRORS[code];
  return { code, message: `${cause}: ${shown(value)}`, hint: hint ?? fix };
}
