/**
 * Secrets stay off the tape: the operator's part of a config is written as placeholders, and its values are replaced
 * wherever else they go over the wire.
 *
 * @module
 */
import type { Manifest } from "../../manifest/manifest.ts";
import { learnSecrets, secretFields } from "../../manifest/secret_fields.ts";
import { isMap } from "../../values/plain_data.ts";
import { placeholderOf, SecretMask } from "../../values/secret_mask.ts";
import type { TapeEntry, TapeMessage } from "./tape.ts";

const PLACEHOLDER = /^\[secret:([^\]]+)\]$/;
const PLACEHOLDERS = /\[secret:([^\]]+)\]/g;

/** Replaces the secrets of every config it has seen, and those that `others` has learned elsewhere in the host. */
export class SecretKeeper {
  readonly #manifest: Manifest;
  readonly #isSecret: (field: string) => boolean;
  readonly #own = new SecretMask();
  readonly #others: SecretMask;

  constructor(manifest: Manifest, others: SecretMask = new SecretMask()) {
    this.#manifest = manifest;
    const isSecret = secretFields(manifest);
    // Of a bound secret the plugin gets a placeholder, which is none: a replay sends it as it is.
    this.#isSecret = (field) => isSecret(field) && !manifest.secrets?.[field]?.hosts;
    this.#others = others;
  }

  /** Returns a message without the secrets it, or a config before it, carries. */
  hide(message: TapeMessage): TapeMessage {
    const config = configOf(message);
    if (config) learnSecrets(this.#own, this.#manifest, withoutBound(this.#manifest, config));
    const hidden = mapBody(message, (value) => this.#others.value(this.#own.value(value)));
    if (config === null) return hidden;
    return withConfig(hidden, (field, value) => this.#isSecret(field) ? placeholderOf(field) : value);
  }

  /** Returns a text without the secrets seen so far. */
  hideText(text: string): string {
    return this.#others.text(this.#own.text(text));
  }
}

function withoutBound({ secrets = {} }: Manifest, config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([field]) => !secrets[field]?.hosts));
}

/** Returns the config fields of a tape whose values must be given again. */
export function neededSecrets(entries: readonly TapeEntry[]): string[] {
  const needed = new Set<string>();
  for (const entry of entries) {
    if (!("message" in entry) || entry.from !== "host") continue;
    for (const [field, value] of Object.entries(configOf(entry.message) ?? {})) {
      if (value === placeholderOf(field)) needed.add(field);
    }
  }
  return [...needed];
}

/** Puts given values where a host's message has placeholders. */
export function revealSecrets(message: TapeMessage, given: Readonly<Record<string, unknown>>): TapeMessage {
  const revealed = configOf(message) === null ? message : withConfig(message, (_, value) => {
    const field = typeof value === "string" ? PLACEHOLDER.exec(value)?.[1] : undefined;
    return field !== undefined && Object.hasOwn(given, field) ? given[field] : value;
  });
  return mapBody(revealed, (value) =>
    mapTexts(value, (text) => {
      const whole = PLACEHOLDER.exec(text)?.[1];
      if (whole !== undefined && typeof given[whole] === "number") return given[whole];
      return text.replace(PLACEHOLDERS, (placeholder, field) => {
        const value = Object.hasOwn(given, field) ? given[field] : undefined;
        return typeof value === "string" || typeof value === "number" ? String(value) : placeholder;
      });
    }));
}

/** The config that a message carries, or null. */
function configOf({ method, params }: TapeMessage): Readonly<Record<string, unknown>> | null {
  if (method === "config.update") return record(params);
  return method === "projects.activated" ? record(record(params)?.config) : null;
}

function withConfig(message: TapeMessage, change: (field: string, value: unknown) => unknown): TapeMessage {
  const config = Object.fromEntries(
    Object.entries(configOf(message)!).map(([field, value]) => [field, change(field, value)]),
  );
  return { ...message, params: message.method === "config.update" ? config : { ...record(message.params), config } };
}

function record(value: unknown): Readonly<Record<string, unknown>> | null {
  return isMap(value) ? value : null;
}

/** Changes the values of a message, but for the two that make it one. */
function mapBody({ jsonrpc, method, ...body }: TapeMessage, change: (value: unknown) => unknown): TapeMessage {
  const changed = Object.entries(body).map(([name, value]) => [name, change(value)]);
  const head = { ...(jsonrpc !== undefined && { jsonrpc }), ...(method !== undefined && { method }) };
  return { ...head, ...Object.fromEntries(changed) };
}

/** Copies a JSON value with every text in it changed, names of fields too. */
function mapTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [String(change(name)), mapTexts(item, change)]),
  );
}
