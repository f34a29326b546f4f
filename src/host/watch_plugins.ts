/**
 * Reloads plugins when their files change, for their authors. The files are polled: change notifications differ with the
 * runtime, the file system and the way an editor saves.
 *
 * @module
 */
import { asHostError, type HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { authoredState, ownWrites } from "./authored_files.ts";
import type { Host } from "./types.ts";

/** The outcome of one change. */
export type WatchReport =
  /** The plugin runs with its new files. */
  | {
    readonly kind: "reloaded";
    readonly plugin: string;
    readonly version: string;
    readonly tookMs: number;
    /** Capabilities that it did not have before the change. */
    readonly gained: readonly string[];
  }
  /** The new files could not be started; a process that ran before goes on. */
  | { readonly kind: "failed"; readonly plugin: string; readonly error: HostError };

/** The plugins to watch and the host that runs them. */
export interface WatchPluginsOptions {
  readonly host: Pick<Host, "reload" | "plugins" | "view">;
  /** Package → folder, absolute. */
  readonly plugins: Readonly<Record<string, string>>;
  readonly runtime: Pick<Runtime, "files" | "clock">;
  /** Called once for each change, after its reload. */
  readonly onReport: (report: WatchReport) => void;
}

/** A watch that has seen the files once. */
export interface PluginWatch {
  /** Starts polling; to be called when the host has started. */
  begin(): void;
  /** Stops polling; resolves when no reload is under way. */
  close(): Promise<void>;
}

/** Time between two polls. A change counts once two polls agree: an editor or a build writes several files. */
export const LOOK_MS = 200;
/** Largest share of the time that polling may take: a folder with very many files is polled less often. */
const SHARE = 1 / 20;

/** Reads the state of the files; changes after that are seen once the watch begins. */
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
    return host.view.plugin(name).manifest?.capabilities ?? [];
  }

  function look(): Promise<string> {
    return authoredState(dir, files, names().flatMap((name) => ownWrites(granted(name), dir)));
  }

  /** Reloads the plugins of the package; when the host knows none, reloads the project, which may find one. */
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
      const version = host.view.plugin(plugin).manifest?.version ?? "unknown";
      const gained = granted(plugin).filter((one) => !before.get(plugin)?.includes(one));
      onReport({ kind: "reloaded", plugin, version, tookMs, gained });
    }
  }

  async function turn(): Promise<void> {
    const startedMs = clock.monotonic();
    const now = await look();
    const delayMs = Math.max(LOOK_MS, (clock.monotonic() - startedMs) / SHARE);
    const hasRested = now === last;
    last = now;
    if (hasRested && now !== used && !isClosed) {
      used = now; // Before the reload reads the files: a change during the reload must count as another one.
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
