/**
 * Looks at a plugin's process from outside, whether the walls really stand around it: what started it might have been
 * no bubblewrap, or one that went on without a part.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files, Runtime } from "../ports/ports.ts";

/** Namespaces every cage has of its own. */
const NAMESPACES = ["user", "mnt", "pid", "ipc", "uts"];
/** What the kernel says of a process that has no privilege, can gain none, and whose calls are filtered. */
const STATUS: readonly (readonly [RegExp, string])[] = [
  [/^CapEff:\s*0+$/m, "it has privileges"],
  [/^NoNewPrivs:\s*1$/m, "it could gain privileges"],
  [/^Seccomp:\s*2$/m, "its system calls are not filtered"],
];
/**
 * Bubblewrap's own first process filters itself only after it has started the plugin: a busy machine may let it wait
 * for that. No number of looks would do, they take no time on one runtime and much on another.
 */
const PATIENCE_MS = 3_000;

/** How a cage is looked at. */
export interface WallOptions {
  /** Whether it has a network of its own. */
  readonly ownNetwork: boolean;
}

/** Rejects with `cage.walls_missing` unless the process is caged. One that has ended passes: its end is told as such. */
export async function verifyWalls(
  pid: number,
  { ownNetwork }: WallOptions,
  { files, clock }: Pick<Runtime, "files" | "clock">,
): Promise<void> {
  const startedMs = clock.monotonic();
  const names = [...NAMESPACES, ...(ownNetwork ? ["net"] : [])];
  let faults: string[];
  for (;;) {
    const { shared, unseen } = await namespacesOf(pid, names, files);
    const status = await files.readText(`/proc/${pid}/status`).catch(() => "");
    if (/^State:\s*[ZX]/m.test(status) || status === "") return;
    faults = STATUS.flatMap(([pattern, fault]) => pattern.test(status) ? [] : [fault]);
    if (unseen.length > 0) faults.unshift(`its namespaces cannot be seen: ${unseen.join(", ")}`);
    if (faults.length > 0 && clock.monotonic() - startedMs < PATIENCE_MS) continue;
    if (shared.length > 0) faults.unshift(`it shares ${shared.join(", ")} with the host`);
    break;
  }
  if (faults.length === 0) return;
  throw new HostError("cage.walls_missing", `Cannot trust the cage: ${faults.join("; ")}`, {
    data: { faults },
    hint: "Use the distribution's bubblewrap, then run kaged doctor",
  });
}

/** A process that is about to end has no namespaces any more, and is not yet told as ended: those are unseen. */
async function namespacesOf(
  pid: number,
  names: readonly string[],
  files: Files,
): Promise<{ readonly shared: readonly string[]; readonly unseen: readonly string[] }> {
  const link = (path: string): Promise<string | null> => files.readLink(path).catch(() => null);
  const pairs = await Promise.all(names.map(async (name) => {
    const [own, hosts] = await Promise.all([link(`/proc/${pid}/ns/${name}`), link(`/proc/self/ns/${name}`)]);
    return { name, own, hosts };
  }));
  return {
    shared: pairs.filter(({ own, hosts }) => own !== null && own === hosts).map(({ name }) => name),
    unseen: pairs.filter(({ own }) => own === null).map(({ name }) => name),
  };
}
