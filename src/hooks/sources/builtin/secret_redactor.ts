/**
 * Built-in: secrets in the output of a tool never reach the model, nor the handlers after this one.
 *
 * @module
 */
import type { HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { redactJson } from "./redact.ts";

/** Secrets besides those of known shapes. */
export interface SecretRedactorOptions extends BuiltinOptions {
  /** Texts that are secret whatever they look like, of four characters or more. */
  readonly secrets?: readonly string[];
}

/** Returns the handler: `PostToolUse`, priority 5. Unless `onFailure` says otherwise, it blocks the output when it breaks. */
export function secretRedactor({ secrets = [], ...options }: SecretRedactorOptions = {}): HookRegistration[] {
  return builtin("secret-redactor", { priority: 5, onFailure: "block" }, options, {
    PostToolUse({ output, tool }) {
      if (output === undefined) return null;
      const { value, count } = redactJson(output, secrets);
      if (count === 0) return null;
      const warnings = [
        `${count} ${count === 1 ? "secret" : "secrets"} taken out of what ${tool?.name ?? "a tool"} returned`,
      ];
      return { action: "modify", modifiedOutput: value, warnings, metadata: { hookId: "secret-redactor" } };
    },
  });
}
