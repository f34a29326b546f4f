/**
 * Opens the console in the browser of whoever sits at this machine.
 *
 * @module
 */
import { spawn } from "node:child_process";
import type { Runtime } from "../core/ports.ts";

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
  const { files, ids } = runtime;
  if (!runtime.env("DISPLAY") && !runtime.env("WAYLAND_DISPLAY")) return null;
  const page = `${home}/run/${ids.create("console")}.html`;
  await files.write(page, `<!DOCTYPE html><title>kaged</title><meta http-equiv="refresh" content="0;url=${link}">\n`);
  const child = spawn("xdg-open", [page], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // The link was printed.
  child.unref();
  return { close: () => files.remove(page) };
}
