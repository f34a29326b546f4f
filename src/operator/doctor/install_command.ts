/**
 * The command that installs a package here.
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";

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

/** Returns what installs packages on the system that `/etc/os-release` describes, or null when it is unknown. */
export function packageManager(release: string): string | null {
  const names = [...release.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)]
    .flatMap(([, value = ""]) => value.replace(/^["']|["']$/g, "").split(/[\s-]+/));
  const known = names.find((name) => Object.hasOwn(MANAGERS, name));
  return known === undefined ? null : MANAGERS[known]!;
}
