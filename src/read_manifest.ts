/**
 * The reader of manifests as an embedder calls it: on the runtime the program runs on.
 *
 * @module
 */
import { detectRuntime } from "./adapters/default.ts";
import { type ParsedManifest, readManifest as readWith } from "./core/manifest/read_manifest.ts";
import type { Files } from "./core/ports/ports.ts";

/**
 * Reads the manifest in a plugin's folder; `files` replaces the runtime's file system, for tests.
 *
 * @throws {HostError} `manifest.missing`, `manifest.unreadable`, or `manifest.invalid` with every issue in
 * `data.issues`.
 */
export async function readManifest(dir: string, files?: Files): Promise<ParsedManifest> {
  return await readWith(dir, files ?? (await detectRuntime()).files);
}
