/**
 * Unpacks a zip archive that nobody trusts: sizes and counts are bounded, and an entry that is a link, leads out of the
 * folder or stands there twice ends the work before anything is written.
 *
 * @module
 */
import type { HostError } from "../../core/errors/host_error.ts";
import type { TreeLimits } from "../../core/files/tree.ts";
import { refuseName, tooMany, tooMuch, type Unpacking } from "./unpacking.ts";

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;
/** The longest comment of an archive, and a signature that signed bundles carry behind it. */
const TAIL_BYTES = 2 ** 16 + 64 * 1024;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
const ZIP64 = 0xffffffff;
const KIND_MASK = 0o170000;
const KIND_FILE = 0o100000;
const KIND_DIRECTORY = 0o040000;
/** Compressed bytes handed over at once: they can unfold to about a thousand times as many. */
const SLICE = 16 * 1024;

interface ZipEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly isExecutable: boolean;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  /** Offset of its local header. */
  readonly at: number;
}

/** Unpacks a zip archive. Files may have been written when it rejects: the caller removes the folder. */
export async function unzip(archive: Uint8Array, { dir, files, limits, refuse }: Unpacking): Promise<void> {
  const entries = readEntries(archive, refuse, limits);
  const made = new Set<string>();
  for (const entry of entries) {
    const folder = entry.isDirectory ? entry.name : entry.name.slice(0, Math.max(0, entry.name.lastIndexOf("/")));
    if (folder !== "" && !made.has(folder)) {
      await files.makeDir(`${dir}/${folder}`, { recursive: true, mode: 0o700 });
      made.add(folder);
    }
    if (entry.isDirectory) continue;
    const content = await contentOf(archive, entry, refuse);
    await files.write(`${dir}/${entry.name}`, content, entry.isExecutable ? 0o755 : 0o644);
  }
}

/** Reads the list of entries at the end of the archive; what stands before a file's content is not trusted. */
function readEntries(archive: Uint8Array, refuse: (why: string) => HostError, limits: TreeLimits): ZipEntry[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = endOf(view);
  if (end === -1) throw refuse("it is no zip archive");
  const count = view.getUint16(end + 10, true);
  if (count > limits.maxEntries) throw refuse(tooMany(limits));
  const entries: ZipEntry[] = [];
  const names = new Set<string>();
  let at = view.getUint32(end + 16, true);
  let total = 0;
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_BYTES > view.byteLength || view.getUint32(at, true) !== CENTRAL) {
      throw refuse("its list is cut off");
    }
    const { entry, next } = entryAt(view, at, archive, refuse);
    at = next;
    const place = entry.name.toLowerCase();
    if (names.has(place)) throw refuse(`${JSON.stringify(entry.name)} stands there twice`);
    names.add(place);
    total += entry.size;
    if (total > limits.maxBytes) throw refuse(tooMuch(limits));
    entries.push(entry);
  }
  return entries;
}

/** Offset of the end record, the last one there is; -1 where there is none. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - TAIL_BYTES); at--) if (view.getUint32(at, true) === END) return at;
  return -1;
}

function entryAt(
  view: DataView,
  at: number,
  archive: Uint8Array,
  refuse: (why: string) => HostError,
): { entry: ZipEntry; next: number } {
  const half = (offset: number): number => view.getUint16(at + offset, true);
  const word = (offset: number): number => view.getUint32(at + offset, true);
  const nameEnd = at + CENTRAL_BYTES + half(28);
  if (nameEnd > archive.length) throw refuse("its list is cut off");
  const written = nameOf(archive.subarray(at + CENTRAL_BYTES, nameEnd), refuse);
  const isDirectory = written.endsWith("/");
  const name = written.replace(/\/+$/, "");
  const isUnix = half(4) >> 8 === 3;
  const mode = isUnix ? word(38) >>> 16 : 0;
  const [packed, size, offset] = [word(20), word(24), word(42)];
  refuseName(name, refuse);
  const kind = mode & KIND_MASK;
  if (kind !== 0 && kind !== (isDirectory ? KIND_DIRECTORY : KIND_FILE)) {
    throw refuse(`${JSON.stringify(name)} is a link or a special file`);
  }
  if (half(8) & ENCRYPTED) throw refuse(`${JSON.stringify(name)} is encrypted`);
  if (packed === ZIP64 || size === ZIP64) throw refuse(`${JSON.stringify(name)} is larger than 4 GB`);
  const method = half(10);
  if (method !== STORED && method !== DEFLATED) throw refuse(`${JSON.stringify(name)} is packed in an unknown way`);
  const isExecutable = (mode & 0o100) !== 0;
  const entry = { name, isDirectory, isExecutable, method, packed, size: isDirectory ? 0 : size, at: offset };
  return { entry, next: nameEnd + half(30) + half(32) };
}

function nameOf(bytes: Uint8Array, refuse: (why: string) => HostError): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse("a name in it is no UTF-8");
  }
}

/** Returns the content of a file, which must have exactly the size that the list says. */
async function contentOf(
  archive: Uint8Array,
  { name, method, packed, size, at }: ZipEntry,
  refuse: (why: string) => HostError,
): Promise<Uint8Array> {
  const wrong = (): HostError => refuse(`${JSON.stringify(name)} is damaged, or not of the size that it claims`);
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  if (at + LOCAL_BYTES > archive.length || view.getUint32(at, true) !== LOCAL) throw wrong();
  const from = at + LOCAL_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (from + packed > archive.length) throw wrong();
  const data = archive.subarray(from, from + packed);
  if (method === STORED) {
    if (packed !== size) throw wrong();
    return data;
  }
  const content = await inflated(data, size).catch(() => null);
  if (content === null) throw wrong();
  return content;
}

async function inflated(data: Uint8Array, size: number): Promise<Uint8Array> {
  const { Inflate } = await import("fflate");
  const content = new Uint8Array(size);
  let filled = 0;
  const stream = new Inflate((chunk) => {
    if (filled + chunk.length > size) throw new RangeError("larger than it claims");
    content.set(chunk, filled);
    filled += chunk.length;
  });
  for (let from = 0; from === 0 || from < data.length; from += SLICE) {
    stream.push(data.subarray(from, from + SLICE), from + SLICE >= data.length);
  }
  if (filled !== size) throw new RangeError("smaller than it claims");
  return content;
}
