/**
 * Makes the folder a write grant names, when it is missing, without walking over a link.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import type { WantedPath } from "./cage_plan.ts";

/** Makes each missing folder between `makeUnder` and the wanted path, 0700. A link on the way is an error. */
export async function makeTarget(wanted: WantedPath, files: Files): Promise<void> {
  const { capability, path, makeUnder } = wanted;
  if (makeUnder === null) return;
  let at = makeUnder;
  for (const part of path.slice(makeUnder.length).split("/").filter((part) => part !== "")) {
    at = `${at}/${part}`;
    let found = await files.info(at);
    if (found === null) {
      // Another start may make it between the two steps: what counts is what stands there afterwards.
      await files.makeDir(at, { mode: 0o700 }).catch(ignoreExisting);
      found = await files.info(at);
    }
    if (found?.kind === "symlink") {
      throw new HostError("capability.symlink_escape", `Cannot grant "${capability}": "${at}" is a link`, {
        data: { capability, path: at },
        hint: `Replace "${at}" by a folder`,
      });
    }
    if (found?.kind !== "directory") return; // A file is fine as the target itself; the path rules judge the rest.
  }
}

function ignoreExisting(error: unknown): void {
  if ((error as { code?: string }).code !== "EEXIST") throw error;
}
