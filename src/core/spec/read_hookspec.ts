/**
 * Reads a hookspec from its folder.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Files } from "../ports.ts";
import { DocumentReport } from "../yaml/document_report.ts";
import { readDocumentText } from "../yaml/read_text.ts";
import { parseHookspec } from "./parse_hookspec.ts";
import type { Hookspec } from "./types.ts";

const MAX_BYTES = 1024 * 1024;
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
    throw new HostError("hookspec.missing", `No hookspec at "${root}": it has no folder "kinds"`, {
      data: { dir: root },
      hint: "Name the folder that holds _meta and kinds",
    });
  }
  const texts = new Map<string, string>();
  for (const path of await pathsIn(root, files)) {
    const file = `${root}/${path}`;
    const report = new DocumentReport(file, { room: "hookspec", title: "Hookspec" });
    const text = await readDocumentText(file, files, { report, maxBytes: MAX_BYTES });
    if (text !== null) texts.set(path, text);
  }
  return await parseHookspec(texts, { root });
}

/** Returns the files a hookspec is made of, from its folder; what else is there is none of it. */
async function pathsIn(root: string, files: Files): Promise<string[]> {
  const found: string[] = [];
  const add = async (folder: string, ending: string): Promise<void> => {
    if ((await files.target(`${root}/${folder}`))?.kind !== "directory") return;
    const names = (await files.list(`${root}/${folder}`)).filter((name) => name.endsWith(ending)).sort();
    found.push(...names.map((name) => `${folder}/${name}`));
    if (found.length > MAX_FILES) {
      throw new HostError("hookspec.too_many_files", `"${root}" has more than ${MAX_FILES} files`);
    }
  };
  await add("_meta", ".yaml");
  for (const kind of (await files.list(`${root}/kinds`)).sort()) {
    await add(`kinds/${kind}`, ".yaml");
    await add(`kinds/${kind}/schemas`, ".json");
  }
  return found;
}
