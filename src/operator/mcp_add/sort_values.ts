/**
 * Sorts the settings of a server: plain values go into its manifest, secrets into the operator's file, and a setting that
 * nothing gives a value to is named.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { RECORD_KEYS } from "../../core/manifest/manifest.ts";
import { unlistedCredentials } from "../../core/manifest/secret_rules.ts";
import type { AskedValue, MissingValue, SecretNeed, SecretValue, SortedValues } from "./types.ts";

/** Texts as a wish has them, and everything they may refer to. */
export interface RawValues {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly asked: Readonly<Record<string, AskedValue>>;
  /** Folders and signs that texts refer to, such as `workspaceFolder`. */
  readonly known: Readonly<Record<string, string>>;
  /** Values that the operator has given by name, of variables or of {@link asked}. */
  readonly given: Readonly<Record<string, string>>;
  /** Variables that the operator calls secrets. */
  readonly secret: readonly string[];
  /** Reads a variable of the host's environment. */
  hostEnv(name: string): string | null;
}

const REFERENCE = /\$\{([^}]+)\}/g;
const ONE_REFERENCE = /^\$\{([^}]+)\}$/;
/** Beginnings that only credentials have, and texts that carry one. */
const CREDENTIAL_VALUE =
  /^(?:sk-|gh[opsu]_|github_pat_|xox[abpr]-|glpat-|AKIA|ya29\.|eyJ[A-Za-z0-9_-]{8,}\.)|\b(?:Bearer|Basic)\s+[^\s$"]{8,}/;
/** An address with a password in it. */
const PASSWORD_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;
/** Texts that people leave in a file where the value belongs. */
const STAND_IN = /^$|^<.*>$|^\[.*\]$|^x{3,}$|your[-_ ]|^\.{3}$|^changeme$/i;
/** Options whose value is a credential. */
const SECRET_OPTION = /^--?(?:[a-z-]*(?:api-?key|token|secret|password|access-?key))(?:=(.+))?$/i;

/** Whether a variable or header of this name usually holds a credential. */
export function looksSecret(name: string): boolean {
  if (/^authorization$|^cookie$/i.test(name)) return true;
  return unlistedCredentials({ system_config_schema: { properties: { [name]: {} } } }).length > 0;
}

/**
 * Sorts values.
 *
 * @throws {HostError} `mcp_add.secret_in_argument`: everybody on the machine can read the arguments of a program.
 */
export function sortValues(raw: RawValues): SortedValues {
  const missing: MissingValue[] = [];
  const fill = filler(raw, missing);
  const args = raw.args.map((text, index) => {
    refuseSecret(text, raw.args[index - 1], raw);
    return fill(text, text);
  });
  const secrets: SecretNeed[] = [];
  const plain = (texts: Readonly<Record<string, string>>, carry: (name: string, text: string) => SecretNeed) =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]): [string, string][] => {
        const given = Object.hasOwn(raw.given, name) ? raw.given[name]! : text;
        if (!isSecret(name, given, raw)) return [[name, fill(given, name)]];
        secrets.push(carry(name, given));
        return [];
      }),
    );
  const env = plain({ ...raw.env, ...added(raw) }, (name, text) => ({
    ...needOf(name, text, raw),
    carrier: { env: name },
  }));
  const headers = plain(raw.headers, (name, text) => {
    const [prefix = ""] = /^(?:Bearer|Basic|Token)\s+/i.exec(text) ?? [];
    return { ...needOf(name, text.slice(prefix.length), raw), carrier: { header: name, prefix } };
  });
  return { args, env, headers, secrets: withOwnKeys(secrets), missing };
}

/** Returns the variables that the operator adds to those of the wish. */
function added({ env, given, secret, headers, asked }: RawValues): Record<string, string> {
  const answers = new Set(Object.keys(asked).map((name) => name.replace(/^(?:input:|user_config\.)/, "")));
  const isVariable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !answers.has(name);
  const names = [...Object.keys(given), ...secret].filter((name) => isVariable(name) && !Object.hasOwn(env, name));
  const own = names.filter((name) => !Object.hasOwn(headers, name));
  return Object.fromEntries(own.map((name) => [name, given[name] ?? ""]));
}

