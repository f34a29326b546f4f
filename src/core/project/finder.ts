/**
 * Each package of a project, found once.
 *
 * @module
 */
import { asHostError, type HostError } from "../errors/host_error.ts";
import type { LocalConfig } from "./local_config.ts";
import type { Locate, LocatedPlugin } from "./locate.ts";
import { type SystemSide, systemSide } from "./plugin_config.ts";
import type { Issue } from "./types.ts";

/** Sources a finder looks in. */
export interface FinderOptions {
  readonly locate: Locate;
  readonly local: LocalConfig;
  /** A variable of the host's environment, or null. */
  readonly env: (name: string) => string | null;
  /** Takes the warnings about manifests and secrets that are found. */
  readonly warnings: Issue[];
}

/** Finds each package once, however many agents declare it. */
export class Finder {
  readonly #options: FinderOptions;
  readonly #plugins = new Map<string, Promise<LocatedPlugin | HostError | null>>();
  readonly #systems = new Map<string, Promise<SystemSide>>();

  /** Looks where the options say; warnings of manifests are added to `warnings`. */
  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /** Returns the plugin of a package, null when it is not there, or why it cannot be used. */
  plugin(pkg: string): Promise<LocatedPlugin | HostError | null> {
    const { locate, warnings } = this.#options;
    return once(this.#plugins, pkg, () =>
      locate(pkg).then((found) => {
        warnings.push(...found?.warnings ?? []);
        return found;
      }, asHostError));
  }

  /** Returns the operator's side of a plugin's config. */
  system(pkg: string, { manifest }: LocatedPlugin): Promise<SystemSide> {
    const { local, env, warnings } = this.#options;
    const values = local.secrets.get(pkg);
    return once(this.#systems, pkg, async () => {
      const side = await systemSide(manifest, values, env);
      if (side.undeclared.length > 0) {
        const code = "project.undeclared_secrets";
        const message = `Plugin "${manifest.name}" declares no operator-side config: its values are not handed over`;
        const place = values!.placeOf([]);
        warnings.push({ code, message, file: local.file, ...place, path: "plugins", hint: "Remove them" });
      }
      return side;
    });
  }
}

function once<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
