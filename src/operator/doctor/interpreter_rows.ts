/**
 * Interpreters that a plugin can name in its `command`, and the command that installs a package here.
 *
 * @module
 */
import { asHostError } from "../../core/errors/host_error.ts";
import type { FileInfo, Runtime } from "../../core/ports/ports.ts";
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

/** Returns one row per interpreter, beginning with `js`: the runtime of this process. Those of `runtimes` come first. */
export async function interpreterRows(
  runtime: Runtime,
  { install, runtimes }: {
    readonly install: (packageName: string) => string;
    /** Interpreters that the operator named, with their paths. */
    readonly runtimes: Readonly<Record<string, string>>;
  },
): Promise<MachineRow[]> {
  const usual = new Map(INTERPRETERS);
  const named = Object.keys(runtimes).filter((name) => name !== "bwrap" && name !== "js");
  const rows: MachineRow[] = [await jsRow(runtime, runtimes.js)];
  for (const name of new Set([...usual.keys(), ...named])) {
    rows.push(
      Object.hasOwn(runtimes, name)
        ? await namedRow(name, runtimes[name]!, runtime)
        : await foundRow(name, usual.get(name) ?? null, { runtime, install }),
    );
  }
  return rows;
}

async function jsRow(runtime: Runtime, path: string | undefined): Promise<MachineRow> {
  try {
    const { executable } = await runtime.scripts(path);
    return { id: "js", status: "ok", detail: path === undefined ? executable : `${executable}, named in config.toml` };
  } catch (error) {
    const { code, message, hint } = asHostError(error);
    return { id: "js", status: "missing", code, detail: message, ...(hint !== undefined && { hint }) };
  }
}

async function namedRow(name: string, path: string, { files }: Runtime): Promise<MachineRow> {
  const row = { id: name, optional: true } as const;
  const info = await files.target(path).catch(() => null);
  if (isProgram(info)) return { ...row, status: "ok", detail: `${path}, named in config.toml` };
  const detail = `config.toml names ${path}, where no program is: plugins that name it cannot start`;
  return { ...row, status: "missing", detail, hint: `Correct runtimes.${name} in config.toml` };
}

async function foundRow(
  name: string,
  packageName: string | null,
  { runtime, install }: { readonly runtime: Runtime; readonly install: (packageName: string) => string },
): Promise<MachineRow> {
  const path = name === runtime.name ? runtime.executable : await findIn(FOLDERS, name, runtime);
  const row = { id: name, optional: true } as const;
  if (path !== null) return { ...row, status: "ok", detail: path };
  const hint = packageName === null
    ? `Only where a plugin needs it: runtimes.${name} = "<path>" in config.toml, or --runtime-path ${name}=<path>`
    : install(packageName);
  return {
    ...row,
    status: "missing",
    detail: `Not in ${FOLDERS.join(" or ")}: plugins that name it cannot start`,
    hint,
  };
}

async function findIn(folders: readonly string[], name: string, { files }: Runtime): Promise<string | null> {
  for (const folder of folders) {
    const info = await files.target(`${folder}/${name}`).catch(() => null);
    if (isProgram(info)) return `${folder}/${name}`;
  }
  return null;
}

function isProgram(info: FileInfo | null): boolean {
  return info?.kind === "file" && (info.mode & 0o111) !== 0;
}

/** Package managers by the name a distribution goes under in `/etc/os-release`. */
const MANAGERS: Readonly<Record<string, string>> = {
  debian: "apt-get install -y",
  ubuntu: "apt-get install -y",
  fedora: "dnf install -y",
  rhel: "dnf install -y",
  centos: "dnf install -y",
  suse: "zypper install -y",
  opensuse: "zypper install -y",
  arch: "pacman -S --noconfirm",
  alpine: "apk add",
};

/** Returns a function that gives the command to install a package, as a person would type it here. */
export async function installCommand({ files, uid }: Runtime): Promise<(packageName: string) => string> {
  const release = await files.readText("/etc/os-release").catch(() => "");
  const manager = packageManager(release);
  const sudo = uid === 0 ? "" : "sudo ";
  return (name) => manager === null ? `Install the package ${name}` : `Run: ${sudo}${manager} ${name}`;
}

/** Returns the package manager of the system that `/etc/os-release` describes, or null when it is unknown. */
export function packageManager(release: string): string | null {
  const names = [...release.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)]
    .flatMap(([, value = ""]) => value.replace(/^["']|["']$/g, "").split(/[\s-]+/));
  const known = names.find((name) => Object.hasOwn(MANAGERS, name));
  return known === undefined ? null : MANAGERS[known]!;
}
