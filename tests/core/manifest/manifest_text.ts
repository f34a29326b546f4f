/** Manifests to test with, and their issues in short. */
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { Manifest } from "../../../src/core/manifest/manifest.ts";
import type { DocumentIssue } from "../../../src/core/documents/document_report.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";

export const FILE = "kaged-plugin.yaml";

const MINIMAL: Readonly<Record<string, string>> = {
  name: "notes",
  version: "0.1.0",
  kaged_api: "1",
  description: "Keeps notes",
  command: "[js, ./notes.js]",
  capabilities: "[]",
};

/** The least manifest, its six fields on lines 1 to 6, `more` from line 7 on. Fields given as null are left out. */
export function manifestText(more = "", fields: Readonly<Record<string, string | null>> = {}): string {
  const lines = Object.entries({ ...MINIMAL, ...fields }).filter(([, value]) => value !== null);
  return `${lines.map(([key, value]) => `${key}: ${value}`).join("\n")}\n${more}\n`;
}

/** The manifest a text holds. */
export async function manifestOf(text: string): Promise<Manifest> {
  return (await parseManifest(text, { file: FILE })).manifest;
}

/** What is wrong with a text, in full. */
export async function issuesOf(text: string): Promise<DocumentIssue[]> {
  try {
    await parseManifest(text, { file: FILE });
    return [];
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "manifest.invalid") {
      return (thrown.data as { issues: DocumentIssue[] }).issues;
    }
    throw thrown;
  }
}

/** What is wrong with a text: `code line:column path`. */
export async function problems(text: string): Promise<string[]> {
  return (await issuesOf(text)).map(short);
}

/** What is doubtful about a text: `code line:column path`. */
export async function doubts(text: string): Promise<string[]> {
  return (await parseManifest(text, { file: FILE })).warnings.map(short);
}

function short({ code, line, column, path }: DocumentIssue): string {
  return `${code} ${line}:${column} ${path}`.trim();
}
