/**
 * Runs samples of the documents that this project implements, each as it stands there: `<document>/<name>.txt` holds its
 * bytes.
 *
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Reads a sample. */
export function sample(name: string): Promise<string> {
  return readFile(new URL(`${name}.txt`, import.meta.url), "utf8");
}

const GIVEN = Symbol.for("kaged.tests.seeds");
let runs = 0;

/** How a sample is run. */
export interface SampleOptions {
  /** Folder that the sample is written to. */
  readonly dir: string;
  /** Names that the document takes for granted, in scope of the sample. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Modules that the sample imports, by the path it names; each has the names of `given`. */
  readonly modules?: readonly string[];
}

/** Runs a sample as a module, whose first line brings the given names; returns its exports. */
export async function runSample(
  text: string,
  { dir, given, modules = [] }: SampleOptions,
): Promise<Record<string, unknown>> {
  const id = `run${runs++}`;
  const all = (globalThis as unknown as Record<symbol, Record<string, unknown>>)[GIVEN] ??= {};
  all[id] = given;
  const folder = join(dir, id);
  const names = Object.keys(given);
  const lines = names.map((name) => `export const ${name} = given[${JSON.stringify(name)}];`).join("\n");
  const source = `const given = globalThis[Symbol.for("kaged.tests.seeds")].${id};\n${lines}\n`;
  for (const path of ["given.js", ...modules]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), source);
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const imported = [...text.matchAll(/^import \{ (.*) \} from/gm)].flatMap(([, list]) => list!.split(", "));
  const free = names.filter((name) => !imported.includes(name));
  const file = join(folder, "sample.ts");
  await writeFile(file, `import { ${free.join(", ")} } from "./given.js";\n${text}`);
  return await import(pathToFileURL(file).href);
}
