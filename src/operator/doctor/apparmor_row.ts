/**
 * Whether AppArmor keeps an ordinary user's bubblewrap from making namespaces.
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

const SWITCH = "kernel.apparmor_restrict_unprivileged_userns";

/** What is known about AppArmor. */
export interface AppArmorFacts {
  /** Value of {@link SWITCH}, or null where the kernel has none. */
  readonly restricts: number | null;
  /** User id of the host. */
  readonly uid: number | null;
  /** Whether a cage could be built. */
  readonly canCage: boolean;
}

/** Returns the row about AppArmor. */
export async function appArmorRow({ files, uid }: Runtime, canCage: boolean): Promise<MachineRow> {
  const text = await files.readText(`/proc/sys/${SWITCH.replaceAll(".", "/")}`).catch(() => null);
  return judgeAppArmor({ restricts: text === null ? null : Number(text.trim()), uid, canCage });
}

/** Judges those facts. */
export function judgeAppArmor({ restricts, uid, canCage }: AppArmorFacts): MachineRow {
  const id = "apparmor";
  if (restricts === null) return { id, status: "ok", detail: "No limit on user namespaces" };
  if (restricts === 0) return { id, status: "ok", detail: `No limit on user namespaces: ${SWITCH}=0` };
  const detail = `Limits user namespaces: ${SWITCH}=${restricts}`;
  if (uid === 0) return { id, status: "ok", detail: `${detail}, but not root's` };
  if (canCage) return { id, status: "ok", detail: `${detail}, but not bubblewrap's` };
  const profile = "abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n";
  const path = "/etc/apparmor.d/bwrap";
  return {
    id,
    status: "missing",
    detail: `${detail}, and bubblewrap has no profile that allows them`,
    hint: `Run: printf '${profile}' | sudo tee ${path} && sudo apparmor_parser -r ${path}`,
    code: "cage.apparmor",
  };
}
