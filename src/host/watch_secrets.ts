/**
 * Has a running host use secrets as they change: `local.toml` and the files that its values refer to are polled while a
 * plugin has a secret that is bound to hosts.
 *
 * @module
 */
import { messageOf } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { referredFiles } from "../core/project/edit_secrets.ts";
import { readLocalConfig } from "../core/project/local_config.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import { polling, stampOf } from "./polling.ts";

/** Time between two looks. */
export const SECRETS_LOOK_MS = 1_000;

/** The host whose plugins are watched over. */
export interface WatchSecretsOptions {
  readonly home: string;
  readonly runtime: Pick<Runtime, "files" | "clock">;
  /** Instances of the project as it is now. */
  readonly instances: () => readonly ResolvedInstance[];
  /** Has the processes of a plugin use the values of now. */
  readonly reread: (plugin: string) => Promise<void>;
  readonly warn: (message: string) => void;
}

/** A watch over the operator's values. */
export interface SecretWatch {
  /** Looks from now on, if any plugin has a bound secret. Safe to call again: when the project has changed. */
  begin(): void;
  /** Looks no more; resolves when no change is under way. */
  close(): Promise<void>;
}

/** Returns a watch that has not begun. */
export function watchSecrets({ home, runtime, instances, reread, warn }: WatchSecretsOptions): SecretWatch {
  const { files, clock } = runtime;
  const file = `${home}/local.toml`;
  let seen: string | null = null;
  let watched: readonly string[] = [file];
  const looks = polling(look, SECRETS_LOOK_MS, clock);

  const bound = (): string[] => {
    const isBound = ({ manifest: { secrets } }: ResolvedInstance): boolean =>
      secrets !== undefined && Object.values(secrets).some(({ hosts }) => hosts !== undefined);
    return [...new Set(instances().filter(isBound).map(({ plugin }) => plugin))];
  };

  async function look(): Promise<void> {
    const now = await stampOf(watched, files);
    const isFirst = seen === null;
    if (now === seen) return;
    // A file that cannot be read now is looked at again once it has changed.
    const local = await readLocalConfig(home, files).catch(() => null);
    if (local) watched = [file, ...referredFiles(local)];
    seen = await stampOf(watched, files);
    if (isFirst) return;
    for (const plugin of bound()) {
      await reread(plugin).catch((error) => warn(`Secrets of "${plugin}" stay as they were: ${messageOf(error)}`));
    }
  }

  return {
    begin() {
      if (bound().length > 0) looks.begin();
    },
    close: () => looks.close(),
  };
}
