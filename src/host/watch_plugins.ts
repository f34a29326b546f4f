/**
 * Reloads plugins when their files change, for whoever writes them. The files are looked at again and again: what
 * systems tell of changes differs with the runtime, the file system and the way an editor saves.
 *
 * @module
 */
import { asHostError, type HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { authoredState, ownWrites } from "./authored_files.ts";
import type { Host } from "./types.ts";

/** What came of a change. */
export type WatchReport =
  /** The plugin runs with its new files. */
  | {
    readonly kind: "reloaded";
    readonly plugin: string;
    readonly version: string;
    readonly tookMs: number;
    /** Capabilities it has now and had not before. */
    readonly gained: readonly string[];
  }
  /** It does not; where one ran before, that one goes on. */
  | { readonly kind: "failed"; readonly plugin: string; readonly error: HostError };

/** What is watched. */
export interface WatchPluginsOptions {
  /** The host that runs them. */
  readonly host: Pick<Host, "reload" | "plugins" | "view">;
  /** Package → folder, absolute. */
  readonly plugins: Readonly<Record<string, string>>;
  /** Files and time. */
  readonly runtime: Pick<Runtime, "files" | "clock">;
  /** Hears what came of each change. */
  readonly onReport: (report: WatchReport) => void;
}

/** Folders whose files are known. */
export interface PluginWatch {
  /** Looks for changes from now on: to be called when the host has started. */
  begin(): void;
  /** Looks no more. Resolves when no reload is under way. */
  close(): Promise<void>;
}

/** Time between two looks. Files are read once they have rested that long: an editor or a build writes several. */
export const LOOK_MS = 200;
/** In a folder of very many files a look takes long; it may take this part of the time. */
const SHARE = 1 / 20;

/** Notes the files as they are: what changes from here on is seen. */
export async function watchPlugins({ plugins, ...options }: WatchPluginsOptions): Promise<PluginWatch> {
  const watches = await Promise.all(Object.entries(plugins).map(([pkg, dir]) => watchPlugin(pkg, dir, options)));
  return {
    begin: () => watches.forEach((one) => one.begin()),
    close: async () => void await Promise.all(watches.map((one) => one.close())),
  };
}

async function watchPlugin(
  pkg: string,
  dir: string,
  { host, runtime: { files, clock }, onReport }: Omit<WatchPluginsOptions, "plugins">,
): Promise<PluginWatch> {
  let used = await look();
  let last = used;
  let isClosed = false;
  let cancel: () => void = () => {};
  let work: Promise<void> = Promise.resolve();

  function names(): string[] {
    return [...new Set(host.plugins().filter((one) => one.package === pkg).map((one) => one.plugin))];
  }

  function granted(name: string): readonly string[] {
    return host.view.plugin(name).manifest.capabilities;
  }

  function look(): Promise<string> {
    return authoredState(dir, files, names().flatMap((name) => ownWrites(granted(name), dir)));
  }

  /** Reloads the plugin that the package is; one the host does not know yet becomes known to it. */
  async function reload(): Promise<void> {
    const known = names();
    const before = new Map(known.map((name) => [name, granted(name)]));
    const startedMs = clock.monotonic();
    try {
      if (known.length === 0) await host.reload();
      for (const name of known) await host.reload(name);
    } catch (error) {
      if (!isClosed) onReport({ kind: "failed", plugin: known[0] ?? pkg, error: asHostError(error) });
      return;
    }
    const tookMs = clock.monotonic() - startedMs;
    for (const plugin of names()) {
      const gained = granted(plugin).filter((one) => !before.get(plugin)?.includes(one));
      onReport({ kind: "reloaded", plugin, version: host.view.plugin(plugin).manifest.version, tookMs, gained });
    }
  }

  async function turn(): Promise<void> {
    const startedMs = clock.monotonic();
    const now = await look();
    const delayMs = Math.max(LOOK_MS, (clock.monotonic() - startedMs) / SHARE);
    const hasRested = now === last;
    last = now;
    if (hasRested && now !== used && !isClosed) {
      used = now; // Before the reload reads them: what changes meanwhile is a change again.
      await reload();
    }
    wait(delayMs);
  }

  function wait(delayMs: number): void {
    if (!isClosed) cancel = clock.after(delayMs, () => void (work = turn()));
  }

  return {
    begin: () => wait(LOOK_MS),
    async close() {
      isClosed = true;
      cancel();
      await work;
    },
  };
}
