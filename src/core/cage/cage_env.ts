/**
 * The environment inside a cage.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { readCapabilities } from "../manifest/capability.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** Values of variables that differ between cages. */
export interface CageEnvOptions {
  /** The plugin's folder as the cage shows it. */
  readonly installDir: string;
  readonly logLevel: string;
  /** Folder behind `config:/`: set for a plugin that was granted something there. */
  readonly configDir: string;
  /** Folder behind `project:/`, or null: set likewise. */
  readonly projectDir: string | null;
  /** Variables that the manifest may override: how programs find the network. */
  readonly proxy?: Readonly<Record<string, string>>;
}

/** Returns every variable a plugin sees: the manifest's on top of ours, its identity on top of all (K-047). */
export function cageEnv(manifest: Manifest, options: CageEnvOptions): Record<string, string> {
  const { installDir, logLevel, proxy = {} } = options;
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
    ...folderEnv(manifest, options),
    KAGED_PLUGIN_NAME: manifest.name,
    KAGED_PLUGIN_DIR: installDir,
    KAGED_API_VERSION: "1",
  };
}

/** Where the prefixes of granted paths lead: a plugin whose config names `config:/x` could not find it otherwise. */
function folderEnv({ capabilities }: Manifest, { configDir, projectDir }: CageEnvOptions): Record<string, string> {
  const isGranted = (prefix: string): boolean =>
    readCapabilities(capabilities).some((asked) => "path" in asked && asked.path.startsWith(prefix));
  return {
    ...(isGranted("config:/") ? { KAGED_CONFIG_DIR: configDir } : {}),
    ...(projectDir !== null && isGranted("project:/") ? { KAGED_PROJECT_DIR: projectDir } : {}),
  };
}
