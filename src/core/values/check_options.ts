/**
 * Checks the options that a program passes: a misspelt name or value is an error, and never a setting that is left out.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import { didYouMean } from "./nearest_word.ts";
import { isMap } from "./plain_data.ts";
import { shown } from "./shown_value.ts";

/** The values that an option may have. */
export interface OptionCheck {
  /** The values in words that follow "not": `a function`. */
  readonly wanted: string;
  fits(value: unknown): boolean;
}

/** The options of one object, each with its values or with options of its own. */
export type OptionChecks<T> = {
  readonly [Name in keyof Required<T>]: OptionCheck | { readonly fields: OptionChecks<NonNullable<T[Name]>> };
};

/** Any value: it is checked elsewhere. */
export const ANYTHING: OptionCheck = { wanted: "anything", fits: () => true };
/** A switch of the embedder. */
export const SWITCH: OptionCheck = { wanted: "true or false", fits: (value) => typeof value === "boolean" };
/** A text that is not empty. */
export const TEXT: OptionCheck = {
  wanted: "a text that is not empty",
  fits: (value) => typeof value === "string" && value !== "",
};
/** A function that the host calls. */
export const FUNCTION: OptionCheck = { wanted: "a function", fits: (value) => typeof value === "function" };
/** An object of any shape. */
export const OBJECT: OptionCheck = {
  wanted: "an object",
  fits: (value) => typeof value === "object" && value !== null,
};
/** A number above 0; `Infinity` is one. */
export const POSITIVE: OptionCheck = {
  wanted: "a number above 0",
  fits: (value) => typeof value === "number" && value > 0,
};

/** A text that is one of these words. */
export function oneOf(...words: readonly string[]): OptionCheck {
  return {
    wanted: words.map((word) => `"${word}"`).join(" or "),
    fits: (value) => words.includes(value as string),
  };
}

/** A list of values that one check takes. */
export function listOf({ wanted, fits }: OptionCheck): OptionCheck {
  return { wanted: `a list of which each is ${wanted}`, fits: (value) => Array.isArray(value) && value.every(fits) };
}

/** A map whose values one check takes. */
export function mapOf({ wanted, fits }: OptionCheck): OptionCheck {
  return {
    wanted: `a map of which each value is ${wanted}`,
    fits: (value) => isMap(value) && Object.values(value).every(fits),
  };
}

/**
 * Checks the options of `of`, such as `createHost()`; an option that is undefined is left out.
 *
 * @throws {HostError} of `code`, with every issue in `data.issues`.
 */
export function checkOptions<T extends object>(
  of: string,
  options: T,
  checks: OptionChecks<T>,
  code: HostErrorCode = "host.option_invalid",
): void {
  const issues = issuesIn(options, checks, "");
  const [first] = issues;
  if (!first) return;
  throw new HostError(code, `Cannot use the options of ${of}: ${issues.map(({ message }) => message).join("; ")}`, {
    data: { issues },
    hint: first.hint,
  });
}

interface OptionIssue {
  readonly option: string;
  readonly message: string;
  readonly hint: string;
}

type AnyChecks = Readonly<Record<string, OptionCheck | { readonly fields: AnyChecks }>>;

function issuesIn(options: object, checks: object, at: string): OptionIssue[] {
  const known = checks as AnyChecks;
  return Object.entries(options).flatMap(([name, value]): OptionIssue[] => {
    const option = `${at}${name}`;
    const check = Object.hasOwn(known, name) ? known[name]! : undefined;
    if (value === undefined) return [];
    if (!check) {
      const hint = didYouMean(name, Object.keys(known), `Options: ${Object.keys(known).join(", ")}`);
      return [{ option, message: `there is no option ${option}`, hint }];
    }
    if ("fields" in check) {
      if (isMap(value)) return issuesIn(value, check.fields, `${option}.`);
      return [{ option, message: `${option} is ${shown(value)}, not an object`, hint: `Pass an object as ${option}` }];
    }
    if (check.fits(value)) return [];
    return [{ option, message: `${option} is ${shown(value)}, not ${check.wanted}`, hint: `Pass ${check.wanted}` }];
  });
}
