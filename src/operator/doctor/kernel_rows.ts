/**
 * Rows about the kernel: user namespaces, AppArmor's limit on them, and filters on system calls.
 *
 * @module
 */
import type { HostError } from "../../core/errors/host_error.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

const MAX = "user.max_user_namespaces";
const CLONE = "kernel.unprivileged_userns_clone";
const RESTRICT = "kernel.apparmor_restrict_unprivileged_userns";
/** Actions that the cage's filter takes. */
const ACTIONS = ["kill_process", "errno", "allow"];

/** Returns the rows; `error` is why no cage could be built, or null. */
export async function kernelRows({ files, uid }: Runtime, error: HostError | null): Promise<MachineRow[]> {
  const read = (name: string): Promise<string | null> =>
    files.readText(`/proc/sys/${name.replaceAll(".", "/")}`).then((text) => text.trim(), () => null);
  const number = async (name: string): Promise<number | null> => {
    const text = await read(name);
    return text === null ? null : Number(text);
  };
  const actions = (await read("kernel.seccomp.actions_avail"))?.split(/\s+/) ?? null;
  return [
    judgeNamespaces({ max: await number(MAX), clone: await number(CLONE), uid, error }),
    judgeAppArmor({ restricts: await number(RESTRICT), uid, canCage: error === null }),
    judgeSeccomp({ actions, error }),
  ];
}

/** Judges the settings of user namespaces; each is null where the kernel does not have it. */
export function judgeNamespaces(
  { max, clone, uid, error }: {
    readonly max: number | null;
    readonly clone: number | null;
    readonly uid: number | null;
    /** Why no cage could be built, or null. */
    readonly error: HostError | null;
  },
): MachineRow {
  const id = "user namespaces";
  const sudo = uid === 0 ? "" : "sudo ";
  if (max === null) {
    return { id, status: "missing", detail: "The kernel has none", hint: "Use a kernel with CONFIG_USER_NS" };
  }
  const [name, on] = max === 0 ? [MAX, 10000] : clone === 0 && uid !== 0 ? [CLONE, 1] : [];
  if (name === undefined && error?.code === "cage.userns_disabled") {
    // Of the settings around a container or sandbox nothing can be seen from inside.
    const detail = `This kernel allows up to ${max}, but bubblewrap was given none`;
    return { id, status: "missing", detail, code: error.code, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  if (name === undefined) return { id, status: "ok", detail: `Up to ${max}` };
  const hint = `Run: ${sudo}sysctl -w ${name}=${on}`;
  return { id, status: "missing", detail: `Switched off: ${name}=0`, hint, code: "cage.userns_disabled" };
}

/** Judges whether AppArmor keeps bubblewrap from its work; `restricts` is null where the kernel has no such setting. */
export function judgeAppArmor(
  { restricts, uid, canCage }: {
    readonly restricts: number | null;
    readonly uid: number | null;
    readonly canCage: boolean;
  },
): MachineRow {
  const id = "apparmor";
  if (restricts === null) return { id, status: "ok", detail: "No limit on user namespaces" };
  if (restricts === 0) return { id, status: "ok", detail: `No limit on user namespaces: ${RESTRICT}=0` };
  const detail = `Limits user namespaces: ${RESTRICT}=${restricts}`;
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

/** Judges the actions that filters may take; null where the kernel has no filters. */
export function judgeSeccomp(
  { actions, error }: { readonly actions: readonly string[] | null; readonly error: HostError | null },
): MachineRow {
  const id = "seccomp";
  const code = "cage.no_seccomp";
  const absent = ACTIONS.filter((action) => !actions?.includes(action));
  if (actions === null || error?.code === code || absent.length > 0) {
    const detail = actions === null || error?.code === code
      ? "The kernel takes no filter on system calls"
      : `The kernel's filters lack ${absent.join(", ")}`;
    return { id, status: "missing", detail, hint: "Use a kernel with CONFIG_SECCOMP_FILTER, 4.14 or newer", code };
  }
  const detail = error === null
    ? "The kernel took the filter on system calls"
    : "The kernel takes filters on system calls; ours was not tried";
  return { id, status: "ok", detail };
}
