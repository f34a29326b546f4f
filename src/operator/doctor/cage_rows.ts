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

/** Flags that make a cage tighter where bubblewrap knows them, each with its use. */
const OPTIONAL_FLAGS: Readonly<Record<string, string>> = {
  "--disable-userns": "keeps plugins from making namespaces of their own",
  "--size": "keeps plugins from filling memory through /tmp",
};

/** The rows about bubblewrap and about a real cage, with the failure of that cage. */
export interface CageRows {
  readonly bubblewrap: MachineRow;
  readonly cage: MachineRow;
  readonly error: HostError | null;
}

/** Builds a real cage under `home` and returns the rows about it; `install` gives the command to install a package. */
export async function cageRows(
  runtime: Runtime,
  home: string,
  install: (packageName: string) => string,
): Promise<CageRows> {
  const failed = (id: string, { code, message, hint: ownHint }: HostError): MachineRow => {
    const isBwrap = ["cage.bwrap_missing", "cage.bwrap_old", "cage.bwrap_untrusted"].includes(code);
    const hint = isBwrap ? install("bubblewrap") : ownHint;
    return { id, status: "missing", detail: message, code, ...(hint !== undefined && { hint }) };
  };
  const { error, version } = await probeCage(runtime, home);
  const bwrap = await findBwrap(runtime).catch(asHostError);
  const cage: MachineRow = error === null
    ? { id: "cage", status: "ok", detail: "A program ran in a cage like the ones plugins get" }
    : failed("cage", error);
  if (!("flags" in bwrap)) return { bubblewrap: failed("bubblewrap", bwrap), cage, error };

  const detail = `bubblewrap ${version ?? "of an unknown version"} at ${bwrap.path}, only root can change it`;
  const absent = Object.entries(OPTIONAL_FLAGS).filter(([flag]) => !bwrap.flags.has(flag));
  const lacks = absent.map(([flag, use]) => `${flag}, which ${use}`).join(", and ");
  const bubblewrap: MachineRow = absent.length === 0 ? { id: "bubblewrap", status: "ok", detail } : {
    id: "bubblewrap",
    status: "degraded",
    detail: `${detail}, but it lacks ${lacks}`,
    hint: `${install("bubblewrap")}; 0.8 or newer is needed for them`,
  };
  return { bubblewrap, cage, error };
}
