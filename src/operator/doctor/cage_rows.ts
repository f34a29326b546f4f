/**
 * Whether bubblewrap is there, and whether it can build a cage.
 *
 * @module
 */
import { findBwrap } from "../../core/cage/find_bwrap.ts";
import { probeCage } from "../../core/cage/probe_cage.ts";
import { asHostError, type HostError } from "../../core/errors/host_error.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

/** Flags that make a cage tighter where bubblewrap knows them, each with what it is good for. */
const OPTIONAL_FLAGS: Readonly<Record<string, string>> = {
  "--disable-userns": "keeps plugins from making namespaces of their own",
  "--size": "keeps plugins from filling memory through /tmp",
};

/** What the rows are made from. */
export interface CageRowOptions {
  /** The runtime of this process. */
  readonly runtime: Runtime;
  /** A folder the cage may use meanwhile, absolute. */
  readonly home: string;
  /** Gives the command that installs a package here. */
  readonly install: (packageName: string) => string;
}

/** What an attempt to cage something showed. */
export interface CageRows {
  /** About bubblewrap. */
  readonly bubblewrap: MachineRow;
  /** About a real cage. */
  readonly cage: MachineRow;
  /** Why there is none, or null. */
  readonly error: HostError | null;
}

/** Returns the rows about bubblewrap and about a real cage. */
export async function cageRows({ runtime, home, install }: CageRowOptions): Promise<CageRows> {
  const { error, version } = await probeCage(runtime, home);
  const bwrap = await findBwrap(runtime).catch(asHostError);
  const cage: MachineRow = error === null
    ? { id: "cage", status: "ok", detail: "A program ran in a cage like the ones plugins get" }
    : failed("cage", error, install);
  if (!("flags" in bwrap)) return { bubblewrap: failed("bubblewrap", bwrap, install), cage, error };

  const detail = `bubblewrap ${version ?? "of an unknown version"} at ${bwrap.path}, only root can change it`;
  const absent = Object.entries(OPTIONAL_FLAGS).filter(([flag]) => !bwrap.flags.has(flag));
  if (absent.length === 0) return { bubblewrap: { id: "bubblewrap", status: "ok", detail }, cage, error };
  const lacks = absent.map(([flag, use]) => `${flag}, which ${use}`).join(", and ");
  const hint = `${install("bubblewrap")}; 0.8 or newer is needed for them`;
  const bubblewrap = {
    id: "bubblewrap",
    status: "degraded",
    detail: `${detail}, but it lacks ${lacks}`,
    hint,
  } as const;
  return { bubblewrap, cage, error };
}

function failed(id: string, error: HostError, install: CageRowOptions["install"]): MachineRow {
  const installs = ["cage.bwrap_missing", "cage.bwrap_old", "cage.bwrap_untrusted"].includes(error.code);
  const hint = installs ? install("bubblewrap") : error.hint;
  return { id, status: "missing", detail: error.message, code: error.code, ...(hint === undefined ? {} : { hint }) };
}
