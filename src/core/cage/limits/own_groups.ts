/**
 * Where this process stands in the trees of control groups. Pure: the texts come from `/proc/self`.
 *
 * @module
 */

/** The folders of this process's own groups. */
export interface OwnGroups {
  /** In the tree of version 2, or null where none is mounted. */
  readonly unified: string | null;
  /** In the trees of version 1, by controller. */
  readonly byController: Readonly<Record<string, string>>;
}

interface GroupMount {
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** Reads them from `/proc/self/mountinfo` and `/proc/self/cgroup`. */
export function ownGroups(mountinfo: string, cgroup: string): OwnGroups {
  const mounts = mountinfo.split("\n").flatMap(groupMount);
  let unified: string | null = null;
  const byController: Record<string, string> = {};
  for (const line of cgroup.split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (controllers === "") {
      unified = folderOf(path, mounts.find(({ type }) => type === "cgroup2"));
      continue;
    }
    for (const controller of controllers.split(",")) {
      const mount = mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller));
      const folder = folderOf(path, mount);
      if (folder !== null) byController[controller] = folder;
    }
  }
  return { unified, byController };
}

function groupMount(line: string): GroupMount[] {
  const [before = "", after = ""] = line.split(" - ", 2);
  const [, , , root = "", point = ""] = before.split(" ").map(unescaped);
  const [type = "", , options = ""] = after.split(" ");
  return type === "cgroup" || type === "cgroup2" ? [{ root, point, type, options: options.split(",") }] : [];
}

/** The folder of a group, or null when the mount does not show it: a container may see a part of the tree. */
function folderOf(path: string, mount: GroupMount | undefined): string | null {
  if (mount === undefined || path.split("/").includes("..")) return null;
  const root = mount.root === "/" ? "" : mount.root;
  if (path !== root && !path.startsWith(`${root}/`)) return null;
  const rest = path.slice(root.length);
  return rest === "" || rest === "/" ? mount.point : `${mount.point}${rest}`;
}

/** Spaces, tabs, newlines and backslashes are written as octal numbers there. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
