/**
 * A failure and the next step.
 *
 * @module
 */
import type { JSX } from "preact";
import type { ApiError } from "../model/api.ts";
import type { Failure } from "../../src/http/answers.ts";

/** Shows a failure with its code and hint. */
export function FailureNote({ of: { message, code, hint }, isAlert = false }: {
  of: Failure | ApiError;
  isAlert?: boolean;
}): JSX.Element {
  return (
    <div class="failure" role={isAlert ? "alert" : undefined}>
      <p>
        {message} <code>{code}</code>
      </p>
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}
