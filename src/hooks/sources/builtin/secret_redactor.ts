/**
 * Built-in: secrets in the output or the error of a tool never reach the model; those in outputs, nor the handlers after
 * this one.
 *
 * @module
 */
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { redactJson } from "./redact.ts";

/** Secrets besides those of known shapes. */
export interface SecretRedactorOptions extends BuiltinOptions {
  /** Texts that are secret whatever they look like, of four characters or more. */
  readonly secrets?: readonly string[];
}

/**
 * Returns the handlers: `PostToolUse` and `OnError`, priority 5. A failure whose text has a secret in it gets an output,
 * its text without the secret, which takes the place of the error. Unless `onFailure` says otherwise, they block the
 * output when they break.
 */
export function secretRedactor({ secrets = [], ...options }: SecretRedactorOptions = {}): HookRegistration[] {
  const redact = ({ output, error, tool }: HookEvent): HookResponse | null => {
    const isError = (output ?? null) === null;
    const shown = isError ? error?.message : output;
    if (shown === undefined) return null;
    const { value, count } = redactJson(shown, secrets);
    if (count === 0) return null;
    const found = `${count} ${count === 1 ? "secret" : "secrets"} taken out of`;
    const where = tool === undefined ? "an error" : `what ${tool.name} ${isError ? "failed with" : "returned"}`;
    const warnings = [`${found} ${where}`];
    return { action: "modify", modifiedOutput: value, warnings, metadata: { hookId: "secret-redactor" } };
  };
  return builtin("secret-redactor", { priority: 5, onFailure: "block" }, options, {
    OnError: redact,
    PostToolUse: redact,
  });
}
