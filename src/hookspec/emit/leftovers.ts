/**
 * Finds generated files whose kind, or whose version of it, is gone from the hookspec.
 *
 * @module
 */
import type { Files } from "../../core/ports/ports.ts";
import type { TargetLanguage } from "../types.ts";
import { GENERATED_MARK } from "./text.ts";

/** How files of a language end that stand side by side in its folder. */
const ENDINGS: Readonly<Record<Exclude<TargetLanguage, "go">, string>> = {
  typescript: ".ts",
  python: ".py",
  openrpc: ".json",
  markdown: ".md",
};
/** The mark stands behind a description in some languages. */
const HEAD_BYTES = 64 * 1024;

/**
 * Returns the files in a language's folder that say they are generated from a hookspec and are not among `emitted`,
 * absolute paths as `folder` is. Files that people wrote lack the mark.
 */
export async function leftoverFiles(
  language: TargetLanguage,
  folder: string,
  { emitted, files }: { readonly emitted: ReadonlySet<string>; readonly files: Files },
): Promise<string[]> {
  const paths = language === "go" ? await goFiles(folder, files) : await flatFiles(folder, ENDINGS[language], files);
  const found: string[] = [];
  for (const path of paths.sort()) {
    if (emitted.has(path) || (await files.info(path))?.kind !== "file") continue;
    const head = new TextDecoder().decode(await files.readHead(path, HEAD_BYTES));
    if (head.includes(GENERATED_MARK)) found.push(path);
  }
  return found;
}

async function flatFiles(folder: string, ending: string, files: Files): Promise<string[]> {
  return (await namesIn(folder, files)).filter((name) => name.endsWith(ending)).map((name) => `${folder}/${name}`);
}

/** Returns paths of the form `<kind>/v<N>/<kind>.go`. */
async function goFiles(folder: string, files: Files): Promise<string[]> {
  const paths: string[] = [];
  for (const kind of await namesIn(folder, files)) {
    const versions = (await namesIn(`${folder}/${kind}`, files)).filter((name) => /^v[0-9]+$/.test(name));
    paths.push(...versions.map((version) => `${folder}/${kind}/${version}/${kind}.go`));
  }
  return paths;
}

async function namesIn(folder: string, files: Files): Promise<string[]> {
  return (await files.target(folder))?.kind === "directory" ? [...await files.list(folder)] : [];
}
