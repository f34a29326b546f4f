/**
 * What goes in and what comes out is held against the hook's contract, before anybody reads it.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { isPromise } from "./in_turn.ts";
import { jsonCopy } from "./json_copy.ts";
import type { HookContract, PayloadSchema } from "./types.ts";

const MAX_ISSUES = 10;

/** Throws `hook.input_invalid` when the contract does not take `input`. */
export function checkInput({ name, input: schema }: HookContract, input: unknown): void {
  const issues = schema ? issuesOf(schema, input) : [];
  if (issues.length > 0) throw invalidInput(name, issues);
}

/** Returns a copy of `input` as it would come back from JSON. Throws `hook.input_invalid` where it would not. */
export function jsonInput<T>({ name }: HookContract, input: T): T {
  try {
    return jsonCopy(input);
  } catch (error) {
    throw invalidInput(name, [messageOf(error)]);
  }
}

/** Throws `hook.output_invalid` when `who` may not answer with `output`. */
export function checkOutput({ name, output: schema }: HookContract, who: string, output: unknown): void {
  const issues = schema ? issuesOf(schema, output) : [];
  if (issues.length > 0) throw invalidOutput(name, who, issues);
}

/** Returns a copy of `output` as it would come back from JSON. Throws `hook.output_invalid` where it would not. */
export function jsonOutput<T>({ name }: HookContract, who: string, output: T): T {
  try {
    return jsonCopy(output);
  } catch (error) {
    throw invalidOutput(name, who, [messageOf(error)]);
  }
}

function invalidInput(hook: string, issues: readonly string[]): HostError {
  return new HostError("hook.input_invalid", `Cannot fire "${hook}": ${issues.join("; ")}`, {
    data: { hook, issues },
    hint: "Give it what its schema asks for",
  });
}

function invalidOutput(hook: string, who: string, issues: readonly string[]): HostError {
  return new HostError("hook.output_invalid", `"${who}" answered "${hook}" wrongly: ${issues.join("; ")}`, {
    data: { hook, participant: who, issues },
    hint: "Answer as the schema of the hook says",
  });
}

function issuesOf(schema: PayloadSchema, value: unknown): string[] {
  const verdict = schema["~standard"].validate(value);
  if (isPromise(verdict as object)) throw new TypeError("A hook's schema must answer at once");
  const { issues = [] } = verdict as Awaited<typeof verdict>;
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
  });
}
