/**
 * Control groups of version 2 in a plain folder, with the rules of the kernel that matter to a host.
 *
 * @module
 */
import type { Files } from "../../src/core/ports/ports.ts";

/** How the tree stands at first. */
export interface FakeTree {
  /** The folder that stands for the mounted tree. */
  readonly dir: string;
  /** Where the host's own group is below it: "" for the top. */
  readonly own: string;
  /** Controllers the host's group was given. */
  readonly controllers?: string;
  /** Whether the host's group is the top of all groups, which may hold processes and give controllers on. */
  readonly isRoot?: boolean;
  /** Ids of further processes in the host's group. */
  readonly others?: readonly string[];
}

/** Id of the host in the fake tree. */
export const SELF = "4242";

/** Makes the tree; returns files that show it as the machine's only one. */
export async function fakeGroups(tree: FakeTree, files: Files): Promise<Files> {
  const { dir, own, controllers = "cpuset cpu io memory pids", isRoot = false, others = [] } = tree;
  const base = `${dir}${own}`;
  await files.makeDir(base, { recursive: true });
  await files.write(`${base}/cgroup.controllers`, `${controllers}\n`);
  await files.write(`${base}/cgroup.subtree_control`, "\n");
  await files.write(`${base}/cgroup.procs`, [SELF, ...others, ""].join("\n"));
  const texts: Readonly<Record<string, string>> = {
    "/proc/self/mountinfo": `30 23 0:26 / ${dir} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`,
    "/proc/self/cgroup": `0::${own || "/"}\n`,
  };
  const fail = (code: string): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }));
  const procs = async (group: string): Promise<string[]> =>
    (await files.readText(`${group}/cgroup.procs`).catch(() => "")).split("\n").filter((id) => id !== "");
  return {
    ...files,
    readText: (path) => texts[path] === undefined ? files.readText(path) : Promise.resolve(texts[path]),
    readLink: (path) => path === "/proc/self" ? Promise.resolve(SELF) : files.readLink(path),
    async write(path, content, mode) {
      if (!path.startsWith(dir)) return await files.write(path, content, mode);
      if (path === `${base}/cgroup.subtree_control`) {
        if (!isRoot && (await procs(base)).length > 0) return await fail("EBUSY");
        return await files.write(path, `${content}`.replaceAll("+", ""));
      }
      if (!path.endsWith("/cgroup.procs")) return await files.write(path, content, mode);
      for (const group of [base, `${base}/kaged-host`]) {
        const left = (await procs(group)).filter((id) => id !== content);
        if (await files.info(group)) await files.write(`${group}/cgroup.procs`, left.map((id) => `${id}\n`).join(""));
      }
      await files.append(path, `${content}\n`);
    },
    removeDir: (path) => path.startsWith(dir) ? files.remove(path) : files.removeDir(path),
  };
}
