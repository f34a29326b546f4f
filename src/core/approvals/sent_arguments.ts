/**
 * Arguments that a person edited, as they are sent: the operator's secrets are back in their places.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import { invalid } from "./check_answer.ts";
import type { Args, AskedCall } from "./desk_types.ts";
import type { Approval } from "./types.ts";

/**
 * Returns the arguments that a person means who edited those of a request: where a value was left as it was shown, the
 * real one stands in for it, so that nobody sends the mask of a secret.
 *
 * @throws {HostError} `approval.answer_invalid`, or the error of the call's own check.
 */
export async function sentArguments(
  edited: Args,
  { arguments: shown, argumentsCut }: Pick<Approval, "arguments" | "argumentsCut">,
  { arguments: real, check }: Pick<AskedCall, "arguments" | "check">,
): Promise<Args> {
  if (argumentsCut) throw invalid("The arguments are too big to be edited", "Answer without arguments");
  const args = meant(edited, shown, real) as Args;
  const known = masksIn(real);
  const mask = masksIn(args).find((one) => !known.includes(one));
  if (mask !== undefined) {
    throw invalid(`The arguments hold ${mask}, which stands for a secret`, "Leave such a value where it was");
  }
  await check?.(args);
  return args;
}

function meant(edited: unknown, shown: unknown, real: unknown): unknown {
  if (Object.is(edited, shown)) return real;
  if (Array.isArray(edited) && Array.isArray(shown) && Array.isArray(real)) {
    return edited.map((item, at) => at < shown.length ? meant(item, shown[at], real[at]) : item);
  }
  if (!isMap(edited) || !isMap(shown) || !isMap(real)) return edited;
  return Object.fromEntries(
    Object.entries(edited).map(([key, item]) => {
      return [key, Object.hasOwn(shown, key) && Object.hasOwn(real, key) ? meant(item, shown[key], real[key]) : item];
    }),
  );
}

function masksIn(value: unknown): string[] {
  return JSON.stringify(value).match(/\[secret:[^\]]*\]/g) ?? [];
}
