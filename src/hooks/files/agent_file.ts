/**
 * Hooks in the front matter of an `.agent.md` file: they are for that agent alone (B-009).
 *
 * @module
 */
import { typeName } from "../../core/project/values.ts";
import { isMap } from "../../core/values/plain_data.ts";
import type { DocumentPath, DocumentReport } from "../../core/documents/document_report.ts";
import { readYamlTree } from "../../core/documents/yaml_tree.ts";
import { readHookMap } from "./parse_hook_map.ts";
import type { FileHook } from "./types.ts";

const LIMITS = { maxLexemes: 50_000, maxNodes: 10_000 };
const FRONT_MATTER = /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Reads the hooks of an agent file; none when it has no front matter or no hooks in it. */
export async function readAgentFile(
  text: string,
  { file, name, report }: { readonly file: string; readonly name: string; readonly report: DocumentReport },
): Promise<FileHook[]> {
  const yaml = FRONT_MATTER.exec(text)?.[1];
  if (yaml === undefined) return [];
  // The fence becomes an empty line, so that every place is the file's own.
  const tree = await readYamlTree(`\n${yaml}\n`, report, LIMITS);
  const data = tree?.data ?? {};
  if (!isMap(data)) {
    report.error("hook.not_a_map", [], { message: `Expected fields in the front matter, got ${typeName(data)}` });
    return [];
  }
  if (data["hooks"] === undefined || data["hooks"] === null) return [];
  const path: DocumentPath = ["hooks"];
  return readHookMap(data["hooks"], path, { file, name, dialect: "agent", agent: agentName(data, file), report });
}

/** The agent's `name:`, else the name of its file. */
function agentName(data: Readonly<Record<string, unknown>>, file: string): string {
  const { name } = data;
  if (typeof name === "string" && name.trim() !== "") return name.trim();
  return (file.split("/").at(-1) ?? file).replace(/(?:\.agent)?\.md$/, "");
}
