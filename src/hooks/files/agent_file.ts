/**
 * Hooks in the front matter of an `.agent.md` file: they are for that agent alone (B-009).
 *
 * @module
 */
import type { DocumentReport } from "../../core/documents/document_report.ts";
import { Fields } from "../../core/documents/fields.ts";
import { readYaml } from "../../core/documents/read_yaml.ts";
import { readHookMap } from "./parse_hook_map.ts";
import type { FileHook } from "./types.ts";

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Reads the hooks of an agent file; none when it has no front matter or no hooks in it. */
export async function readAgentFile(text: string, name: string, report: DocumentReport): Promise<FileHook[]> {
  const yaml = FRONT_MATTER.exec(text)?.[1];
  // The fence becomes an empty line, so that every place is the file's own.
  const document = yaml === undefined ? null : await readYaml(`\n${yaml}\n`, report);
  const root = new Fields(document?.data ?? {}, [], report);
  if ((root.data["hooks"] ?? null) === null) return [];
  return readHookMap(root, { name, dialect: "agent", agent: agentName(root.data, report.file) });
}

/** Returns the agent's `name:`, else the name of its file. */
function agentName({ name }: Readonly<Record<string, unknown>>, file: string): string {
  if (typeof name === "string" && name.trim() !== "") return name.trim();
  return (file.split("/").at(-1) ?? file).replace(/(?:\.agent)?\.md$/, "");
}
