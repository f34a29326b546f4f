/**
 * Puts the values of secrets in the place of their placeholders in one request to one host, each encoded as its place
 * needs it.
 *
 * @module
 */
import type { BoundSecret } from "../bound_secret.ts";
import { utf8AsLatin1 } from "../bytes.ts";
import type { MisuseReason } from "../net_event.ts";
import type { Field } from "../request_head.ts";
import type { Credentials } from "./masks.ts";
import { type HostPort, misused } from "./refused.ts";
import type { Swap } from "./swap_bytes.ts";

const encoder = new TextEncoder();
const BASIC = /^(basic +)([A-Za-z0-9+/]+=*)$/i;
const TEXT_TYPE = /^(?:text\/.*|multipart\/form-data|application\/(?:.*[+.-])?(?:xml|yaml|graphql|javascript|ndjson))$/;
const JSON_TYPE = /^(?:application|text)\/(?:.+\+)?json$/;

/** Bytes of values in one body: a body full of placeholders must not become a hundred times as long. */
const MAX_FILLED_BYTES = 1024 * 1024;

/** Puts a value in the form in which it may stand at a place. */
type Encode = (value: string) => string;

const inUrl: Encode = (value) => encodeURIComponent(value);
const inJson: Encode = (value) => JSON.stringify(value).slice(1, -1);
const asIs: Encode = (value) => value;

/** A request's line and fields, with the values in place. */
export interface FilledHead {
  readonly path: string;
  readonly fields: readonly Field[];
  /** Basic credentials that hold a value now. */
  readonly credentials: readonly Credentials[];
}

/** The connection on which placeholders come. */
export interface PlaceholderOptions extends HostPort {
  /** Every secret of the cage, also those bound elsewhere. */
  readonly secrets: readonly BoundSecret[];
  /** Whether nobody on the way can read: TLS, or a connection that stays on this machine. */
  readonly isPrivate: boolean;
}

/** The secrets of one cage as one host may see them. */
export class Placeholders {
  readonly #options: PlaceholderOptions;

  constructor(options: PlaceholderOptions) {
    this.#options = options;
  }

  /** Whether there is anything to look for. */
  get isEmpty(): boolean {
    return this.#options.secrets.length === 0;
  }

  /** Returns the secrets that may go to this host on this connection. */
  bound(): BoundSecret[] {
    return this.#options.secrets.filter((secret) => this.#fault(secret) === null);
  }

  /** Throws a `RequestFailure` when a text that is not sent on holds a placeholder. */
  refuseIn(text: string, reason: MisuseReason = "wrong-place"): void {
    for (const secret of this.#options.secrets) {
      if (text.includes(secret.placeholder)) throw this.#misused(secret, this.#fault(secret) ?? reason);
    }
  }

  /** Fills the query and the values of fields. Throws a `RequestFailure` where a placeholder may not be. */
  inHead({ method, path, fields }: { method: string; path: string; fields: readonly Field[] }): FilledHead {
    if (this.isEmpty) return { path, fields, credentials: [] };
    const [place = "", ...query] = path.split("?");
    for (const text of [method, place, ...fields.map(([name]) => name)]) this.refuseIn(text);
    const credentials: Credentials[] = [];
    return {
      path: query.length === 0 ? place : `${place}?${this.#fill(query.join("?"), inUrl)}`,
      fields: fields.map(([name, value]) => {
        const basic = name.toLowerCase() === "authorization" ? this.#fillBasic(value) : value;
        if (basic !== value) credentials.push({ sent: basic.split(" ").at(-1)!, given: value.split(" ").at(-1)! });
        return [name, this.#fillField(basic)];
      }),
      credentials,
    };
  }

  /**
   * Returns the swaps for a body of a type. A placeholder past the bytes that are searched, `isOver`, stays as it is
   * and is given to `onLeft`.
   */
  inBody(type: string | null, { isOver, onLeft }: { isOver(): boolean; onLeft(name: string): void }): Swap[] {
    const encode = encodeFor(type);
    let room = MAX_FILLED_BYTES;
    return this.#options.secrets.map((secret) => {
      const find = encoder.encode(secret.placeholder);
      const put = (): Uint8Array => {
        const fault = this.#fault(secret);
        if (fault !== null) throw this.#misused(secret, fault);
        if (encode === null) throw this.#misused(secret, "content-type");
        const value = isOver() ? find : encoder.encode(encode(this.#value(secret)));
        room -= value.length;
        if (value !== find && room >= 0) return value;
        onLeft(secret.name);
        return find;
      };
      return { find, put };
    });
  }

  #fill(text: string, encode: Encode): string {
    let filled = text;
    for (const secret of this.#options.secrets) {
      if (text.includes(secret.placeholder)) {
        filled = filled.replaceAll(secret.placeholder, () => encode(this.#value(secret)));
      }
    }
    return filled;
  }

  #fillField(value: string): string {
    let secretName = "";
    const filled = this.#fill(value, utf8AsLatin1);
    if (filled === value || !/[\r\n\0]/.test(filled)) return filled;
    for (const { name, placeholder } of this.#options.secrets) if (value.includes(placeholder)) secretName = name;
    throw misused(secretName, this.#options, "unfit-value");
  }

  #fillBasic(value: string): string {
    const [, scheme, text] = BASIC.exec(value) ?? [];
    if (scheme === undefined || text === undefined) return value;
    const plain = fromBase64(text);
    const filled = plain === null ? null : this.#fill(plain, utf8AsLatin1);
    return filled === null || filled === plain ? value : `${scheme}${btoa(filled)}`;
  }

  #fault({ hosts }: BoundSecret): MisuseReason | null {
    const { host, port, isPrivate } = this.#options;
    if (!hosts.some((bound) => bound.host === host && bound.port === port)) return "other-host";
    return isPrivate ? null : "not-encrypted";
  }

  #value(secret: BoundSecret): string {
    const fault = this.#fault(secret);
    if (fault !== null) throw this.#misused(secret, fault);
    try {
      const value = secret.value();
      if (value !== "") return value;
    } catch {
      // A reference that leads nowhere is a secret without a value: the reader of references reports why.
    }
    throw this.#misused(secret, "no-value");
  }

  #misused({ name }: BoundSecret, reason: MisuseReason): Error {
    return misused(name, this.#options, reason);
  }
}

/** Null for a type in which a value of another length would break the body. */
function encodeFor(type: string | null): Encode | null {
  const essence = (type ?? "text/plain").split(";", 1)[0]!.trim().toLowerCase();
  if (JSON_TYPE.test(essence)) return inJson;
  if (essence === "application/x-www-form-urlencoded") return inUrl;
  return TEXT_TYPE.test(essence) ? asIs : null;
}

function fromBase64(text: string): string | null {
  try {
    return atob(text);
  } catch {
    return null;
  }
}
