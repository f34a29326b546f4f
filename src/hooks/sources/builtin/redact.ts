/**
 * Takes secrets out of text and data. Every pattern is linear, so that long and hostile text costs only its length.
 *
 * @module
 */

/** A text without its secrets. */
export interface RedactedText {
  /** The text, with a mark in place of each secret. */
  readonly text: string;
  /** How many secrets were taken out. */
  readonly count: number;
}

/** Plain data without its secrets. */
export interface RedactedJson extends Pick<RedactedText, "count"> {
  /** A copy, with a mark in place of each secret. */
  readonly value: unknown;
}

/** The shapes of secrets, and the name that the mark gives them. */
const SHAPES: readonly [RegExp, string][] = [
  // The title of a key is short. A key that never ends takes the rest of the text with it, so each text is read once.
  [/-----BEGIN [^]{0,29}?PRIVATE KEY-----[^]*?(PRIVATE KEY-----|$)/g, "private key"],
  [/(?<![\w-])(AKIA|ASIA)[0-9A-Z]{16}(?![\w-])/g, "AWS key"],
  [/(?<![\w-])gh[pousr]_[A-Za-z0-9]{20,255}/g, "GitHub token"],
  [/(?<![\w-])github_pat_\w{20,255}/g, "GitHub token"],
  [/(?<![\w-])glpat-[\w-]{16,255}/g, "GitLab token"],
  [/(?<![\w-])xox[abeoprs]-[\w-]{10,255}/g, "Slack token"],
  [/(?<![\w-])AIza[\w-]{35}/g, "Google key"],
  [/(?<![\w-])(sk|rk|pk)[-_](live|test|proj|ant)[-_][\w-]{10,255}/g, "API key"],
  [/(?<![\w-])sk-[A-Za-z0-9]{20,255}/g, "API key"],
  [/(?<![\w-])npm_[A-Za-z0-9]{30,255}/g, "npm token"],
  [/(?<![\w-])hf_[A-Za-z0-9]{20,255}/g, "Hugging Face token"],
  // Keys of Azure carry a mark of their service; client secrets of Entra ID have "Q~" behind a digit.
  [/(?<![\w+/])[A-Za-z0-9+/]{76}(APIM|ACDb|\+(ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]==/g, "Azure key"],
  [/(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/g, "Azure secret"],
  // The token starts where no part of one stands before it, so each is looked at once.
  [/(?<![\w.-])eyJ[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{8,4000}/g, "JWT"],
];
/** In `Bearer …`, `https://user:password@…` and `password = …` the secret follows a word that gives it away. */
const BEARER = /\b(bearer|basic)( {1,3})([\w.~+/=-]{16,4000})/gi;
/** A shared access signature of Azure is a parameter of an address. */
const SIGNATURE = /([?&]sig=)([\w%+/=-]{20,200})/g;
const IN_URL = /(:\/\/[^\s:/@]{1,200}:)([^\s:/@]{1,200})@/g;
const ASSIGNED =
  /(password|passwd|secret|token|(?:api|access|account|private)[_-]?key)(["']?[ \t]{0,4}[:=][ \t]{0,4})(["']?)([^\s"',;]{6,4000})/gi;
const LOOKS_SECRET = /[\d!@#$%^&*+/=_-]/;
const SECRET_KEY = /^(.*[_-])?(password|passwd|secret|token|(api|access|account|private)[_-]?key|authorization)$/i;
/** Of the tokens in camelCase only these: `nextPageToken` is needed to read on. */
const SECRET_CAMEL_KEY =
  /[a-z0-9](Password|Passwd|Secret|(Api|Access|Account|Private)Key)$|([aA](uth|ccess|pi)|[rR]efresh|[sS]ession|[bB]ot)Token$/;

/** Returns `text` with `[redacted: …]` in place of what looks like a secret, or is one of `secrets`. */
export function redactText(text: string, secrets: readonly string[] = []): RedactedText {
  let count = 0;
  const mark = (what: string): string => (count++, `[redacted: ${what}]`);
  let left = text;
  for (const secret of secrets) if (secret.length >= 4) left = left.replaceAll(secret, () => mark("secret"));
  for (const [shape, what] of SHAPES) left = left.replace(shape, () => mark(what));
  left = left.replace(BEARER, (_, word: string, blank: string) => `${word}${blank}${mark("credentials")}`);
  left = left.replace(SIGNATURE, (_, before: string) => `${before}${mark("signature")}`);
  left = left.replace(IN_URL, (_, before: string) => `${before}${mark("password")}@`);
  left = left.replace(ASSIGNED, (all, word: string, sign: string, quote: string, value: string) => {
    if (!LOOKS_SECRET.test(value) || value.startsWith("[redacted:")) return all;
    return `${word}${sign}${quote}${mark(word.toLowerCase())}`;
  });
  return { text: left, count };
}

/**
 * Like {@link redactText} for every text in plain data, the keys of its maps too; a field whose key names a secret loses
 * its text whole.
 */
export function redactJson(value: unknown, secrets: readonly string[] = []): RedactedJson {
  let count = 0;
  const visit = (each: unknown): unknown => {
    if (typeof each === "string") {
      const redacted = redactText(each, secrets);
      count += redacted.count;
      return redacted.text;
    }
    if (Array.isArray(each)) return each.map(visit);
    if (typeof each !== "object" || each === null) return each;
    const fields = new Map<string, unknown>();
    for (const [key, field] of Object.entries(each)) {
      const isSecret = typeof field === "string" && field.length >= 4 && isSecretKey(key);
      if (isSecret) count++;
      fields.set(freeKey(visit(key) as string, fields), isSecret ? `[redacted: ${key.toLowerCase()}]` : visit(field));
    }
    return Object.fromEntries(fields);
  };
  return { value: visit(value), count };
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key) || SECRET_CAMEL_KEY.test(key);
}

/** Two secrets that are keys of one map get one mark: the second is numbered, so that no field is lost. */
function freeKey(key: string, fields: ReadonlyMap<string, unknown>): string {
  let free = key;
  for (let number = 2; fields.has(free); number++) free = `${key} ${number}`;
  return free;
}
