/**
 * The facts a cage is compiled from, and the plan it is compiled to.
 *
 * @module
 */
import type { CageOverlay } from "./cage.ts";
import type { CageLimits, LimitTier } from "./limits/cage_limits.ts";
import type { NetRule, RelayRuntime } from "./net/net_parts.ts";
import type { CageTrust } from "./net/trust_parts.ts";

/** A bubblewrap that may be trusted, and what it can do. */
export interface Bwrap {
  readonly path: string;
  /** The flags its help lists, with their dashes. */
  readonly flags: ReadonlySet<string>;
}

/** A path that a capability names, before anyone looked at the disk. */
export interface WantedPath {
  /** The capability as declared. */
  readonly capability: string;
  /** The absolute path it names. */
  readonly path: string;
  readonly access: "read" | "write";
  /** The folder a missing target may be made under, or null when a missing path is an error. */
  readonly makeUnder: string | null;
}

/** The entry on the disk at a wanted path. */
export interface PathFacts {
  /** Kind of entry, links not followed; null when nothing is there. */
  readonly kind: "file" | "directory" | "symlink" | "other" | null;
  /** The path with every link resolved; null when that leads nowhere. */
  readonly real: string | null;
  readonly dev: number;
  readonly ino: number;
}

/** A path mounted into the cage; device and inode show which file or folder was checked. */
export type GrantedPath = Pick<WantedPath, "path" | "access"> & Pick<PathFacts, "dev" | "ino">;

/** A program or folder that a command needs. */
export interface ExecutableMount extends CageOverlay {
  /** Makes it a link in the cage instead of a mount; `source` is the text of the link then. */
  readonly link?: true;
}

/** The program to run and all that must be there for it. */
export interface ResolvedCommand {
  /** The command as it runs inside. */
  readonly argv: readonly string[];
  /** Mounts for it and for each `exec:` grant. */
  readonly mounts: readonly ExecutableMount[];
  /** Variables without which the runtime of the command would not start it. */
  readonly env: Readonly<Record<string, string>>;
}

/** One of the top folders that hold programs and libraries. */
export interface RootEntry {
  readonly path: string;
  /** Text of the link, as modern systems keep everything in /usr; null for a real folder, as on older ones. */
  readonly link: string | null;
}

/** Facts of the host, gathered before compiling. */
export interface CageFacts {
  readonly bwrap: Bwrap;
  /** The plugin's folder, links resolved. */
  readonly installDir: GrantedPath;
  /** `/bin`, `/sbin`, `/lib`, `/lib64`, as far as they exist. */
  readonly rootEntries: readonly RootEntry[];
  /** Program, interpreters and `exec:` programs. */
  readonly command: ResolvedCommand;
  /** Granted paths that passed every rule. */
  readonly grants: readonly GrantedPath[];
  /** Processor as the kernel names it. */
  readonly arch: string;
  readonly tier: LimitTier;
  /** Whether root runs the host: its launchers make the device nodes of cages read-only. */
  readonly isRoot: boolean;
  /**
   * Name of the host's network namespace, where a gated cage can have one whose every port the relay may listen on; null
   * where it cannot, or where the cage is not gated.
   */
  readonly hostNetwork: string | null;
  /** The relay, and the program it runs on; null for a cage that is not gated. */
  readonly relay: RelayRuntime | null;
  /** Folder of the files of this start. */
  readonly runDir: string;
  /** Certificates for a cage with bound hosts. */
  readonly trust?: CageTrust | null;
}

/** The facts that are known before a folder for the start is made. */
export type MachineFacts = Omit<CageFacts, "runDir" | "trust">;

/** One start of one plugin, spelled out. */
export interface CagePlan {
  readonly bwrap: string;
  /** Its arguments up to the command. They travel in a file: they hold host paths and environment values. */
  readonly args: readonly string[];
  readonly command: readonly string[];
  /** Text of `/etc/hosts` inside. */
  readonly hosts: string;
  /** The filter on system calls, as bubblewrap hands it to the kernel. */
  readonly seccomp: Uint8Array;
  readonly limits: CageLimits;
  readonly tier: LimitTier;
  /** Everything granted, the plugin's own folder among it: compared again once the process runs. */
  readonly granted: readonly GrantedPath[];
  /** Network rules of the manifest. */
  readonly net: readonly NetRule[];
  /** Whether the launcher makes the network of the cage, instead of bubblewrap. */
  readonly ownNetwork: boolean;
  /** Further files of this start: name → text. */
  readonly files: Readonly<Record<string, string>>;
}
