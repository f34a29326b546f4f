/**
 * A plugin in an archive: `.tgz` as `npm pack` writes it, `.tar.gz`, `.tar` or `.zip`.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { TREE_LIMITS, type TreeLimits } from "../../core/files/tree.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { tooMuch, type Unpacking } from "./unpacking.ts";
import { isTar, untar } from "./untar.ts";
import { unzip } from "./unzip.ts";

/** Bytes that a tar archive may have besides its files: two blocks for each, and the padding at its end. */
const TAR_EXTRA = ({ maxEntries }: TreeLimits): number => maxEntries * 2048 + 64 * 1024;

/**
 * Unpacks an archive into `dir`, which is empty; nothing of it runs. Returns the folder of the plugin: the root of the
 * archive, or the one folder that is there, such as `package` of an npm package.
 *
 * @throws {HostError} `install.archive_invalid`. Files may have been written then: the caller removes the folder.
 */
export async function unpackArchive(
  file: string,
  dir: string,
  { runtime: { files }, limits = TREE_LIMITS }: { readonly runtime: Runtime; readonly limits?: TreeLimits },
): Promise<string> {
  const refuse = (why: string, cause?: unknown): HostError =>
    new HostError("install.archive_invalid", `Cannot unpack "${file}": ${why}`, {
      data: { file, why },
      hint: "Ask its author for an archive made by npm pack, or unpack it yourself and install the folder",
      cause,
    });
  const info = await files.target(file).catch(() => null);
  if (info?.kind !== "file") {
    throw new HostError("install.source_missing", `There is no file "${file}"`, {
      data: { file },
      hint: "Name the archive that holds the plugin",
    });
  }
  if (info.size > limits.maxBytes + TAR_EXTRA(limits)) throw refuse(tooMuch(limits));
  try {
    await unpack(await files.readBytes(file), { dir, files, limits, refuse });
  } catch (thrown) {
    throw thrown instanceof HostError ? thrown : refuse(messageOf(thrown), thrown);
  }
  const names = await files.list(dir);
  const [only] = names;
  const isWrapped = names.length === 1 && (await files.info(`${dir}/${only}`))?.kind === "directory";
  return isWrapped ? `${dir}/${only}` : dir;
}

async function unpack(bytes: Uint8Array, unpacking: Unpacking): Promise<void> {
  const { limits, refuse } = unpacking;
  if (startsWith(bytes, [0x50, 0x4b])) return await unzip(bytes, unpacking);
  const isZipped = startsWith(bytes, [0x1f, 0x8b]);
  const tar = isZipped ? await gunzipped(bytes, limits, refuse) : bytes;
  if (!isTar(tar)) throw refuse("it is neither a tar nor a zip archive");
  await untar(tar, unpacking);
}

/** Returns what was compressed. Its size is known only as it unfolds, so it is bounded on the way. */
async function gunzipped(bytes: Uint8Array, limits: TreeLimits, refuse: Unpacking["refuse"]): Promise<Uint8Array> {
  const max = limits.maxBytes + TAR_EXTRA(limits);
  const parts: Uint8Array[] = [];
  let size = 0;
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("gzip"));
  for (const reader = stream.getReader();;) {
    const { value, done } = await reader.read().catch(() => {
      throw refuse("it is damaged");
    });
    if (done) break;
    size += value.length;
    if (size > max) {
      await reader.cancel();
      throw refuse(tooMuch(limits));
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function startsWith(bytes: Uint8Array, head: readonly number[]): boolean {
  return head.every((byte, at) => bytes[at] === byte);
}
