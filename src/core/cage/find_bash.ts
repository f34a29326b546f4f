/**
 * The shell that the launcher is written for.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import { askedOnce } from "./asked_once.ts";

const PATHS = ["/bin/bash", "/usr/bin/bash"];

/** Returns the path of bash. Rejects with `cage.bash_missing`. */
export const findBash: (files: Files) => Promise<string> = askedOnce(async (files) => {
  for (const path of PATHS) {
    if ((await files.target(path))?.kind === "file") return path;
  }
  throw new HostError("cage.bash_missing", `Cannot cage plugins: no bash at ${PATHS.join(" or ")}`, {
    hint: "Install the package bash",
  });
});
