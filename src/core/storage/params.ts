/**
 * The parameters of a call, counted and typed. SQLite would take a missing one for NULL in silence.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { SqlValue } from "../ports/ports.ts";
import type { Rewritten } from "./sql/rewrite.ts";
import { fromWire } from "./values.ts";

const NONE: readonly SqlValue[] = [];

/** Returns the values to bind: an array in order, or an object by name (`:name`, `@name` and `$name` alike). */
export function bindParams(
  rewritten: Pick<Rewritten, "parameterCount" | "parameterNames">,
  params: unknown,
): readonly SqlValue[] {
  const { parameterCount, parameterNames } = rewritten;
  if (params === undefined || params === null) return expectCount(NONE, parameterCount);
  if (Array.isArray(params)) {
    expectCount(params, parameterCount);
    return parameterCount === 0 ? NONE : params.map((value, index) => fromWire(value, String(index + 1)));
  }
  if (typeof params !== "object") throw invalid('"params" must be an array or an object');
  return bindNames(params as Record<string, unknown>, parameterCount, parameterNames);
}

function bindNames(params: Record<string, unknown>, count: number, names: ReadonlyMap<string, number>): SqlValue[] {
  if (names.size < count) throw invalid("The statement has parameters without a name: send an array");
  const values: SqlValue[] = new Array(count).fill(null);
  const used = new Set<string>();
  for (const [written, number] of names) {
    const name = [written, written.slice(1)].find((each) => Object.hasOwn(params, each));
    if (name === undefined) throw invalid(`Parameter ${written} is missing`, written);
    values[number - 1] = fromWire(params[name], written);
    used.add(name);
  }
  const extra = Object.keys(params).find((name) => !used.has(name));
  if (extra !== undefined) throw invalid(`The statement has no parameter "${extra}"`, extra);
  return values;
}

function expectCount(params: readonly unknown[], count: number): readonly SqlValue[] {
  if (params.length === count) return params as readonly SqlValue[];
  throw invalid(
    params.length < count
      ? `Parameter ${params.length + 1} is missing: the statement takes ${count}, ${params.length} came`
      : `Parameter ${count + 1} is one too many: the statement takes ${count}, ${params.length} came`,
    String(Math.min(params.length, count) + 1),
  );
}

function invalid(message: string, parameter?: string): HostError {
  return new HostError("storage.params_invalid", message, parameter === undefined ? {} : { data: { parameter } });
}
