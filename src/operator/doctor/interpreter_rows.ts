/**
 * Which interpreters a plugin can name in its `command`.
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

/** Each with the package that brings it, where distributions have one. */
const INTERPRETERS: readonly (readonly [name: string, packageName: string | null])[] = [
  ["deno", null],
  ["bun", null],
  ["node", "nodejs"],
  ["python3", "python3"],
  ["bash", "bash"],
  ["jq", "jq"],
];

/** Where bare names are looked up, in this order. */
const FOLDERS = ["/usr/local/bin", "/usr/bin"];

/** Returns one row per interpreter, beginning with `js`: the runtime of this process. */
export async function interpreterRows(
  runtime: Runtime,
  install: (packageName: string) => string,
): Promise<MachineRow[]> {
  const rows: MachineRow[] = [{ id: "js", status: "ok", detail: runtime.executable }];
  for (const [name, packageName] of INTERPRETERS) {
    const path = name === runtime.name ? runtime.executable : await findIn(FOLDERS, name, runtime);
    rows.push(
      path === null
        ? {
          id: name,
          status: "missing",
          optional: true,
          detail: `Not in ${FOLDERS.join(" or ")}: plugins that name it cannot start`,
          hint: packageName === null
            ? `Only where a plugin needs it: runtimes.${name} = "<path>" in config.toml, or --runtime-path ${name}=<path>`
            : install(packageName),
        }
        : { id: name, status: "ok", optional: true, detail: path },
    );
  }
  return rows;
}

async function findIn(folders: readonly string[], name: string, { files }: Runtime): Promise<string | null> {
  for (const folder of folders) {
    const info = await files.target(`${folder}/${name}`).catch(() => null);
    if (info?.kind === "file" && (info.mode & 0o111) !== 0) return `${folder}/${name}`;
  }
  return null;
}
