/**
 * Whether the kernel lets a cage have namespaces of its own.
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

const MAX = "user.max_user_namespaces";
const CLONE = "kernel.unprivileged_userns_clone";

/** Returns the row about user namespaces. */
export async function namespaceRow({ files, uid }: Runtime): Promise<MachineRow> {
  const read = async (name: string): Promise<number | null> => {
    const text = await files.readText(`/proc/sys/${name.replaceAll(".", "/")}`).catch(() => null);
    return text === null ? null : Number(text.trim());
  };
  return judgeNamespaces({ max: await read(MAX), clone: await read(CLONE), uid });
}

/** What the kernel says about user namespaces; null where it says nothing. */
export interface NamespaceFacts {
  /** `user.max_user_namespaces`. */
  readonly max: number | null;
  /** `kernel.unprivileged_userns_clone`. */
  readonly clone: number | null;
  /** User id of the host. */
  readonly uid: number | null;
}

/** Judges those facts. */
export function judgeNamespaces({ max, clone, uid }: NamespaceFacts): MachineRow {
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
  return { id, status: "ok", detail: `Up to ${max}` };
}
