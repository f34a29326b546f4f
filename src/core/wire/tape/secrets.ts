/**
 * Secrets stay off the tape: the operator's part of a config is written as placeholders, and its values are replaced
 * wherever else they go over the wire.
 *
 * @module
 */
import type { Manifest } from "../../manifest/manifest.ts";
import { isMap } from "../../values/plain_data.ts";
import type { TapeEntry, TapeMessage } from "./tape.ts";

/** Shorter texts are hidden in the config only: elsewhere they may be anything. */
const MIN_CHARS = 4;
const PLACEHOLDER = /^\[secret:([^\]]+)\]$/;
const PLACEHOLDERS = /\[secret:([^\]]+)\]/g;

/** The text that replaces the secret of a config field on a tape. */
function placeholderOf(field: string): string {
  return `[secret:${field}]`;
}

/** Returns whether a config field is the operator's, and so a secret. */
export function secretFields({ config_schema, system_config_schema }: Manifest): (field: string) => boolean {
  if (system_config_schema === undefined) return () => false;
  const project = (config_schema?.properties ?? {}) as Readonly<Record<string, unknown>>;
  return (field) => !Object.hasOwn(project, field);
}

/** Replaces the secrets of every config it has seen. */
export class SecretKeeper {
  readonly #isSecret: (field: string) => boolean;
  /** Secret → its placeholder. */
  readonly #placeholders = new Map<string, string>();
  #pattern: RegExp | null = null;

  constructor(isSecret: (field: string) => boolean) {
    this.#isSecret = isSecret;
  }

  /** Returns a message without the secrets it, or a config before it, carries. */
  hide(message: TapeMessage): TapeMessage {
    const config = configOf(message);
    for (const [field, value] of Object.entries(config ?? {})) if (this.#isSecret(field)) this.#learn(field, value);
    const hidden = this.#pattern === null ? message : mapBody(message, (text) => this.hideText(text));
    if (config === null) return hidden;
    return withConfig(hidden, (field, value) => this.#isSecret(field) ? placeholderOf(field) : value);
  }

  /** Returns a text without the secrets seen so far. */
  hideText(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, (secret) => this.#placeholders.get(secret)!);
  }

  #learn(field: string, value: unknown): void {
    const before = this.#placeholders.size;
    for (const text of textsIn(value)) {
      if (text.length >= MIN_CHARS && !this.#placeholders.has(text)) this.#placeholders.set(text, placeholderOf(field));
    }
    if (this.#placeholders.size === before) return;
    // All in one pass, or a placeholder could be taken for a secret; the longest first, as one may hold another.
    const texts = [...this.#placeholders.keys()].sort((one, other) => other.length - one.length);
    this.#pattern = new RegExp(texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
  }
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
  return mapBody(revealed, (text) =>
    text.replace(PLACEHOLDERS, (placeholder, field) => {
      const value = Object.hasOwn(given, field) ? given[field] : undefined;
      return typeof value === "string" ? value : placeholder;
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

/** Changes the texts of a message, but for the two that make it one. */
function mapBody({ jsonrpc, method, ...body }: TapeMessage, change: (text: string) => string): TapeMessage {
  const changed = Object.entries(body).map(([name, value]) => [name, mapTexts(value, change)]);
  const head = { ...(jsonrpc !== undefined && { jsonrpc }), ...(method !== undefined && { method }) };
  return { ...head, ...Object.fromEntries(changed) };
}

/** Every text of a JSON value, names of fields left out. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Copies a JSON value with every text in it changed, names of fields too. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]));
}
