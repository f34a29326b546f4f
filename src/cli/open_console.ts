/**
 * Opens the console in the browser of the person at this machine.
 *
 * @module
 */
import type { Runtime } from "../core/ports/ports.ts";

const OPENER = "/usr/bin/xdg-open";
/** Variables that a program needs to reach the screen. */
const SCREEN: readonly string[] = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "HOME",
  "PATH",
];

/** The page that leads to the console. */
export interface OpenedConsole {
  close(): Promise<void>;
}

/**
 * Opens `link`, which carries the token. An argument could be read by every user of the machine, so the link is written
 * to a page that only this user may read. Returns null where there is no screen.
 */
export async function openConsole(link: string, home: string, runtime: Runtime): Promise<OpenedConsole | null> {
  const { files, ids, pid } = runtime;
  const env = screenOf(runtime);
  if (!env["DISPLAY"] && !env["WAYLAND_DISPLAY"]) return null;
  const page = `${home}/run/console-${pid}-${ids.create("page")}.html`;
  await files.write(page, `<!DOCTYPE html><title>kaged</title><meta http-equiv="refresh" content="0;url=${link}">\n`);
  await start(page, env, runtime);
  return { close: () => files.remove(page) };
}

/** Opens an address that holds nothing secret, where there is a screen. */
export async function openAddress(address: string, runtime: Runtime): Promise<void> {
  const env = screenOf(runtime);
  if (!env["DISPLAY"] && !env["WAYLAND_DISPLAY"]) return;
  await start(address, env, runtime);
}

async function start(argument: string, env: Readonly<Record<string, string>>, { processes }: Runtime): Promise<void> {
  const unheard = { stdout: () => {}, stdoutEnd: () => {}, stderr: () => {} };
  try {
    (await processes.spawn({ file: OPENER, args: [argument], env, cwd: "/" }, unheard)).release();
  } catch {
    // No such program: the address was printed.
  }
}

/** Removes the pages of commands that were killed. Call it before this process makes its own. */
export async function sweepConsolePages(home: string, { files, network, pid }: Runtime): Promise<void> {
  for (const name of await files.list(`${home}/run`).catch(() => [])) {
    const owner = /^console-([0-9]+)-.*\.html$/.exec(name)?.[1];
    if (owner === undefined) continue;
    // The process id may belong to another program by now, so its host's socket must answer too.
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
