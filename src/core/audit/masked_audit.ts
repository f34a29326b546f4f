/**
 * An audit that hides the operator's secrets: in every trail, and from every listener.
 *
 * @module
 */
import type { SecretMask } from "../values/secret_mask.ts";
import type { Audit } from "./audit.ts";

/** Returns an audit that emits to `audit`, with what `secrets` knows hidden in the data of each event. */
export function maskedAudit(audit: Audit, secrets: SecretMask): Audit {
  return {
    emit: (type, subject, data, requestId) => audit.emit(type, subject, secrets.value(data), requestId),
    on: (listener) => audit.on(listener),
    flush: () => audit.flush(),
    get active() {
      return audit.active;
    },
    get listenerErrors() {
      return audit.listenerErrors;
    },
  };
}
