/**
 * A plugin's manifest, read again only when its file has changed.
 *
 * @module
 */
import type { Manifest } from "../manifest/manifest.ts";
import { MANIFEST_FILE, readManifest } from "../manifest/read_manifest.ts";
import { HostError } from "../errors/host_error.ts";
import type { FileInfo, Files } from "../ports/ports.ts";

/**
 * Returns a function that gives the manifest of `dir` as it stands now. It rejects with `manifest.*`, and for a plugin
 * of another name than `expected`: by default the one it found first.
 */
export function manifestReader(dir: string, files: Files, expected: string | null = null): () => Promise<Manifest> {
  let known: { readonly stamp: string; readonly manifest: Manifest } | null = null;
  return async () => {
    const info = await files.info(`${dir}/${MANIFEST_FILE}`);
    const stamp = info ? stampOf(info) : "";
    if (known !== null && stamp !== "" && known.stamp === stamp) return known.manifest;
    const { manifest } = await readManifest(dir, files);
    const name = known?.manifest.name ?? expected ?? manifest.name;
    if (name !== manifest.name) {
      throw new HostError("manifest.invalid", `The plugin in "${dir}" was "${name}" before`, {
        data: { expected: name, found: manifest.name },
        hint: "A plugin keeps its name; install the other one apart",
      });
    }
    known = { stamp, manifest };
    return manifest;
  };
}

function stampOf({ dev, ino, size, modifiedMs }: FileInfo): string {
  return `${dev}:${ino}:${size}:${modifiedMs}`;
}
