/**
 * Whether the kernel lets a cage have namespaces of its own.
 *
 * @module
 */
import type { Runtime } from "../ports.ts";
import type { MachineRow } from "./report.ts";

const MAX = "user.max_user_namespaces";
const CLONE = "kernel.unprivileged_userns_clone";
const APPARMOR = "kernel.apparmor_restrict_unprivileged_userns";

/** Returns the row about user namespaces. */
export async function namespaceRow({ files, uid }: Runtime): Promise<MachineRow> {
  const read = async (name: string): Promise<number | null> => {
    const text = await files.readText(`/proc/sys/${name.replaceAll(".", "/")}`).catch(() => null);
    return text === null ? null : Number(text.trim());
  };
  return judgeNamespaces({ max: await read(MAX), clone: await read(CLONE), apparmor: await read(APPARMOR), uid });
}

/** What the kernel says about user namespaces; null where it says nothing. */
export interface NamespaceFacts {
  /** `user.max_user_namespaces`. */
  readonly max: number | null;
  /** `kernel.unprivileged_userns_clone`. */
  readonly clone: number | null;
  /** `kernel.apparmor_restrict_unprivileged_userns`. */
  readonly apparmor: number | null;
  /** User id of the host. */
  readonly uid: number | null;
}

/** Judges those facts. */
export function judgeNamespaces({ max, clone, apparmor, uid }: NamespaceFacts): MachineRow {
  const id = "user namespaces";
  const sudo = uid === 0 ? "" : "sudo ";
  if (max === null) {
    return { id, status: "missing", detail: "The kernel has none", hint: "Use a kernel with CONFIG_USER_NS" };
  }
  const off = max === 0 ? `${MAX}=0` : clone === 0 && uid !== 0 ? `${CLONE}=0` : null;
  if (off !== null) {
    const [name] = off.split("=");
    const on = name === MAX ? "10000" : "1";
    const hint = `Run: ${sudo}sysctl -w ${name}=${on}`;
    return { id, status: "missing", detail: `Switched off: ${off}`, hint, code: "cage.userns_disabled" };
  }
  if (apparmor === 1 && uid !== 0) {
    return {
      id,
      status: "degraded",
      detail: `AppArmor limits them: ${APPARMOR}=1`,
      hint: "If the cage below fails, add an AppArmor profile for bwrap with the rule userns,",
    };
  }
  return { id, status: "ok", detail: `Up to ${max}` };
}
