/**
 * Reads `local.toml`: what is installed, and the secrets of plugins. It is the operator's, and never committed.
 *
 * @module
 */
import type { DocumentKind } from "../documents/document_report.ts";
import { Fields, FLAG, LIST, TEXT } from "../documents/fields.ts";
import type { DocumentPath, Place } from "../documents/places.ts";
import { openToml, parseToml, type TomlDocument } from "../documents/read_toml.ts";
import { formatCapability, parseCapability } from "../manifest/capability.ts";
import { RECORD_KEYS, RECORD_TEXTS } from "../manifest/manifest.ts";
import type { Files } from "../ports/ports.ts";
import { defined } from "../values/plain_data.ts";
import type { Issue } from "./types.ts";

const LOCAL_FILE = "local.toml";
const KIND: DocumentKind = { room: "local", title: LOCAL_FILE, maxBytes: 1024 * 1024 };

/** The record of an installed plugin: `[plugins.<name>]`. */
export interface InstallRecord {
  readonly name: string;
  /** Version that `kaged install` put there; absent for a table that holds secrets only. */
  readonly installed?: string;
  readonly version?: string;
  /** Hash of its folder as the operator agreed to it. */
  readonly hash?: string;
  /** Whether it serves every project. */
  readonly local: boolean;
  /** Whether the operator lets it run. */
  readonly enabled: boolean;
  /** The package it came from, when it is known. */
  readonly package?: string;
  /** Path or address it was installed from; `npm:…`, `mcpb:…` or `mcp+https:…` of an MCP server that was taken in. */
  readonly source?: string;
  /** Revision of MCP that a server spoke when it was taken in. */
  readonly protocol?: string;
  /** Ids of the projects it serves when it is not `local`. */
  readonly projects: readonly string[];
  /** Capabilities that the operator withholds, until one is granted by name. */
  readonly withheld: readonly string[];
  /** Hosts that the operator granted beyond the manifest, until one is withheld by name. */
  readonly added: readonly string[];
}

/** Values the operator set for a plugin: `[plugins."<package>"]`, variables not filled in yet. Holds secrets. */
export interface SystemValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** Returns the place of a value in the file. */
  placeOf(path: DocumentPath): Place;
}

/** The operator's file on this machine. */
export interface LocalConfig {
  /** The file, whether it exists or not. */
  readonly file: string;
  /** Installed plugins by name. */
  readonly records: ReadonlyMap<string, InstallRecord>;
  readonly secrets: ReadonlyMap<string, SystemValues>;
  /** Names of models by alias: `[models]`. */
  readonly models: ReadonlyMap<string, unknown>;
  /** Keys that are allowed and look like slips. */
  readonly warnings: readonly Issue[];
}

const PLUGIN_NAME = /^[a-z][a-z0-9-]*$/;

/**
 * Reads `local.toml` in the operator's folder. A file that is not there says nothing.
 *
 * @throws {HostError} `local.unreadable`, or `local.invalid` with every issue in `data.issues`.
 */
export async function readLocalConfig(home: string, files: Files): Promise<LocalConfig> {
  return localConfigOf(await openLocalFile(home, files));
}

/** Opens `local.toml` in the operator's folder for an editor. Throws as {@link readLocalConfig} does. */
export function openLocalFile(home: string, files: Files): ReturnType<typeof openToml> {
  return openToml(`${home}/${LOCAL_FILE}`, KIND, files);
}

/**
 * Reads the text of a `local.toml`; `file` names it in issues.
 *
 * @throws {HostError} `local.invalid`, with every issue in `data.issues`. No issue holds a value of the file.
 */
export async function parseLocalConfig(text: string, { file }: { readonly file: string }): Promise<LocalConfig> {
  return localConfigOf(await parseToml(text, file, KIND));
}

/** Returns the config in a document. Throws `local.invalid`. */
export function localConfigOf({ data, report }: TomlDocument): LocalConfig {
  const root = new Fields(data, [], report);
  root.expectKeys(["plugins", "models"], "warn");
  const records = new Map<string, InstallRecord>();
  const secrets = new Map<string, SystemValues>();
  const plugins = root.fields("plugins");
  for (const name of Object.keys(plugins.data)) {
    const table = plugins.fields(name);
    // A package without a scope has one table for both: its record and its secrets share no key.
    const isRecord = PLUGIN_NAME.test(name) && RECORD_KEYS.some((key) => table.has(key));
    if (isRecord) records.set(name, recordOf(name, table));
    const values = Object.entries(table.data).filter(([key]) => !(isRecord && RECORD_KEYS.includes(key)));
    if (values.length === 0) continue;
    const placeOf = (path: DocumentPath): Place => report.placeOf([...table.path, ...path], "value");
    secrets.set(name, { values: Object.fromEntries(values), placeOf });
  }
  const models = new Map(Object.entries(root.fields("models").data));
  report.throwErrors();
  return { file: report.file, records, secrets, models, warnings: report.warnings };
}

function recordOf(name: string, table: Fields): InstallRecord {
  const texts = RECORD_TEXTS.map((key) => [key, table.get(key, TEXT)]);
  return {
    name,
    ...defined(Object.fromEntries(texts)),
    local: table.get("local", FLAG) ?? false,
    enabled: table.get("enabled", FLAG) ?? false,
    projects: textsOf("projects", "Expected ids of projects", table),
    withheld: withheldIn(table),
    added: addedIn(table),
  };
}

/** Returns the withheld capabilities in their one spelling. One that cannot be read is an error: it would grant all. */
function withheldIn(table: Fields): string[] {
  const message = "Expected capabilities, as the manifest has them";
  const read = textsOf("withheld", message, table).map(parseCapability);
  if (!read.every(({ ok }) => ok)) table.error("wrong_type", "withheld", { message });
  return read.flatMap((one) => one.ok ? [formatCapability(one.capability)] : []);
}

/** Returns the added hosts in their one spelling. Nothing but a host can be added. */
function addedIn(table: Fields): string[] {
  const message = "Expected hosts, such as net:api.example.com:443";
  const read = textsOf("added", message, table).map(parseCapability);
  const hosts = read.flatMap((one) => {
    return one.ok && one.capability.kind === "net" && one.capability.scope === "host" ? [one.capability] : [];
  });
  if (hosts.length < read.length) table.error("wrong_type", "added", { message });
  return hosts.map(formatCapability);
}

function textsOf(key: string, message: string, table: Fields): string[] {
  const list = table.get(key, LIST) ?? [];
  if (!list.every(TEXT.fits)) table.error("wrong_type", key, { message });
  return list.filter(TEXT.fits);
}
