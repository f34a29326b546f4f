/**
 * Holds the input and the answers of a hook against its contract, before anything else reads them.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { isPromise } from "./in_turn.ts";
import { jsonCopy } from "../../core/values/json_copy.ts";
import type { DispatchClass, HookContract, PayloadSchema } from "./types.ts";

const MAX_ISSUES = 10;

/** The function that dispatches each class. */
const DISPATCHERS: Readonly<Record<DispatchClass, string>> = {
  singleton: "dispatchSingleton",
  broadcast_collect: "dispatchCollect",
  broadcast_notify: "dispatchNotify",
  chain: "dispatchChain",
  capability: "dispatchCapability",
};

/** Throws `hook.wrong_class` when the contract is of another class than `wanted`. */
export function checkClass({ name, dispatch }: HookContract, wanted: DispatchClass): void {
  if (dispatch === wanted) return;
  throw new HostError("hook.wrong_class", `Cannot dispatch "${name}" as ${wanted}: its class is ${dispatch}`, {
    data: { hook: name, class: dispatch, wanted },
    hint: Object.hasOwn(DISPATCHERS, dispatch)
      ? `Use ${DISPATCHERS[dispatch]}`
      : `The classes are ${Object.keys(DISPATCHERS).join(", ")}`,
  });
}

/** Throws `hook.input_invalid` when the contract does not take `input`. */
export function checkInput({ name, input: schema }: HookContract, input: unknown): void {
  const issues = issuesOf(schema, input);
  if (issues.length > 0) throw inputError(name, issues);
}

/** Throws `hook.output_invalid` when the participant `who` may not answer with `output`. */
export function checkOutput({ name, output: schema }: HookContract, who: string, output: unknown): void {
  const issues = issuesOf(schema, output);
  if (issues.length > 0) throw outputError(name, who, issues);
}

/** Returns a copy of `input` as it would come back from JSON. Throws `hook.input_invalid` where it would not. */
export function jsonInput<T>({ name }: HookContract, input: T): T {
  return copied(input, (issues) => inputError(name, issues));
}

/** Returns a copy of `output` as it would come back from JSON. Throws `hook.output_invalid` where it would not. */
export function jsonOutput<T>({ name }: HookContract, who: string, output: T): T {
  return copied(output, (issues) => outputError(name, who, issues));
}

function copied<T>(value: T, refusal: (issues: readonly string[]) => HostError): T {
  try {
    return jsonCopy(value);
  } catch (error) {
    throw refusal([messageOf(error)]);
  }
}

function inputError(hook: string, issues: readonly string[]): HostError {
  return new HostError("hook.input_invalid", `Cannot fire "${hook}": ${issues.join("; ")}`, {
    data: { hook, issues },
    hint: "Follow the input schema of the hook",
  });
}

function outputError(hook: string, who: string, issues: readonly string[]): HostError {
  return new HostError("hook.output_invalid", `"${who}" answered "${hook}" wrongly: ${issues.join("; ")}`, {
    data: { hook, participant: who, issues },
    hint: "Answer as the schema of the hook says",
  });
}

function issuesOf(schema: PayloadSchema | undefined, value: unknown): string[] {
  if (!schema) return [];
  const verdict = schema["~standard"].validate(value);
  if (isPromise(verdict as object)) throw new TypeError("A hook's schema must answer at once");
  const { issues = [] } = verdict as Awaited<typeof verdict>;
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const keys = path.map((part) => String((part as { key?: unknown } | null)?.key ?? part));
    return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
  });
}
