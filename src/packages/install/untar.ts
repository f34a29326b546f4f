/**
 * Unpacks a tar archive that nobody trusts, as `npm pack` and `tar` write them: sizes and counts are bounded, and an
 * entry that is a link, leads out of the folder or stands there twice ends the work.
 *
 * @module
 */
import type { HostError } from "../../core/errors/host_error.ts";
import { refuseName, tooMany, tooMuch, type Unpacking } from "./unpacking.ts";

const BLOCK = 512;
const CHECKSUM_AT = 148;
/** Kinds of entries that describe the next one: a longer name, or more fields than fit a header. */
const MAX_DESCRIPTION = 64 * 1024;

interface TarEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  readonly isExecutable: boolean;
  readonly content: Uint8Array;
}

/** Whether bytes look like a tar archive. */
export function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= BLOCK && textAt(bytes, 257, 5) === "ustar";
}

/** Unpacks a tar archive. Files may have been written when it rejects: the caller removes the folder. */
export async function untar(archive: Uint8Array, { dir, files, limits, refuse }: Unpacking): Promise<void> {
  const kinds = new Map<string, TarEntry["kind"]>();
  const makeDirs = async (path: string): Promise<void> => {
    const place = path.toLowerCase();
    if (path === "" || kinds.get(place) === "directory") return;
    if (kinds.has(place)) throw refuse(`${JSON.stringify(path)} stands there twice`);
    await makeDirs(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    kinds.set(place, "directory");
    if (kinds.size > limits.maxEntries) throw refuse(tooMany(limits));
    await files.makeDir(`${dir}/${path}`, { recursive: true, mode: 0o700 });
  };
  let total = 0;
  for (const { name, kind, isExecutable, content } of entriesOf(archive, refuse)) {
    if (kind === "directory") {
      await makeDirs(name);
      continue;
    }
    const place = name.toLowerCase();
    if (kinds.has(place)) throw refuse(`${JSON.stringify(name)} stands there twice`);
    await makeDirs(name.slice(0, Math.max(0, name.lastIndexOf("/"))));
    kinds.set(place, "file");
    if (kinds.size > limits.maxEntries) throw refuse(tooMany(limits));
    total += content.length;
    if (total > limits.maxBytes) throw refuse(tooMuch(limits));
    await files.write(`${dir}/${name}`, content, isExecutable ? 0o755 : 0o644);
  }
}

/** Reads one entry after the other; the root of the archive itself is left out. */
function* entriesOf(archive: Uint8Array, refuse: (why: string) => HostError): Generator<TarEntry> {
  let described: { path?: string } = {};
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return;
    if (checksumOf(header) !== octalAt(header, CHECKSUM_AT, 8)) throw refuse("it is damaged");
    const size = octalAt(header, 124, 12);
    const from = at + BLOCK;
    if (size === null || from + size > archive.length) throw refuse("it is cut off");
    const content = archive.subarray(from, from + size);
    at = from + Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "x" || type === "L" || type === "g") {
      if (size > MAX_DESCRIPTION) throw refuse("a name in it is too long");
      // What a global header says of all entries, such as the commit they are of, matters to nobody here.
      if (type === "x") described = { ...described, ...paxFields(content, refuse) };
      if (type === "L") described = { path: textOf(content, refuse) };
      continue;
    }
    const written = described.path ?? headerName(header, refuse);
    described = {};
    const name = written.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
    if (name === "" || name === ".") continue;
    refuseName(name, refuse);
    if (!["0", "\0", "5"].includes(type)) throw refuse(`${JSON.stringify(name)} is a link or a special file`);
    const isExecutable = ((octalAt(header, 100, 8) ?? 0) & 0o100) !== 0;
    const kind = type === "5" || written.endsWith("/") ? "directory" : "file";
    yield { name, kind, isExecutable, content };
  }
}

/** Returns the fields of an extended header that this reader heeds. One that changes a size would change what follows. */
function paxFields(content: Uint8Array, refuse: (why: string) => HostError): { path?: string } {
  const found: { path?: string } = {};
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const length = Number(space === -1 ? NaN : textOf(content.subarray(at, space), refuse));
    if (!Number.isInteger(length) || length <= space - at || at + length > content.length) {
      throw refuse("it is damaged");
    }
    const record = textOf(content.subarray(space + 1, at + length - 1), refuse);
    const equals = record.indexOf("=");
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key === "path") found.path = value;
    if (key === "size") throw refuse("a file in it is larger than 8 GB");
    at += length;
  }
  return found;
}

function headerName(header: Uint8Array, refuse: (why: string) => HostError): string {
  const name = textOf(fieldAt(header, 0, 100), refuse);
  const prefix = textAt(header, 257, 6) === "ustar\0" ? textOf(fieldAt(header, 345, 155), refuse) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Returns a field up to its first NUL. */
function fieldAt(bytes: Uint8Array, at: number, length: number): Uint8Array {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}

function textOf(bytes: Uint8Array, refuse: (why: string) => HostError): string {
  const end = bytes.indexOf(0);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(end === -1 ? bytes : bytes.subarray(0, end));
  } catch {
    throw refuse("a name in it is no UTF-8");
  }
}

/** Reads a number in octal digits; null where there is none, as in the form for files larger than 8 GB. */
function octalAt(bytes: Uint8Array, at: number, length: number): number | null {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(textAt(bytes, at, length))?.[1];
  return digits === undefined ? null : parseInt(digits, 8);
}

/** Sum of all bytes of a header, with spaces in the place of the sum. */
function checksumOf(header: Uint8Array): number {
  const isSum = (at: number): boolean => at >= CHECKSUM_AT && at < CHECKSUM_AT + 8;
  return header.reduce((sum, byte, at) => sum + (isSum(at) ? 0x20 : byte), 0);
}
