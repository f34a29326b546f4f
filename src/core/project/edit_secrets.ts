/**
 * The operator's values in `local.toml`, one at a time: set, removed, listed without what they are.
 *
 * @module
 */
import { editTomlTable } from "../documents/edit_toml.ts";
import { HostError } from "../errors/host_error.ts";
import { withHomeLock } from "../files/file_lock.ts";
import { replaceText } from "../files/replace_text.ts";
import { type Manifest, RECORD_KEYS } from "../manifest/manifest.ts";
import type { Runtime } from "../ports/ports.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { type LocalConfig, localConfigOf, openLocalFile } from "./local_config.ts";
import { originOf } from "./references.ts";

/** A file that its owner alone may read. */
const PRIVATE = 0o600;
const FOR_OTHERS = 0o077;

/** One value of the operator's. */
export interface SecretKey {
  /** The plugin's package. */
  readonly package: string;
  /** Field of its system_config_schema. */
  readonly key: string;
}

/** A value that the operator has set, or is asked for, without what it is. */
export interface ListedSecret extends SecretKey {
  /** Name of the installed plugin; null for values of a package that is not installed. */
  readonly plugin: string | null;
  /** Where the value comes from, such as `file:/run/secrets/x`; null when it is not set. */
  readonly from: string | null;
  /** Hosts that it goes to; null when the plugin itself gets it. */
  readonly hosts: readonly string[] | null;
  readonly required: boolean;
}

/** Returns the package that a command means by a package or by the name of an installed plugin. */
export function packageOf(text: string, { records }: Pick<LocalConfig, "records">): string {
  return records.get(text)?.package ?? text;
}

/**
 * Checks that a plugin takes such a value.
 *
 * @throws {HostError} `secret.unknown_key`, with the nearest key there is.
 */
export function checkSecretKey(key: string, { name, system_config_schema: schema }: Manifest): void {
  const fields = Object.keys(mapOf({ ...schema }, "properties"));
  if (fields.includes(key) || (schema !== undefined && fields.length === 0)) return;
  const known = fields.length > 0 ? `It takes: ${fields.join(", ")}` : "It takes no values of the operator";
  throw new HostError("secret.unknown_key", `Plugin "${name}" takes no ${shown(key)}`, {
    data: { plugin: name, key, known: fields },
    hint: didYouMean(key, fields, known),
  });
}

/**
 * Sets a value, or removes it (null), under the lock of the home; afterwards only the file's owner may read it. Returns
 * whether that changed the file. A package without a scope shares its table with the install record.
 *
 * @throws {HostError} `secret.reserved_key`, `local.*` or `install.busy`.
 */
export async function writeSecret(
  home: string,
  { package: pkg, key }: SecretKey,
  value: string | null,
  runtime: Runtime,
): Promise<boolean> {
  const { files, ids } = runtime;
  if (RECORD_KEYS.includes(key)) {
    throw new HostError("secret.reserved_key", `The host keeps ${shown(key)} for install records`, { data: { key } });
  }
  await files.makeDir(home, { recursive: true, mode: 0o700 });
  return await withHomeLock(home, runtime, async () => {
    const before = await openLocalFile(home, files);
    localConfigOf(before); // A file that is half written is left alone.
    const change = value === null ? { unset: [key] } : { set: { [key]: value } };
    const after = await editTomlTable(before, { table: ["plugins", pkg], ...change });
    localConfigOf(after);
    const { exists, report: { file: path } } = before;
    // The file behind a link is changed, and the link stays.
    const file = exists ? await files.realPath(path) : path;
    if (exists && ((await files.info(file))?.mode ?? 0) & FOR_OTHERS) await files.setMode(file, PRIVATE);
    if (after.text === before.text) return false;
    const texts = { before: exists ? before.text : null, text: after.text };
    await replaceText(file, { ...texts, code: "local.edit_refused" }, { files, ids });
    return true;
  });
}

/** Lists the values that are set, and those that installed plugins ask for. `manifests` are by the plugins' names. */
export function listSecrets(local: LocalConfig, manifests: ReadonlyMap<string, Manifest>): ListedSecret[] {
  const rows = new Map<string, ListedSecret>();
  const add = (row: ListedSecret): void => void rows.set(`${row.package}\0${row.key}`, row);
  for (const [name, manifest] of manifests) {
    const pkg = packageOf(name, local);
    const { system_config_schema: schema, secrets = {} } = manifest;
    const values = local.secrets.get(pkg)?.values ?? {};
    const required: unknown = schema?.required;
    for (const key of Object.keys({ ...mapOf({ ...schema }, "properties"), ...values })) {
      const from = Object.hasOwn(values, key) ? originOf(values[key]) : null;
      const hosts = secrets[key]?.hosts ?? null;
      const isRequired = Array.isArray(required) && required.includes(key);
      add({ package: pkg, key, plugin: name, from, hosts, required: isRequired });
    }
  }
  const known = new Set([...manifests.keys()].map((name) => packageOf(name, local)));
  for (const [pkg, { values }] of local.secrets) {
    if (known.has(pkg)) continue;
    for (const [key, value] of Object.entries(values)) {
      add({ package: pkg, key, plugin: null, from: originOf(value), hosts: null, required: false });
    }
  }
  return [...rows.values()];
}

/** Returns the files that values refer to, for a host that watches them. */
export function referredFiles({ secrets }: Pick<LocalConfig, "secrets">): string[] {
  const texts = [...secrets.values()].flatMap(({ values }) => leavesOf(values));
  return [...new Set(texts.flatMap((text) => /^file:(\/.*)$/s.exec(text)?.[1] ?? []))];
}

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
