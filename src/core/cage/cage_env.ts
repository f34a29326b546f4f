/**
 * The environment inside a cage.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** What the environment is made from. */
export interface CageEnvOptions {
  /** The plugin's folder as the cage shows it. */
  readonly installDir: string;
  /** What KAGED_LOG_LEVEL says. */
  readonly logLevel: string;
  /** Variables that the manifest may override: how programs find the network. */
  readonly proxy?: Readonly<Record<string, string>>;
}

/** Returns every variable a plugin sees: the manifest's on top of ours, its identity on top of all (K-047). */
export function cageEnv(
  manifest: Manifest,
  { installDir, logLevel, proxy = {} }: CageEnvOptions,
): Record<string, string> {
  for (const name of Object.keys(manifest.env)) {
    // The loader would obey these in each program the cage starts for itself.
    if (!name.startsWith("LD_") && /^[^=\0]+$/.test(name)) continue;
    throw new HostError("manifest.invalid", `Cannot set the variable ${JSON.stringify(name)} in a cage`, {
      data: { plugin: manifest.name, variable: name },
      hint: "Remove it from env in kaged-plugin.yaml",
    });
  }
  return {
    KAGED_LOG_LEVEL: logLevel,
    HOME: installDir,
    PATH: "/usr/bin:/usr/local/bin",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    DENO_DIR: "/tmp/.deno",
    DENO_NO_PROMPT: "1",
    DENO_NO_UPDATE_CHECK: "1",
    ...proxy,
    ...manifest.env,
    KAGED_PLUGIN_NAME: manifest.name,
    KAGED_PLUGIN_DIR: installDir,
    KAGED_API_VERSION: "1",
  };
}
