/**
 * Reads `project.yaml`.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import { type DocumentPath, DocumentReport } from "../documents/document_report.ts";
import { readDocumentText } from "../documents/read_text.ts";
import type { Project } from "./types.ts";

/** Name of the file that makes a folder a project. */
export const PROJECT_FILE = "project.yaml";

/** Bytes a project file may have. */
export const MAX_PROJECT_BYTES: number = 1024 * 1024;

const YAML_LIMITS = { maxLexemes: 400_000, maxNodes: 200_000 };

/**
 * Reads the project in a folder.
 *
 * @throws {HostError} `project.missing`, `project.unreadable`, or `project.invalid` with every issue in `data.issues`.
 */
export async function readProject(dir: string, files: Files): Promise<Project> {
  const folder = dir.replace(/(?<=.)\/+$/, "");
  const file = `${folder === "/" ? "" : folder}/${PROJECT_FILE}`;
  const text = await readDocumentText(file, files, { report: reportOn(file), maxBytes: MAX_PROJECT_BYTES });
  if (text === null) {
    throw new HostError("project.missing", `No project at "${file}"`, {
      data: { file },
      hint: 'Name a folder that holds project.yaml; "primary: {}" is a whole one',
    });
  }
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
  const report = reportOn(file);
  if (new TextEncoder().encode(text).length > MAX_PROJECT_BYTES) {
    report.errorAt("project.too_large", { line: 1, column: 1 });
    report.throwErrors();
  }
  // The YAML library loads at the first file, not with the host.
  const [{ readYamlTree }, { checkProject }] = await Promise.all([
    import("../documents/yaml_tree.ts"),
    import("./check_project.ts"),
  ]);
  const tree = await readYamlTree(text, report, YAML_LIMITS);
  const checked = tree && await checkProject(tree.data, report);
  report.throwErrors();
  if (!checked) throw new HostError("host.internal", "A project failed without an issue", { data: { file } });
  const { agents, id = slugOf(dir) } = checked;
  const places = { placeOf: (path: DocumentPath, part: "key" | "value") => report.placeOf(path, part) };
  return { id, dir, file, agents, warnings: report.warnings, places };
}

/** Returns the name of a folder as an id: `My Music` → `my-music`. */
export function slugOf(dir: string): string {
  const name = dir.split("/").filter((segment) => segment !== "").at(-1) ?? "";
  const plain = name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "");
  const slug = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "").slice(0, 56).replace(/-+$/, "");
  if (slug === "") return "project";
  return /^[a-z]/.test(slug) ? slug : `project-${slug}`;
}

function reportOn(file: string): DocumentReport {
  return new DocumentReport(file, { room: "project", title: "Project" });
}
