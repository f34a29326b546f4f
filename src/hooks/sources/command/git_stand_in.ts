/**
 * An empty `.git` in a project that has none, for as long as something of the project's runs in a cage: shown read-only
 * there, so that no hook can make one whose config and hooks the operator's git would run. To git outside, an empty
 * folder is no repository; whoever makes one in it meanwhile keeps it.
 *
 * @module
 */
import { type Permits, permits } from "../../../core/values/permits.ts";
import type { Files } from "../../../core/ports/ports.ts";

/** What is known of one project. */
interface Place {
  /** Runs that are under way. */
  users: number;
  /** One looks or changes at a time. */
  readonly inTurn: Permits;
}

/** By project, in this process: taking the folder away uncovers its place in every cage, so the last run does that. */
const places = new Map<string, Place>();

/** Puts an empty `.git` where there is none. The function that is returned takes it away again, when nobody needs it. */
export async function holdGitPlace(dir: string, files: Files): Promise<() => Promise<void>> {
  const git = `${dir}/.git`;
  const place = places.get(dir) ?? { users: 0, inTurn: permits(1) };
  places.set(dir, place);
  await place.inTurn(async () => {
    place.users++;
    if (await files.info(git) !== null) return;
    // Where the host may not, a hook may not either.
    await files.makeDir(git, { mode: 0o755 }).catch(() => {});
  });
  return () =>
    place.inTurn(async () => {
      if (--place.users > 0) return;
      // One with something in it stays: so does a file, or a link.
      await files.removeDir(git).catch(() => {});
    });
}
