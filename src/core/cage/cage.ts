/**
 * The cage of one start of one program: its request, and the cage that stands.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { ChildProcess, Command, Exit, ProcessListeners } from "../ports/ports.ts";
import type { CageLimits, CageLimitStatus } from "./limits/cage_limits.ts";
import type { BoundSecret, NetLimit } from "./net/bound_secret.ts";
import type { NetDenial, NetEvent } from "./net/gatekeeper.ts";
import type { AskNetwork } from "./net/held_targets.ts";

/** Places the host owns or that grants may be relative to. */
export interface CagePlaces {
  /** The plugin's own folder, absolute. */
  readonly installDir: string;
  /** The operator's folder: `config:/x` is `<home>/files/x`, the rest of it is never granted. */
  readonly home: string;
  /** The project's folder, for `project:/…`, or null when there is none. */
  readonly projectDir: string | null;
}

/** A file or folder shown read-only at a place of its own. */
export interface CageOverlay {
  /** Where it is on the host, links resolved. */
  readonly source: string;
  /** Where it is in the cage: at something that is there. */
  readonly dest: string;
}

/** The order for one cage. */
export interface CageRequest {
  readonly manifest: Manifest;
  readonly places: CagePlaces;
  /** Value of KAGED_LOG_LEVEL inside. */
  readonly logLevel: string;
  /** Interpreters the operator named: name → absolute path. */
  readonly runtimes: Readonly<Record<string, string>>;
  /** Default: {@link DEFAULT_LIMITS}. */
  readonly limits?: CageLimits;
  /**
   * Shows the system's own programs too, read-only, and those of {@link runtimes}: for shell text, whose programs
   * nobody can list. Default false: only the command's own program and `exec:` grants are there.
   */
  readonly systemPrograms?: boolean;
  /** Files and folders shown read-only, each at its place, on top of everything granted. */
  readonly overlays?: readonly CageOverlay[];
  /** Variables on top of the manifest's, made for this start. */
  readonly env?: Readonly<Record<string, string>>;
  /** Secrets that the gatekeeper puts in the place of their placeholders. */
  readonly secrets?: readonly BoundSecret[];
  /** Limits of the operator on requests of this program. */
  readonly netLimits?: readonly NetLimit[];
  /** Receives each connection that the gatekeeper opened or refused, and each secret that was misused. */
  readonly onNet?: (event: NetEvent) => void;
  /** Receives every refusal; {@link onNet} gets each different one once a minute. */
  readonly onRefused?: (refusal: NetDenial) => void;
  /** Asks a person about a target that was not granted. Default: it is refused. */
  readonly askNetwork?: AskNetwork | undefined;
  /** Removes what was made on the host for this one start: runs when the cage is closed, or could not be built. */
  readonly cleanUp?: () => Promise<void>;
}

/** A cage that is ready for one start of one plugin. */
export interface Cage {
  /** Names this cage in audit events. */
  readonly id: string;
  readonly command: Command;
  /** A launcher that runs already and goes on at a word, in the place of {@link command}; null where none does. */
  readonly waiting: { start(listeners: ProcessListeners): ChildProcess } | null;
  readonly limits: CageLimitStatus;
  /** Begins to enforce the limits where the kernel does not: call it once the command has been spawned. */
  watch(): void;
  /** Holds the plugin, which runs by now, to its share of the processor. Rejects with `cage.limits_failed`. */
  settle(): Promise<void>;
  /** Returns the process id of the plugin's own process group leader, outside the cage; null before it exists. */
  childPid(): Promise<number | null>;
  /**
   * Rejects with `cage.walls_missing` unless the process is caged and can change no mount but those granted for writing,
   * with `cage.path_swapped` unless each granted path inside is the one that was checked outside.
   */
  verifyMounts(): Promise<void>;
  /** Connections through its gatekeeper that are open now. */
  connections(): number;
  /** Returns the failure of the cage itself, or the limit the plugin went over, when that ended it; null otherwise. */
  diagnose(exit: Exit, stderr: readonly string[]): Promise<HostError | null>;
  /** Ends what is left in the cage and removes its files. Safe to call twice. */
  close(): Promise<void>;
}
