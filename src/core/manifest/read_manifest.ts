/**
 * Reads `kaged-plugin.yaml`.
 *
 * @module
 */
import { type DocumentIssue, type DocumentKind, DocumentReport } from "../documents/document_report.ts";
import { requireDocumentText } from "../documents/read_text.ts";
import { parseYaml } from "../documents/read_yaml.ts";
import type { Files } from "../ports/ports.ts";
import type { Manifest } from "./manifest.ts";

/** Name of the file that makes a folder a plugin. */
export const MANIFEST_FILE = "kaged-plugin.yaml";

/** Bytes a manifest may have. */
export const MAX_MANIFEST_BYTES: number = 256 * 1024;

const KIND: DocumentKind = { room: "manifest", title: "Manifest", maxBytes: MAX_MANIFEST_BYTES };

/** A manifest that follows the rules, and the doubts about it. */
export interface ParsedManifest {
  /** The manifest, with every default filled in and everything in canonical form. */
  readonly manifest: Manifest;
  /** Entries that are allowed and look like slips. */
  readonly warnings: readonly DocumentIssue[];
}

/**
 * Reads the manifest in a plugin's folder.
 *
 * @throws {HostError} `manifest.missing`, `manifest.unreadable`, or `manifest.invalid` with every issue in
 * `data.issues`.
 */
export async function readManifest(dir: string, files: Files): Promise<ParsedManifest> {
  const file = `${dir.replace(/\/+$/, "")}/${MANIFEST_FILE}`;
  const hint = "Name the folder that holds kaged-plugin.yaml, or make one with kaged plugin new";
  return await parseManifest(await requireDocumentText(new DocumentReport(file, KIND), files, hint), { file });
}

/**
 * Reads the text of a manifest; `file` names it in issues.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const text = "name: notes\nversion: 0.1.0\nkaged_api: 1\ndescription: Notes\ncommand: [js, ./notes.js]\ncapabilities: []\n";
 * const { manifest } = await parseManifest(text, { file: "kaged-plugin.yaml" });
 * assert.equal(manifest.health_interval_sec, 30);
 * ```
 * @throws {HostError} `manifest.invalid`, with every issue in `data.issues`.
 */
export async function parseManifest(text: string, { file }: { readonly file: string }): Promise<ParsedManifest> {
  const { data, report } = await parseYaml(text, file, KIND);
  // The schema library loads at the first manifest, not with the host.
  const { checkManifest } = await import("./check_manifest.ts");
  const manifest = await checkManifest(data, report);
  report.throwErrors();
  return { manifest: manifest!, warnings: report.warnings };
}
