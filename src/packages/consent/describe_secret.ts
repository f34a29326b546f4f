/**
 * The operator's values that a plugin asks for, in plain words. Command, API and console show the same text.
 *
 * @module
 */
import type { Manifest } from "../../core/manifest/manifest.ts";
import { unlistedCredentials } from "../../core/manifest/secret_rules.ts";
import { mapOf } from "../../core/values/plain_data.ts";
import type { CapabilityDescription } from "./describe_capability.ts";

/** A value of the operator's in plain words. */
export interface SecretDescription {
  /** Field of the manifest's system_config_schema. */
  readonly key: string;
  /** For example `Uses your api_token at api.github.com:443, and never sees it`. */
  readonly text: string;
  /** Why to think twice, or null. */
  readonly danger: string | null;
}

/** Returns what becomes of each value that the operator is asked for, in the order of the manifest. */
export function describeSecrets(manifest: Manifest): SecretDescription[] {
  const { system_config_schema: schema, secrets = {} } = manifest;
  const credentials = unlistedCredentials(manifest);
  return Object.keys(mapOf({ ...schema }, "properties")).map((key) => {
    const { hosts, exposed, header } = Object.hasOwn(secrets, key) ? secrets[key]! : {};
    if (hosts?.length === 0) return { key, text: `Cannot use your ${key}: its hosts are withheld`, danger: null };
    if (hosts && manifest.url !== undefined) return { key, text: sentText(key, hosts, header), danger: null };
    if (hosts) return { key, text: `Uses your ${key} at ${listed(hosts)}, and never sees it`, danger: null };
    const text = exposed ? `Sees the secret itself: your ${key}` : `Sees your ${key}`;
    return { key, text, danger: exposed || credentials.includes(key) ? EXPOSED : null };
  });
}

/** A server elsewhere gets the value: that is what it is for. */
function sentText(key: string, hosts: readonly string[], header: string | undefined): string {
  const use = header === undefined ? "when the host logs in" : `in the field ${header} of each request`;
  return `Sends your ${key} to ${listed(hosts)}, ${use}`;
}

const EXPOSED = "It can keep the value and pass it on wherever it may connect";

const PREFIX = "secret:";

/** Returns `secret:<key>` for each value that another version would see and the version `before` never saw. */
export function exposedSince(before: Manifest, after: Manifest): string[] {
  const bound = Object.entries(before.secrets ?? {}).filter(([, { hosts }]) => hosts).map(([key]) => key);
  const seen = Object.keys(mapOf({ ...after.system_config_schema }, "properties"))
    .filter((key) => !(Object.hasOwn(after.secrets ?? {}, key) && after.secrets![key]!.hosts));
  return seen.filter((key) => bound.includes(key)).map((key) => `${PREFIX}${key}`);
}

/** Whether a text is one of {@link exposedSince}: granted by name as capabilities are. */
export function isExposure(text: string): boolean {
  return /^secret:[^\s:]{1,200}$/.test(text);
}

/** Returns one of {@link exposedSince} in plain words, in the shape of a capability. */
export function describeExposure(exposure: string): CapabilityDescription {
  const key = exposure.slice(PREFIX.length);
  return { capability: exposure, text: `Sees the secret itself, which it never saw: your ${key}`, danger: EXPOSED };
}

function listed(hosts: readonly string[]): string {
  return hosts.length === 1 ? hosts[0]! : `${hosts.slice(0, -1).join(", ")} and ${hosts.at(-1)}`;
}
