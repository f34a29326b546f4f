/**
 * Audits over an audit: one that hides the operator's secrets in every trail and from every listener, and one that knows
 * the requests that events are caused by.
 *
 * @module
 */
import type { Callers } from "../values/caller.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type { Audit, CallAudit } from "./audit.ts";

/** Returns an audit in which an event without a request of its own has that of the caller it is caused by. */
export function callersAudit(audit: CallAudit, callers: Callers): CallAudit {
  return over(audit, (type, subject, data, requestId) => {
    audit.emit(type, subject, data, requestId ?? callers.current?.requestId ?? null);
  });
}

/** Returns an audit that emits to `audit`, with what `secrets` knows hidden in the data of each event. */
export function maskedAudit(audit: CallAudit, secrets: SecretMask): CallAudit {
  const masked = over(audit, (type, subject, data, requestId) => {
    audit.emit(type, subject, secrets.value(data), requestId);
  });
  masked.callLines = (subject) => audit.callLines(subject, secrets);
  return masked;
}

/** Returns an audit with another way to emit. */
function over(audit: CallAudit, emit: Audit["emit"]): CallAudit {
  return {
    emit,
    on: (listener) => audit.on(listener),
    callLines: (subject, secrets) => audit.callLines(subject, secrets),
    flush: () => audit.flush(),
    get active() {
      return audit.active;
    },
    get listenerErrors() {
      return audit.listenerErrors;
    },
  };
}
