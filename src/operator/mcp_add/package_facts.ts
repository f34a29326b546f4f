/**
 * The facts of a package: its name, version and licence, and the program that it brings.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { followPath } from "../../core/values/relative_path.ts";
import type { ServerFacts } from "./types.ts";

const MAX_JSON = 1024 * 1024;

/** Reads a JSON object; null where there is none that can be read. */
export async function readJsonFile(file: string, files: Files): Promise<Record<string, unknown> | null> {
  try {
    const bytes = await files.readHead(file, MAX_JSON + 1);
    const data: unknown = bytes.length > MAX_JSON ? null : JSON.parse(new TextDecoder().decode(bytes));
    return isMap(data) ? data : null;
  } catch {
    return null;
  }
}

/** Returns the facts of a package.json, or of the manifest of a bundle: both name them alike. */
export function factsOf(data: Readonly<Record<string, unknown>>, title: string): ServerFacts {
  const text = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined;
  const { author } = data;
  const name = isMap(author) ? text(author.name) : text(author)?.replace(/\s*[<(].*$/s, "");
  const [license, homepage] = [text(data.license), text(data.homepage)];
  return {
    title,
    version: text(data.version) ?? "0.0.0",
    description: text(data.description) ?? "",
    ...(name !== undefined && { author: name }),
    ...(license !== undefined && { license }),
    ...(homepage !== undefined && { homepage }),
  };
}

/**
 * Returns the file that a package starts, relative to its folder: the program of `bin`, of its own name where it has
 * several, else `main`.
 *
 * @throws {HostError} `mcp_add.no_program`, which names those there are.
 */
export function programOf(data: Readonly<Record<string, unknown>>, wanted: string | null): string {
  const title = typeof data.name === "string" ? data.name : "package";
  const programs = programsOf(data, title.slice(title.lastIndexOf("/") + 1));
  const names = Object.keys(programs);
  const likely = names.filter((name) => /mcp/i.test(name));
  const isOne = new Set(Object.values(programs)).size === 1;
  const usual = [
    title.slice(title.lastIndexOf("/") + 1),
    ...(isOne ? names : []),
    ...(likely.length === 1 ? likely : []),
  ];
  const chosen = (wanted === null ? usual : [wanted]).find((name) => Object.hasOwn(programs, name));
  const main = wanted === null && names.length === 0 && typeof data.main === "string" ? insideOf(data.main) : null;
  const file = chosen === undefined ? main : programs[chosen]!;
  if (file !== null) return file;
  const list = names.length > 0 ? `Name one: ${names.map((name) => `--bin ${name}`).join(" or ")}` : undefined;
  const message = wanted === null
    ? `The package "${title}" does not say which program to start`
    : `The package "${title}" has no program ${JSON.stringify(wanted)}`;
  throw new HostError("mcp_add.no_program", message, {
    data: { package: title, programs: names },
    hint: list ?? "It is a library: find the package that starts the server",
  });
}

/** Returns the programs of a package by name: files within its folder. */
function programsOf({ bin }: Readonly<Record<string, unknown>>, short: string): Record<string, string> {
  const bins = typeof bin === "string" ? { [short]: bin } : isMap(bin) ? bin : {};
  return Object.fromEntries(
    Object.entries(bins).flatMap(([name, file]) => {
      const inside = typeof file === "string" ? insideOf(file) : null;
      return inside === null ? [] : [[name, inside]];
    }),
  );
}

/** Returns a path within a folder in plain form; null when it leads out of it. */
function insideOf(path: string): string | null {
  const steps = followPath([], path);
  return steps === null || steps.length === 0 ? null : steps.join("/");
}
