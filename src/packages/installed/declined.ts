/**
 * Plugins that the operator declined, in `declined.json` of the home: a host that starts again, or another command, does
 * not ask for them until the project declares something else.
 *
 * @module
 */
import { withHomeLock } from "../../core/files/file_lock.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { MissingPlugin } from "../../core/project/types.ts";
import { isMap } from "../../core/values/plain_data.ts";

/** The declaration that was declined: another source or version is another question. */
export type Declaration = Pick<MissingPlugin, "package" | "source" | "version">;

/** Where the answers of one project are kept. */
export interface DeclinedPlace {
  readonly home: string;
  /** The project's folder: a relative source means another plugin elsewhere. */
  readonly projectDir: string;
  readonly runtime: Pick<Runtime, "files" | "ids" | "clock" | "databases">;
}

type Projects = Readonly<Record<string, readonly Declaration[]>>;

/** Whether two declarations ask for the same plugin from the same source. */
export function isSameDeclaration(a: Declaration, b: Declaration): boolean {
  return a.package === b.package && a.source === b.source && a.version === b.version;
}

/** Returns what the operator declined for the project. */
export async function readDeclined(place: DeclinedPlace): Promise<readonly Declaration[]> {
  const projects = await readProjects(place);
  return Object.hasOwn(projects, place.projectDir) ? projects[place.projectDir]! : [];
}

/** Replaces what is declined for the project by what `change` returns of it; writes nothing where that is the same. */
export async function changeDeclined(
  place: DeclinedPlace,
  change: (declined: readonly Declaration[]) => readonly Declaration[],
): Promise<void> {
  const { home, projectDir, runtime } = place;
  const { files, ids } = runtime;
  const isDifferent = async (): Promise<boolean> => {
    const before = await readDeclined(place);
    return JSON.stringify(change(before)) !== JSON.stringify(before);
  };
  if (!await isDifferent()) return; // Mostly: then no lock is taken and no home is made.
  await withHomeLock(home, runtime, async () => {
    const { [projectDir]: before = [], ...others } = await readProjects(place);
    const after = change(before).map(({ package: name, source, version }) => ({ package: name, source, version }));
    const projects = { ...others, ...(after.length > 0 && { [projectDir]: after }) };
    const fresh = `${home}/${ids.create("declined")}.tmp`;
    await files.write(fresh, `${JSON.stringify({ version: 1, projects }, null, 2)}\n`, 0o600);
    await files.rename(fresh, fileIn(home));
  });
}

/** A file that cannot be read holds no answers: the operator is then asked once more, which grants nothing. */
async function readProjects({ home, runtime: { files } }: DeclinedPlace): Promise<Projects> {
  const text = await files.readText(fileIn(home)).catch(() => "{}");
  try {
    const data: unknown = JSON.parse(text);
    const projects = isMap(data) && isMap(data["projects"]) ? data["projects"] : {};
    return Object.fromEntries(Object.entries(projects).map(([dir, list]) => [dir, declarations(list)]));
  } catch {
    return {};
  }
}

function declarations(list: unknown): Declaration[] {
  const isText = (value: unknown): boolean => value === null || typeof value === "string";
  return (Array.isArray(list) ? list : []).filter((one): one is Declaration =>
    isMap(one) && typeof one["package"] === "string" && isText(one["source"]) && isText(one["version"])
  );
}

function fileIn(home: string): string {
  return `${home}/declined.json`;
}
