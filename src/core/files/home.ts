/**
 * Where the operator's folder is.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";

/** Returns `given`, else `$KAGED_HOME`, else `~/.local/share/kaged`. */
export function homeFolder(given: string | undefined, env: (name: string) => string | null): string {
  const home = given ?? env("KAGED_HOME") ?? (env("HOME") ? `${env("HOME")}/.local/share/kaged` : null);
  if (home?.startsWith("/")) return home.replace(/(?<=.)\/+$/, "");
  throw new HostError("host.misuse", home ? `The home folder "${home}" is not absolute` : "There is no home folder", {
    hint: "Pass home, or set KAGED_HOME to an absolute path",
  });
}
