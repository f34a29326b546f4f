/**
 * Where the operator's folder is, and whether it is the operator's alone.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Runtime } from "../ports/ports.ts";

/** Returns `given`, else `$KAGED_HOME`, else `~/.local/share/kaged`. */
export function homeFolder(given: string | undefined, env: (name: string) => string | null): string {
  const home = given ?? env("KAGED_HOME") ?? (env("HOME") ? `${env("HOME")}/.local/share/kaged` : null);
  if (home?.startsWith("/")) return home.replace(/(?<=.)\/+$/, "");
  throw new HostError("host.misuse", home ? `The home folder "${home}" is not absolute` : "There is no home folder", {
    hint: "Pass home, or set KAGED_HOME to an absolute path",
  });
}

/** Files and folders of a home that decide what runs, and with which rights. */
const DECIDING = ["local.toml", "config.toml", "trust.json", "plugins", "pins"];
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * Checks that nobody but this user and root can change the home: who can, chooses what the host runs. Files that are
 * missing pass, and so does a home that is still to be made.
 *
 * @throws {HostError} `host.home_exposed`, with the command that mends it.
 */
export async function checkHome(home: string, { files, uid }: Pick<Runtime, "files" | "uid">): Promise<void> {
  for (const path of [home, ...DECIDING.map((name) => `${home}/${name}`)]) {
    const info = await files.target(path).catch(() => null);
    if (info === null) continue;
    if ((info.mode & (WRITABLE_BY_GROUP | WRITABLE_BY_ALL)) !== 0) {
      throw exposed(path, `others may write it (mode ${(info.mode & 0o7777).toString(8)})`, `chmod go-w ${word(path)}`);
    }
    if (uid === null || info.uid === uid || info.uid === 0) continue;
    throw exposed(path, `it belongs to user ${info.uid}, and this is user ${uid}`, `chown ${uid} ${word(path)}`);
  }
  // In a folder that all may write, anybody could put another home in the place of this one; the sticky bit prevents it.
  for (let at = home.lastIndexOf("/"); at > 0; at = home.lastIndexOf("/", at - 1)) {
    const parent = home.slice(0, at);
    const mode = (await files.target(parent).catch(() => null))?.mode ?? 0;
    if ((mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0) {
      throw exposed(parent, "others may write it and replace the home in it", `chmod o-w ${word(parent)}`);
    }
  }
}

function exposed(path: string, why: string, fix: string): HostError {
  const message = `Cannot use the operator's folder: "${path}" is not yours alone, ${why}`;
  return new HostError("host.home_exposed", message, {
    data: { path },
    hint: `Look at what it holds, then run ${fix}`,
  });
}

/** Returns a path as a shell reads it. */
function word(path: string): string {
  return /^[\w/.@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
