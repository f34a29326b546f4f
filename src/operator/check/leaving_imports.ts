/**
 * Finds imports that leave a plugin's folder. Only that folder is in the cage, so they would fail there, and say little
 * about why.
 *
 * @module
 */
import { isWithin } from "../../core/cage/path_rules.ts";
import type { Files } from "../../core/ports/ports.ts";
import { normalPath } from "../../hooks/files/named_scripts.ts";
import { type ImportSpecifier, importSpecifiers } from "./import_specifiers.ts";

/** An import that leaves the folder. */
export interface LeavingImport {
  /** File it is in, relative to the folder. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** The import as it is written. */
  readonly specifier: string;
  /** Why it cannot work in the cage, for a person. */
  readonly reason: string;
}

/** All files that were read, and the imports among them that leave the folder. */
export interface ImportSurvey {
  /** Paths relative to the folder. */
  readonly files: readonly string[];
  readonly leaving: readonly LeavingImport[];
}

const SOURCE = /\.[cm]?[jt]sx?$/;
const GUESSES = ["", ".js", ".ts", ".mjs", ".cjs", ".json", "/index.js", "/index.ts"];
const MAX_FILES = 1000;
/** A longer file is a bundle, or no source at all. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Built into Node, Bun and Deno under their bare names. */
const BUILT_IN = new Set(
  ("assert async_hooks buffer bun child_process cluster console constants crypto dgram diagnostics_channel dns domain " +
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl " +
    "stream string_decoder sys timers tls tty url util v8 vm worker_threads zlib").split(" "),
);

/**
 * Follows the imports of the JavaScript and TypeScript files that `command` names.
 *
 * @param dir The plugin's folder, absolute.
 * @param command The manifest's `command`.
 * @param files The file system.
 */
export async function surveyImports(dir: string, command: readonly string[], files: Files): Promise<ImportSurvey> {
  const root = await files.realPath(dir);
  const queue: string[] = [];
  const seen = new Set<string>();
  const leaving: LeavingImport[] = [];
  const visit = (path: string): void => {
    if (seen.has(path) || seen.size >= MAX_FILES) return;
    seen.add(path);
    queue.push(path);
  };

  for (const part of command) {
    const path = join(root, part);
    if (!SOURCE.test(part) || part.startsWith("-") || !isWithin(path, root)) continue;
    if ((await files.target(path))?.kind === "file") visit(path);
  }
  const folder = { root, files, mapped: await mappedNames(root, files) };
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (((await files.target(file))?.size ?? 0) > MAX_BYTES) continue;
    for (const found of importSpecifiers(await files.readText(file))) {
      if (found.lazy) continue; // The plugin's process may never import it: a page or a worker of another program may.
      const target = await resolve(file, found, folder);
      if ("path" in target) visit(target.path);
      else if ("reason" in target) {
        const { specifier, line } = found;
        leaving.push({ file: relative(root, file), line, specifier, reason: target.reason });
      }
    }
  }
  return { files: [...seen].map((path) => relative(root, path)), leaving };
}

/** A file to read next, a reason why the import cannot work, or neither: nothing to say. */
type Target = { readonly path: string } | { readonly reason: string } | Record<never, never>;

interface Folder {
  readonly root: string;
  readonly files: Files;
  /** Bare names that an import map gives a file inside. */
  readonly mapped: ReadonlySet<string>;
}

async function resolve(file: string, { specifier, dynamic }: ImportSpecifier, folder: Folder): Promise<Target> {
  if (/^(npm|jsr|https?):/.test(specifier)) return { reason: "is fetched from elsewhere: the cage has no way there" };
  if (specifier.startsWith("file:")) return inFolder(decodeURIComponent(new URL(specifier).pathname), folder);
  if (/^(\/|\.{1,2}(\/|$))/.test(specifier)) return inFolder(join(`${file}/..`, specifier), folder);
  if (/^[a-z]+:/.test(specifier) || specifier.startsWith("#")) return {};
  const name = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  // A bundle tries optional packages and goes on without them.
  if (dynamic || BUILT_IN.has(name) || folder.mapped.has(name)) return {};
  return await hasPackage(file, name, folder) ? {} : { reason: "is not in the folder's own node_modules" };
}

async function inFolder(path: string, { root, files }: Folder): Promise<Target> {
  if (!isWithin(path, root)) return { reason: "leaves the folder" };
  for (const guess of GUESSES) {
    const info = await files.target(path + guess);
    if (info?.kind !== "file") continue;
    const real = await files.realPath(path + guess);
    if (!isWithin(real, root)) return { reason: "leads out of the folder through a link" };
    return SOURCE.test(real) ? { path: real } : {};
  }
  return {}; // Not there at all: the runtime says so better at start.
}

async function hasPackage(file: string, name: string, { root, files }: Folder): Promise<boolean> {
  for (let dir = file; dir !== root;) {
    dir = dir.slice(0, dir.lastIndexOf("/"));
    const path = `${dir}/node_modules/${name}`;
    if (await files.target(path)) return isWithin(await files.realPath(path), root);
  }
  return false;
}

/** Bare names that an import map in `deno.json` gives a file inside the folder. */
async function mappedNames(root: string, files: Files): Promise<ReadonlySet<string>> {
  try {
    const { imports } = JSON.parse(await files.readText(`${root}/deno.json`));
    const local = Object.entries(imports ?? {}).filter(([, target]) => String(target).startsWith("./"));
    return new Set(local.map(([name]) => name.replace(/\/$/, "")));
  } catch {
    return new Set(); // No map, or one that Deno itself will complain about.
  }
}

function relative(root: string, path: string): string {
  return path.slice(root.length + 1);
}

/** Joins and normalizes; `..` may climb above `base`. */
function join(base: string, path: string): string {
  return normalPath(path.startsWith("/") ? path : `${base}/${path}`);
}
