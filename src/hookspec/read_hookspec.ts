/**
 * Reads a hookspec from its folder.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";
import { DocumentReport } from "../core/documents/document_report.ts";
import { readDocumentText } from "../core/documents/read_text.ts";
import { parseHookspec } from "./parse_hookspec.ts";
import { HOOKSPEC_FILE } from "./spec_document.ts";
import type { Hookspec } from "./types.ts";

const MAX_FILES = 2000;

/**
 * Reads the hookspec in `dir`.
 *
 * @throws {HostError} `hookspec.missing`, `hookspec.unreadable`, or `hookspec.invalid` with every issue of every file in
 * `data.issues`.
 */
export async function readHookspec(dir: string, files: Files): Promise<Hookspec> {
  const root = dir.replace(/(?<=.)\/+$/, "");
  if ((await files.target(`${root}/kinds`))?.kind !== "directory") {
    throw missing(root, `No hookspec at "${root}": it has no folder "kinds"`);
  }
  const texts = new Map<string, string>();
  const realRoot = await files.realPath(root);
  for (const path of await pathsIn(root, files)) {
    const file = `${root}/${path}`;
    const report = new DocumentReport(file, HOOKSPEC_FILE);
    const real = await files.realPath(file).catch(() => file); // A link to nothing fails when it is read.
    if (real !== file && !real.startsWith(`${realRoot}/`)) {
      report.errorAt("hookspec.schema_outside", undefined, { message: `The file leads to "${real}"` });
      report.throwErrors();
    }
    const text = await readDocumentText(report, files);
    if (text !== null) texts.set(path, text);
  }
  return await parseHookspec(texts, { root });
}

/** Returns the files a hookspec is made of, from its folder; what else is there is none of it. */
async function pathsIn(root: string, files: Files): Promise<string[]> {
  const found: string[] = [];
  const isFolder = async (folder: string): Promise<boolean> =>
    (await files.target(`${root}/${folder}`))?.kind === "directory";
  const add = async (folder: string, ending: string): Promise<void> => {
    if (!await isFolder(folder)) return;
    const names = (await files.list(`${root}/${folder}`)).filter((name) => name.endsWith(ending)).sort();
    found.push(...names.map((name) => `${folder}/${name}`));
    if (found.length > MAX_FILES) {
      throw new HostError("hookspec.too_many_files", `"${root}" has more than ${MAX_FILES} files`);
    }
  };
  await add("_meta", ".yaml");
  const before = found.length;
  for (const kind of (await files.list(`${root}/kinds`)).sort()) {
    const known = found.length;
    await add(`kinds/${kind}`, ".yaml");
    // Taken for gone, what follows from it would be removed.
    if (found.length === known && await isFolder(`kinds/${kind}`)) {
      const message = `No kind at "${root}/kinds/${kind}": it has no file v<N>.yaml`;
      throw missing(root, message, "Add it, or remove the folder");
    }
    await add(`kinds/${kind}/schemas`, ".json");
  }
  if (found.length === before) throw missing(root, `No hookspec at "${root}": it has no kinds/<kind>/v<N>.yaml`);
  return found;
}

function missing(dir: string, message: string, hint = "Name the folder that holds _meta and kinds"): HostError {
  return new HostError("hookspec.missing", message, { data: { dir }, hint });
}
