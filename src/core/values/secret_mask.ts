/**
 * Hides the operator's secrets in everything that leaves the host for people: audit, logs, tapes, errors, HTTP answers
 * and the command's output. It prevents accidents; a plugin that means to leak a secret can always write it another way.
 *
 * @module
 */

/** Shorter texts may be anything, so they are hidden in the config itself and nowhere else. */
const MIN_CHARS = 4;
/** Numbers with fewer digits may be ports, sizes and years; a secret of digits that is written as text has no such floor. */
const MIN_DIGITS = 6;
/** A line of a secret with several lines, such as a key, is hidden by itself from this length on: logs go by lines. */
const MIN_LINE_CHARS = 8;

/** Texts that are settings, not secrets, and stand in many logs. Compared without regard to case. */
const COMMON: ReadonlySet<string> = new Set(
  [
    "true false null none auto default always never yes enabled disabled allow deny",
    "user admin root guest test demo example sample local localhost host server client public private",
    "http https tcp json yaml toml text utf8 utf-8 info debug warn warning error trace",
    "dev prod development production staging main master latest stable small medium large",
  ].flatMap((words) => words.split(" ")),
);

/** Returns the text that stands where the secret of a config field was. */
export function placeholderOf(field: string): string {
  return `[secret:${field}]`;
}

/** Replaces secrets that it has learned. */
export class SecretMask {
  /** Secret, in each way it may be written → its placeholder. */
  readonly #placeholders = new Map<string, string>();
  readonly #numbers = new Map<number, string>();
  #pattern: RegExp | null = null;
  /** How often it has learned: a text that was masked before may hold what it has learned since. */
  learned = 0;

  /** Whether nothing was learned, so that nothing can be hidden. */
  get isEmpty(): boolean {
    return this.#pattern === null;
  }

  /** Learns the texts and numbers in the value of a config field, however deep; too short and common ones are left out. */
  learn(field: string, value: unknown): void {
    const before = this.#placeholders.size;
    for (const secret of leavesOf(value)) this.#add(secret, placeholderOf(field));
    if (this.#placeholders.size === before) return;
    this.learned++;
    // All in one pass, or a placeholder could be taken for a secret; the longest first, as one may hold another.
    const texts = [...this.#placeholders.keys()].sort((one, other) => other.length - one.length);
    this.#pattern = new RegExp(texts.map(patternOf).join("|"), "g");
  }

  /** Returns a text without the secrets. */
  text(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, (secret) => this.#placeholders.get(secret)!);
  }

  /** Returns a JSON value without the secrets, names of fields included; the same value where there are none. */
  value<T>(value: T): T {
    return this.#pattern === null ? value : this.#hide(value) as T;
  }

  #add(secret: string | number, placeholder: string): void {
    if (typeof secret === "number") {
      if (String(secret).replace(/\D/g, "").length < MIN_DIGITS) return;
      this.#numbers.set(secret, placeholder);
    } else if (secret.trim().length < MIN_CHARS || COMMON.has(secret.trim().toLowerCase())) return;
    const text = String(secret);
    const ways = [text, text.trim(), JSON.stringify(text).slice(1, -1), asAddress(text)];
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    if (lines.length > 1) {
      ways.push(...lines.filter((line) => line.length >= MIN_LINE_CHARS && !line.startsWith("-----")));
    }
    for (const way of ways) if (way !== null && !this.#placeholders.has(way)) this.#placeholders.set(way, placeholder);
  }

  #hide(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.#numbers.get(value) ?? value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#hide(item));
      return items.every((item, at) => Object.is(item, value[at])) ? value : items;
    }
    const entries = Object.entries(value);
    const hidden = entries.map(([name, item]) => [this.text(name), this.#hide(item)] as const);
    const isSame = entries.every(([name, item], at) => name === hidden[at]![0] && Object.is(item, hidden[at]![1]));
    return isSame ? value : Object.fromEntries(hidden);
  }
}

/** Returns the text as part of an address, or null where it cannot be one: half a surrogate pair. */
function asAddress(text: string): string | null {
  try {
    return encodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A secret that ends in digits is not part of a longer number. */
function patternOf(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  return /^\d+$/.test(text) ? `(?<!\\d)${literal}(?!\\d)` : literal;
}

/** Every text and number of a JSON value, names of fields left out. */
function leavesOf(value: unknown): (string | number)[] {
  if (typeof value === "string" || typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
