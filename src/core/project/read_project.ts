/**
 * Reads `project.yaml`.
 *
 * @module
 */
import { type DocumentKind, DocumentReport } from "../documents/document_report.ts";
import { requireDocumentText } from "../documents/read_text.ts";
import { parseYaml, type YamlDocument } from "../documents/read_yaml.ts";
import type { Files } from "../ports/ports.ts";
import { checkProject } from "./check_project.ts";
import type { Project } from "./types.ts";

const PROJECT_FILE = "project.yaml";
const KIND: DocumentKind = { room: "project", title: "Project", maxBytes: 1024 * 1024, maxParts: 400_000 };

/**
 * Reads the project in a folder.
 *
 * @throws {HostError} `project.missing`, `project.unreadable`, or `project.invalid` with every issue in `data.issues`.
 */
export async function readProject(dir: string, files: Files): Promise<Project> {
  const folder = dir.replace(/(?<=.)\/+$/, "");
  const file = `${folder === "/" ? "" : folder}/${PROJECT_FILE}`;
  const hint = 'Name a folder that holds project.yaml; "primary: {}" is a whole one';
  const text = await requireDocumentText(new DocumentReport(file, KIND), files, hint);
  return await parseProject(text, { dir: folder, file });
}

/**
 * Reads the text of a project file; `file` names it in issues, `dir` is the folder it is in.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const text = 'primary:\n  plugins:\n    memory: { package: "@kaged/memory-markdown" }\n';
 * const { id, agents } = await parseProject(text, { dir: "/home/ann/My Music" });
 * assert.deepEqual([id, agents[0]?.path, agents[0]?.plugins[0]?.key], ["my-music", "primary", "memory"]);
 * ```
 * @throws {HostError} `project.invalid`, with every issue in `data.issues`.
 */
export async function parseProject(
  text: string,
  { dir, file = `${dir}/${PROJECT_FILE}` }: { readonly dir: string; readonly file?: string },
): Promise<Project> {
  return await projectOf(await parseYaml(text, file, KIND), dir);
}

/**
 * Checks a document that was read before, such as one that an editor has changed.
 *
 * @throws {HostError} `project.invalid`, with every issue in `data.issues`.
 */
export async function projectOf(document: YamlDocument, dir: string): Promise<Project> {
  const { report } = document;
  const { id, ...checked } = await checkProject(document.data, report);
  report.throwErrors();
  return { id: id ?? slugOf(dir), dir, file: report.file, ...checked, warnings: report.warnings, document };
}

/** Returns the name of a folder as an id: `My Music` → `my-music`. */
export function slugOf(dir: string): string {
  const name = dir.split("/").filter((segment) => segment !== "").at(-1) ?? "";
  const plain = name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "");
  const slug = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "").slice(0, 56).replace(/-+$/, "");
  if (slug === "") return "project";
  return /^[a-z]/.test(slug) ? slug : `project-${slug}`;
}
