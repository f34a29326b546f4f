/**
 * Looks at a plugin's process from outside to see whether the walls really stand around it: the program that started it
 * might have been no bubblewrap, or one that went on without a part.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files, Runtime } from "../ports/ports.ts";
import { askedOnce } from "./asked_once.ts";

/** Namespaces every cage has of its own. */
const NAMESPACES = ["user", "mnt", "pid", "ipc", "uts"];
/** Lines in the status of a process without privilege, that can gain none, and whose calls are filtered. */
const STATUS: readonly (readonly [RegExp, string])[] = [
  [/^CapEff:\s*0+$/m, "it has privileges"],
  [/^NoNewPrivs:\s*1$/m, "it could gain privileges"],
  [/^Seccomp:\s*2$/m, "its system calls are not filtered"],
];
/**
 * Bubblewrap's own first process filters itself only after it has started the plugin: a busy machine may let it wait
 * for that. The limit is a time and no number of looks: a look takes no time on one runtime and much on another.
 */
const PATIENCE_MS = 3_000;

/** The host's own namespaces, by name. */
const hostSpaces = askedOnce(async (files: Files): Promise<ReadonlyMap<string, string>> => {
  const link = async (name: string) => [name, await files.readLink(`/proc/self/ns/${name}`)] as const;
  return new Map(await Promise.all([...NAMESPACES, "net"].map(link)));
});

/** Rejects with `cage.walls_missing` unless the process is caged. One that has ended passes: its end is reported elsewhere. */
export async function verifyWalls(
  pid: number,
  { ownNetwork, launcher }: {
    /** Whether the cage has a network of its own. */
    readonly ownNetwork: boolean;
    /**
     * Process id of the launcher. It may have made namespaces that are not the host's and in which bubblewrap is root:
     * the cage must not be in those either, but for the network.
     */
    readonly launcher: number;
  },
  { files, clock }: Pick<Runtime, "files" | "clock">,
): Promise<void> {
  const link = (path: string): Promise<string | null> => files.readLink(path).catch(() => null);
  const startedMs = clock.monotonic();
  const names = [...NAMESPACES, ...(ownNetwork ? ["net"] : [])];
  const hosts = await hostSpaces(files);
  let faults: string[];
  for (;;) {
    const [spaces, status] = await Promise.all([
      Promise.all(names.map(async (name) => {
        const of = (process: number): Promise<string | null> => link(`/proc/${process}/ns/${name}`);
        const [own, around] = await Promise.all([of(pid), name === "net" ? "" : of(launcher)]);
        return { name, own, hosts: hosts.get(name), around };
      })),
      files.readText(`/proc/${pid}/status`).catch(() => ""),
    ]);
    const named = (some: typeof spaces): string => some.map(({ name }) => name).join(", ");
    const shared = spaces.filter(({ own, hosts }) => own !== null && own === hosts);
    const isBeside = spaces.filter(({ own, hosts, around }) => own !== null && own === around && own !== hosts);
    // A process that is about to end has no namespaces any more, although its status still says that it runs.
    const unseen = spaces.filter(({ own, around }) => own === null || around === null);
    if (/^State:\s*[ZX]/m.test(status) || status === "") return;
    faults = STATUS.flatMap(([pattern, fault]) => pattern.test(status) ? [] : [fault]);
    if (unseen.length > 0) faults.unshift(`its namespaces cannot be seen: ${named(unseen)}`);
    if (faults.length > 0 && clock.monotonic() - startedMs < PATIENCE_MS) continue;
    if (isBeside.length > 0) faults.unshift(`it shares ${named(isBeside)} with its launcher`);
    if (shared.length > 0) faults.unshift(`it shares ${named(shared)} with the host`);
    break;
  }
  if (faults.length === 0) return;
  throw new HostError("cage.walls_missing", `Cannot trust the cage: ${faults.join("; ")}`, {
    data: { faults },
    hint: "Use the distribution's bubblewrap, then run kaged doctor",
  });
}
