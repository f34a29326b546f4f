/**
 * Whether the kernel takes the filter on system calls that every cage has.
 *
 * @module
 */
import type { HostError } from "../../core/errors/host_error.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

/** What the filter asks of the kernel. */
const NEEDED = ["kill_process", "errno", "allow"];

/** What is known about filters. */
export interface SeccompFacts {
  /** Actions the kernel knows, or null where it has no filters. */
  readonly actions: readonly string[] | null;
  /** Why no cage could be built, or null. */
  readonly error: HostError | null;
}

/** Returns the row about filters; `error` says why no cage could be built. */
export async function seccompRow({ files }: Runtime, error: HostError | null): Promise<MachineRow> {
  const text = await files.readText("/proc/sys/kernel/seccomp/actions_avail").catch(() => null);
  return judgeSeccomp({ actions: text === null ? null : text.trim().split(/\s+/), error });
}

/** Judges those facts. */
export function judgeSeccomp({ actions, error }: SeccompFacts): MachineRow {
  const id = "seccomp";
  const hint = "Use a kernel with CONFIG_SECCOMP_FILTER, 4.14 or newer";
  const code = "cage.no_seccomp";
  if (actions === null || error?.code === code) {
    return { id, status: "missing", detail: "The kernel takes no filter on system calls", hint, code };
  }
  const absent = NEEDED.filter((action) => !actions.includes(action));
  if (absent.length > 0) {
    return { id, status: "missing", detail: `The kernel's filters lack ${absent.join(", ")}`, hint, code };
  }
  const detail = error === null
    ? "The kernel took the filter on system calls"
    : "The kernel takes filters on system calls; ours was not tried";
  return { id, status: "ok", detail };
}
