/**
 * The operator's secrets of one plugin instance. A secret that is bound to hosts stays in the host: the processes of the
 * instance get a placeholder, which the gatekeeper of their cage replaces in requests to those hosts.
 *
 * @module
 */
import { speaksMcp } from "../manifest/speaks_mcp.ts";
import type { CageRequest } from "../cage/cage.ts";
import type { BoundSecret } from "../cage/net/bound_secret.ts";
import type { Manifest, ManifestSecret } from "../manifest/manifest.ts";
import { learnSecrets } from "../manifest/secret_fields.ts";
import { hostAndPort } from "../manifest/secret_rules.ts";
import { canonicalText } from "../values/canonical_text.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type { PluginSource } from "./plugin_source.ts";

/** A plugin's config with the operator's values in it. */
export type Config = Readonly<Record<string, unknown>>;

const RANDOM_BYTES = 16;

/** Makes the placeholders of an instance and keeps them: a process that takes over has those of the one before. */
export class InstanceSecrets {
  readonly #mask: SecretMask;
  readonly #placeholders = new Map<string, string>();

  /** `mask` learns every value before a process can repeat it. */
  constructor(mask: SecretMask) {
    this.#mask = mask;
  }

  /** Returns the source of a process whose config is what `config` returns, at its start and later. */
  inSource(source: PluginSource, config: () => Config): PluginSource {
    return {
      spec: source.spec,
      prepare: async () => this.inCage(await source.prepare(), config),
      manifest: () => source.manifest(),
      contentHash: () => source.contentHash(),
    };
  }

  /** Returns the request for a cage of such a process. */
  inCage(request: CageRequest, config: () => Config): CageRequest {
    const { manifest } = request;
    this.learn(manifest, config());
    const secrets = listed(manifest).filter(([, { hosts }]) => hosts).map(([name, { hosts }]): BoundSecret => ({
      name,
      placeholder: this.#placeholder(name),
      hosts: hosts!.map(hostAndPort),
      value: () => String(config()[name] ?? ""),
    }));
    const outward = this.#replaced(manifest, config());
    const variables = listed(manifest).flatMap(([name, { env }]) => {
      return env !== undefined && Object.hasOwn(outward, name) ? [[env, String(outward[name])]] : [];
    });
    return { ...request, env: Object.fromEntries(variables), secrets };
  }

  /** Hides the values of `config` from now on. */
  learn(manifest: Manifest, config: Config): void {
    learnSecrets(this.#mask, manifest, config);
  }

  /** Returns the config as a process gets it: placeholders in it, and for an MCP server no secret, as it takes none. */
  outward(manifest: Manifest, config: Config): Config {
    const replaced = this.#replaced(manifest, config);
    if (!speaksMcp(manifest)) return replaced;
    const { secrets = {} } = manifest;
    return Object.fromEntries(Object.entries(replaced).filter(([name]) => !Object.hasOwn(secrets, name)));
  }

  /** Whether two configs differ only in values that no process sees: the gatekeeper uses the new ones at once. */
  isHiddenChange(manifest: Manifest, before: Config, after: Config): boolean {
    if (manifest.secrets === undefined || canonicalText(before) === canonicalText(after)) return false;
    return canonicalText(this.outward(manifest, before)) === canonicalText(this.outward(manifest, after));
  }

  #replaced(manifest: Manifest, config: Config): Config {
    const bound = listed(manifest).filter(([name, { hosts }]) => hosts && Object.hasOwn(config, name));
    return { ...config, ...Object.fromEntries(bound.map(([name]) => [name, this.#placeholder(name)])) };
  }

  #placeholder(name: string): string {
    const known = this.#placeholders.get(name) ?? newPlaceholder();
    this.#placeholders.set(name, known);
    return known;
  }
}

/** Returns a text that stands for a secret and says nothing about it. */
function newPlaceholder(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return `kaged_secret_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function listed({ secrets = {} }: Manifest): [string, ManifestSecret][] {
  return Object.entries(secrets);
}