function isSecret(name: string, text: string, { asked, secret }: RawValues): boolean {
  const refers = Array.from(text.matchAll(REFERENCE), ([, one]) => asked[one!]?.isSecret === true).includes(true);
  return secret.includes(name) || refers || looksSecret(name) || CREDENTIAL_VALUE.test(text) || PASSWORD_URL.test(text);
}

function needOf(name: string, text: string, { asked }: RawValues): Omit<SecretNeed, "carrier"> {
  const reference = ONE_REFERENCE.exec(text)?.[1];
  const value = reference === undefined ? undefined : asked[reference];
  const description = value?.description ?? `Value of ${name}.`;
  return { key: keyOf(name), description, isRequired: value?.isRequired ?? true, value: secretValue(text, asked) };
}

function secretValue(text: string, asked: RawValues["asked"]): SecretValue {
  const variable = ONE_REFERENCE.exec(text)?.[1]?.replace(/^env:/, "");
  if (variable !== undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
    return { kind: "reference", text: `\${${variable}}` };
  }
  const isOpen = STAND_IN.test(text) || text.match(REFERENCE) !== null ||
    (variable !== undefined && Object.hasOwn(asked, variable));
  return isOpen ? { kind: "unset" } : { kind: "literal", text };
}

function keyOf(name: string): string {
  const key = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "") || "secret";
  return RECORD_KEYS.includes(key) ? `${key}_value` : key;
}

/** Two variables that differ in case only would share a field. */
function withOwnKeys(secrets: readonly SecretNeed[]): SecretNeed[] {
  const taken = new Set<string>();
  return secrets.map((secret) => {
    let { key } = secret;
    for (let number = 2; taken.has(key); number++) key = `${secret.key}_${number}`;
    taken.add(key);
    return { ...secret, key };
  });
}

/** Returns a function that fills in what a text refers to, and takes down what nothing gives a value to. */
function filler({ asked, known, given, hostEnv }: RawValues, missing: MissingValue[]) {
  return (text: string, where: string): string =>
    text.replace(REFERENCE, (whole, expression: string) => {
      const [, name = expression, fallback] = /^(.+?):-(.*)$/s.exec(expression) ?? [];
      const short = name.replace(/^(?:env:|input:|user_config\.)/, "");
      const value = asked[name];
      const found = given[name] ?? given[short] ?? known[name] ?? value?.fallback ?? (value ? null : hostEnv(short)) ??
        fallback;
      if (found !== undefined && found !== null) return found;
      if (value?.isRequired !== false) missing.push({ where, name, description: value?.description ?? name });
      return value?.isRequired === false ? "" : whole;
    });
}

function refuseSecret(text: string, before: string | undefined, { asked }: RawValues): void {
  const refers = Array.from(text.matchAll(REFERENCE), ([, one]) => one!);
  const isAsked = refers.some((one) => asked[one]?.isSecret || looksSecret(one.replace(/^(?:env:|input:)/, "")));
  const option = SECRET_OPTION.exec(text)?.[1] !== undefined ? text.split("=")[0] : null;
  const behind = before !== undefined && SECRET_OPTION.test(before) && !before.includes("=") ? before : null;
  const isLiteral = CREDENTIAL_VALUE.test(text) || PASSWORD_URL.test(text);
  if (!isAsked && option === null && behind === null && !isLiteral) return;
  const which = option ?? behind ?? (isAsked ? refers[0] : "an argument");
  throw new HostError("mcp_add.secret_in_argument", `The secret of ${which} would stand in the command line`, {
    data: { argument: which },
    hint: "Take it out of the arguments, and pass the variable the server reads it from: --secret NAME=-",
  });
}
