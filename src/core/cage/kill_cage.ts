/**
 * Ends a cage with everything in it, at whatever point of its making it is.
 *
 * @module
 */
import type { ChildProcess, Runtime } from "../ports/ports.ts";

/** Looks at the launcher before giving up on seeing it stopped. */
const MAX_LOOKS = 200;

/**
 * Kills the launcher and the first process inside the cage, and with that one all others. Killing bubblewrap alone
 * leaves its child behind when it dies before that child has asked to die with it.
 */
export async function killCage(child: ChildProcess, { files, processes }: Runtime): Promise<void> {
  const { pid } = child;
  child.kill("SIGSTOP"); // Stopped, it makes no more children.
  for (let look = 0; look < MAX_LOOKS; look++) {
    const stat = await files.readText(`/proc/${pid}/stat`).catch(() => null);
    if (stat === null || "TtZX".includes(stat.charAt(stat.lastIndexOf(")") + 2))) break;
  }
  const children = await files.readText(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  for (const inner of children.split(" ").map(Number)) if (inner > 1) processes.signal(inner, "SIGKILL");
  child.kill("SIGKILL");
}
