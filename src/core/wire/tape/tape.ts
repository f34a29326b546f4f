/**
 * A tape: what went over the wire between a host and one process of a plugin, a line of JSON for each message.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";
import type { Files } from "../../ports/ports.ts";
import { isMap } from "../../values/plain_data.ts";
import { parseLine } from "../codec.ts";

/** Version of the format, in every header. */
export const TAPE_VERSION = 1;
/** Name of the format, in every header. */
export const TAPE_FORMAT = "kaged-tape";

/** A message, as it went over the wire. */
export type TapeMessage = Readonly<Record<string, unknown>>;

/** The first line of a tape. */
export interface TapeHeader {
  readonly format: string;
  readonly format_version: number;
  readonly plugin: string;
  readonly version: string;
  /** Hash of the plugin's files, or null when they could not be read. */
  readonly hash: string | null;
  readonly dir: string;
  readonly instance: string;
  /** Version of the plugin API. */
  readonly api_version: number;
  /** When it was started, ISO 8601. */
  readonly started: string;
  /** Capabilities that the operator withheld from it; absent without any. */
  readonly withheld?: readonly string[];
}

/** A line of a tape after the first. `t` is in milliseconds since the start. */
export type TapeEntry =
  | { readonly t: number; readonly from: "host" | "plugin"; readonly message: TapeMessage }
  /** A line of the plugin that is no message. */
  | { readonly t: number; readonly from: "plugin"; readonly noise: string }
  /** The host closed the plugin's stdin. */
  | { readonly t: number; readonly from: "host"; readonly closed: true }
  /** The process ended: the tape is whole. */
  | { readonly t: number; readonly from: "plugin"; readonly exit: { code: number | null; signal: string | null } };

/** A tape, read and checked. */
export interface Tape {
  readonly header: TapeHeader;
  /** The lines after it; entry 0 is line 2. */
  readonly entries: readonly TapeEntry[];
  /** Whether its last line was cut off in the middle and is left out. */
  readonly isCut: boolean;
}

/** Largest tape that is read. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Reads the tape at `path` (absolute).
 *
 * @throws {HostError} `tape.unreadable`, `tape.invalid` or `tape.version`.
 */
export async function readTape(path: string, files: Files): Promise<Tape> {
  const info = await files.target(path).catch(() => null);
  if (info?.kind !== "file" || info.size > MAX_BYTES) {
    const why = info === null
      ? "there is no such file"
      : info.kind === "file"
      ? `it has more than ${MAX_BYTES} bytes`
      : "it is no file";
    throw new HostError("tape.unreadable", `Cannot read the tape "${path}": ${why}`, { data: { path } });
  }
  return parseTape(await files.readText(path), { file: path });
}

/**
 * Reads the text of a tape. A last line that was cut off in the middle is left out.
 *
 * @throws {HostError} `tape.invalid`, with the line, or `tape.version`.
 */
export function parseTape(text: string, { file }: { readonly file: string }): Tape {
  const lines = text.split("\n");
  const isEnded = lines.at(-1) === "";
  if (isEnded) lines.pop();
  const values = lines.map(parseLine);
  const header = headerOf(values[0], file);
  const isCut = !isEnded && lines.length > 1 && !isEntry(values.at(-1));
  const entries = isCut ? values.slice(1, -1) : values.slice(1);
  const wrong = entries.findIndex((entry) => !isEntry(entry));
  if (wrong >= 0) throw invalid(file, wrong + 2, "it is no entry of a tape");
  return { header, entries: entries as TapeEntry[], isCut };
}

function headerOf(value: unknown, file: string): TapeHeader {
  if (!isMap(value) || value.format !== TAPE_FORMAT) throw invalid(file, 1, "it is no header of a tape");
  if (value.format_version !== TAPE_VERSION) {
    const found = JSON.stringify(value.format_version) ?? "none";
    const message =
      `Cannot read the tape "${file}": its format has version ${found}, and this is version ${TAPE_VERSION}`;
    throw new HostError("tape.version", message, { data: { file, found: value.format_version, known: TAPE_VERSION } });
  }
  for (const field of ["plugin", "version", "dir", "started"]) {
    if (typeof value[field] !== "string") throw invalid(file, 1, `"${field}" is no text`);
  }
  return value as unknown as TapeHeader;
}

function isEntry(value: unknown): boolean {
  if (!isMap(value) || typeof value.t !== "number") return false;
  if (value.from !== "host" && value.from !== "plugin") return false;
  return isMap(value.message) || isMap(value.exit) || typeof value.noise === "string" || value.closed === true;
}

function invalid(file: string, line: number, why: string): HostError {
  return new HostError("tape.invalid", `Cannot read the tape "${file}": line ${line}: ${why}`, {
    data: { file, line },
  });
}
