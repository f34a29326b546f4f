/**
 * The packages of `node_modules` that hosts took plugins from, in `vouched.json` of the home: the version and the hash
 * of each, for each project. An operator never agreed to them, so this file only tells one state from the next.
 *
 * @module
 */
import { withHomeLock } from "../../core/files/file_lock.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { isMap } from "../../core/values/plain_data.ts";

/** A package as a host found it. */
export interface VouchedPackage {
  readonly version: string;
  readonly hash: string;
}

/** Packages of one project, by name. */
export type VouchedPackages = Readonly<Record<string, VouchedPackage>>;

interface VouchedPlace {
  readonly home: string;
  readonly projectDir: string;
  readonly runtime: Pick<Runtime, "files" | "ids" | "clock" | "databases">;
}

/** Returns the packages of a project as hosts found them last. */
export async function readVouched({ home, projectDir, runtime }: VouchedPlace): Promise<VouchedPackages> {
  const projects = await readProjects(home, runtime);
  return Object.hasOwn(projects, projectDir) ? projects[projectDir]! : {};
}

/** Records packages of a project; those that the project no longer uses stay, for the day on which it does again. */
export async function recordVouched(found: VouchedPackages, place: VouchedPlace): Promise<void> {
  const { home, projectDir, runtime } = place;
  await withHomeLock(home, runtime, async () => {
    const projects = await readProjects(home, runtime);
    const own = { ...(Object.hasOwn(projects, projectDir) ? projects[projectDir] : {}), ...found };
    const file = { version: 1, projects: { ...projects, [projectDir]: own } };
    const fresh = `${home}/${runtime.ids.create("vouched")}.tmp`;
    await runtime.files.write(fresh, `${JSON.stringify(file, null, 2)}\n`, 0o600);
    await runtime.files.rename(fresh, `${home}/vouched.json`);
  });
}

/** A file that cannot be read knows no package: each is then recorded, and audited, as if it were new. */
async function readProjects(
  home: string,
  { files }: VouchedPlace["runtime"],
): Promise<Record<string, VouchedPackages>> {
  try {
    const data: unknown = JSON.parse(await files.readText(`${home}/vouched.json`));
    const projects = isMap(data) && isMap(data["projects"]) ? data["projects"] : {};
    return Object.fromEntries(Object.entries(projects).map(([dir, packages]) => [dir, packagesIn(packages)]));
  } catch {
    return {};
  }
}

function packagesIn(value: unknown): VouchedPackages {
  const isPackage = (one: unknown): one is VouchedPackage =>
    isMap(one) && typeof one["version"] === "string" && typeof one["hash"] === "string";
  const entries = isMap(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, VouchedPackage] => isPackage(entry[1])));
}
