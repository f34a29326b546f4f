/**
 * Opens the console in the browser of whoever sits at this machine.
 *
 * @module
 */
import type { Runtime } from "../core/ports/ports.ts";

const OPENER = "/usr/bin/xdg-open";
/** What a program needs to reach the screen of whoever started us. */
const SCREEN: readonly string[] = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "HOME",
  "PATH",
];

/** What opening leaves behind. */
export interface OpenedConsole {
  /** Removes it. */
  close(): Promise<void>;
}

/**
 * Opens `link`, which carries the token. Not as an argument, which every user of the machine can read, but through a
 * page that only this user may read and that leads there. Null where there is no screen.
 */
export async function openConsole(link: string, home: string, runtime: Runtime): Promise<OpenedConsole | null> {
  const { files, ids, pid } = runtime;
  const env = screenOf(runtime);
  if (!env["DISPLAY"] && !env["WAYLAND_DISPLAY"]) return null;
  const page = `${home}/run/console-${pid}-${ids.create("page")}.html`;
  await files.write(page, `<!DOCTYPE html><title>kaged</title><meta http-equiv="refresh" content="0;url=${link}">\n`);
  const unheard = { stdout: () => {}, stdoutEnd: () => {}, stderr: () => {} };
  try {
    (await runtime.processes.spawn({ file: OPENER, args: [page], env, cwd: "/" }, unheard)).release();
  } catch {
    // No such program: the link was printed.
  }
  return { close: () => files.remove(page) };
}

/** Removes the pages of commands that were killed before they could; this process has none yet. */
export async function sweepConsolePages(home: string, { files, network, pid }: Runtime): Promise<void> {
  for (const name of await files.list(`${home}/run`).catch(() => [])) {
    const owner = /^console-([0-9]+)-.*\.html$/.exec(name)?.[1];
    if (owner === undefined) continue;
    // Not by the process alone, whose number may be another's by now: a command with a page has a socket too.
    const socket = `${home}/run/${owner}.sock`;
    const isLive = owner !== `${pid}` && await files.info(socket) !== null && !await network.isDeserted(socket);
    if (!isLive) await files.remove(`${home}/run/${name}`);
  }
}

function screenOf({ env }: Runtime): Record<string, string> {
  return Object.fromEntries(SCREEN.flatMap((name) => {
    const value = env(name);
    return value === null ? [] : [[name, value]];
  }));
}
