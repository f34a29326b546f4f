/**
 * A source → a folder with the server's files, its facts and its command. Nothing of the server runs here.
 *
 * @module
 */
import { parseShebang, SHEBANG_BYTES } from "../../core/cage/shebang.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { copyTree, TREE_LIMITS, type TreeLimits } from "../../core/files/tree.ts";
import type { Files, Runtime } from "../../core/ports/ports.ts";
import { mapOf } from "../../core/values/plain_data.ts";
import { openBundle } from "./bundle.ts";
import { factsOf, programOf, readJsonFile } from "./package_facts.ts";
import { npmInstall } from "./run_npm.ts";
import type { FetchedServer, ServerSource } from "./types.ts";

export interface FetchPorts {
  readonly runtime: Runtime;
  /** Empty folder for the server's files. */
  readonly dir: string;
  readonly limits?: TreeLimits;
  /** Program of the package to start; null for the usual one. */
  readonly bin: string | null;
  /** Interpreters that the operator named. */
  readonly runtimes: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Fetches a server that runs on this machine.
 *
 * @throws {HostError} `mcp_add.*` or `install.*`.
 */
export async function fetchServer(source: ServerSource, ports: FetchPorts): Promise<FetchedServer> {
  switch (source.kind) {
    case "npm":
      return await fetchPackage(source, ports);
    case "folder":
      return await fetchFolder(source, ports);
    case "bundle":
      return await openBundle(source.path, ports.dir, ports);
    case "remote": {
      const { hostname } = new URL(source.url);
      const facts = { title: hostname.replace(/^(?:www|api|mcp)\./, "").split(".")[0]!, version: "0.0.0" };
      const description = `Remote MCP server at ${hostname}`;
      return { dir: ports.dir, facts: { ...facts, description }, command: [], env: {}, asked: {}, isPlugin: false };
    }
  }
}

async function fetchPackage(
  { package: pkg, range }: Extract<ServerSource, { kind: "npm" }>,
  ports: FetchPorts,
): Promise<FetchedServer> {
  const { dir, runtime: { files } } = ports;
  await files.write(`${dir}/package.json`, `${JSON.stringify({ name: "mcp-server", private: true })}\n`, 0o644);
  await npmInstall([`${pkg}@${range === "" ? "latest" : range}`], ports);
  // It names the registry, so that the same package would have another hash elsewhere.
  await files.remove(`${dir}/node_modules/.package-lock.json`);
  const own = `node_modules/${pkg}`;
  const data = await readJsonFile(`${dir}/${own}/package.json`, files);
  if (!data) throw noPackage(`npm left no ${own}`);
  const file = `${own}/${programOf({ ...data, name: pkg }, ports.bin)}`;
  return { dir, facts: factsOf(data, pkg), command: await startOf(file, ports), env: {}, asked: {}, isPlugin: false };
}

/** Copies the folder, so that neither the draft nor a fetch changes the operator's own files. */
async function fetchFolder(
  { path, entry }: Extract<ServerSource, { kind: "folder" }>,
  ports: FetchPorts,
): Promise<FetchedServer> {
  const { dir, runtime: { files }, limits = TREE_LIMITS, bin } = ports;
  if ((await files.target(path).catch(() => null))?.kind !== "directory") {
    throw noPackage(`there is no folder "${path}"`);
  }
  await files.remove(dir);
  await copyTree(await files.realPath(path), dir, { files, limits });
  await files.setMode(dir, 0o700);
  const data = await readJsonFile(`${dir}/package.json`, files);
  const isPlugin = await files.info(`${dir}/kaged-plugin.yaml`) !== null;
  const title = typeof data?.name === "string" ? data.name : path.slice(path.lastIndexOf("/") + 1);
  const facts = factsOf(data ?? {}, title);
  if (isPlugin) return { dir, facts, command: [], env: {}, asked: {}, isPlugin };
  if (entry === null && !data) throw noPackage(`"${path}" has neither a package.json nor a kaged-plugin.yaml`);
  const needs = Object.keys(mapOf(data ?? {}, "dependencies")).length > 0;
  if (needs && await files.info(`${dir}/node_modules`) === null) {
    // Settings of the folder are not the operator's: they could have a token sent to another registry.
    for (const name of [".npmrc", "bunfig.toml"]) await files.remove(`${dir}/${name}`);
    await npmInstall([], ports);
    await files.remove(`${dir}/node_modules/.package-lock.json`);
  }
  const file = entry ?? programOf(data!, bin);
  return { dir, facts, command: await startOf(file, ports), env: {}, asked: {}, isPlugin };
}

/** Returns the command that starts a file: by its interpreter, or by itself where it is a program. */
async function startOf(file: string, { dir, runtime, runtimes }: FetchPorts): Promise<string[]> {
  const { files } = runtime;
  const path = `${dir}/${file}`;
  if ((await files.target(path).catch(() => null))?.kind !== "file") {
    const hint = "Build it first, so that the file is there, or name another program with --bin";
    throw new HostError("mcp_add.no_program", `The file that it starts is not there: ${file}`, {
      data: { file },
      hint,
    });
  }
  const head = await files.readHead(path, SHEBANG_BYTES);
  const shebang = parseShebang(head);
  const named = shebang && (shebang.envName ?? shebang.interpreter.slice(shebang.interpreter.lastIndexOf("/") + 1));
  if (named === "bun" || named === "deno") return [named, ...(named === "deno" ? ["run", "-A"] : []), `./${file}`];
  const isProgram = head[0] === 0x7f || (named !== null && !/^(?:node|nodejs|tsx)$/.test(named));
  if (isProgram) return [`./${file}`];
  return [await nodeName(runtime, runtimes), `./${file}`];
}

/** Servers are written for Node; the host's own runtime does where there is none. */
async function nodeName({ name, files }: Runtime, runtimes: FetchPorts["runtimes"]): Promise<"node" | "js"> {
  if (name === "node" || Object.hasOwn(runtimes, "node")) return "node";
  const found = await Promise.all(["/usr/local/bin/node", "/usr/bin/node"].map((path) => files.target(path)));
  return found.some((info) => info !== null) ? "node" : "js";
}

function noPackage(why: string): HostError {
  return new HostError("mcp_add.source_invalid", `Cannot take the server in: ${why}`, {
    hint: "Name an npm package, a folder with a package.json, or a .mcpb file",
  });
}

/** How far above a file the package it belongs to is looked for. */
const MAX_ABOVE = 4;

/** Returns the source with the folder of the package that its file belongs to. */
export async function packageFolder(source: ServerSource, files: Files): Promise<ServerSource> {
  if (source.kind !== "folder" || source.entry === null) return source;
  const steps = source.path.split("/");
  for (let above = 0; above <= MAX_ABOVE && steps.length - above > 1; above++) {
    const path = steps.slice(0, steps.length - above).join("/");
    if (await files.target(`${path}/package.json`).catch(() => null) === null) continue;
    return { kind: "folder", path, entry: [...steps.slice(steps.length - above), source.entry].join("/") };
  }
  return source;
}
