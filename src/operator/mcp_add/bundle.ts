/**
 * A `.mcpb` file (before: `.dxt`): a zip archive with a server and a `manifest.json`.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { TREE_LIMITS, type TreeLimits } from "../../core/files/tree.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { isMap, mapOf } from "../../core/values/plain_data.ts";
import { unzip } from "../../packages/install/unzip.ts";
import { factsOf, readJsonFile } from "./package_facts.ts";
import type { AskedValue, FetchedServer } from "./types.ts";

/**
 * Unpacks a bundle into `dir` and reads its manifest.
 *
 * @throws {HostError} `mcp_add.bundle_invalid` or `mcp_add.entry_refused`.
 */
export async function openBundle(
  file: string,
  dir: string,
  { runtime: { files }, limits = TREE_LIMITS }: { readonly runtime: Runtime; readonly limits?: TreeLimits },
): Promise<FetchedServer> {
  const invalid = (why: string, cause?: unknown): HostError =>
    new HostError("mcp_add.bundle_invalid", `Cannot unpack "${file}": ${why}`, { data: { file, why }, cause });
  const info = await files.target(file).catch(() => null);
  if (info?.kind !== "file") throw invalid("there is no such file");
  if (info.size > limits.maxBytes) throw invalid(`it has more than ${Math.round(limits.maxBytes / 1024 ** 2)} MB`);
  const archive = await files.readBytes(file).catch((error) => {
    throw invalid(messageOf(error), error);
  });
  await unzip(archive, { dir, files, limits, refuse: invalid });
  const manifest = await readJsonFile(`${dir}/manifest.json`, files);
  if (!manifest) throw invalid("it has no manifest.json that can be read");
  const server = mapOf(manifest, "server");
  const config = mapOf(server, "mcp_config");
  const linux = mapOf(mapOf(config, "platform_overrides"), "linux");
  const command = commandOf({ ...config, ...linux }, server, file);
  const env = { ...textsOf(config.env), ...textsOf(linux.env) };
  const asked = userConfig(manifest);
  const stray = [...command, ...Object.values(env)].flatMap((text) => strayReferences(text, asked))[0];
  if (stray !== undefined) throw invalid(`it refers to ${stray}, which is neither a folder nor a setting of its own`);
  const facts = factsOf(manifest, typeof manifest.name === "string" ? manifest.name : "server");
  return { dir, facts, command, env, asked, isPlugin: false };
}

/** Names beside its settings that a bundle may refer to. */
const FOLDERS = ["__dirname", "HOME", "DESKTOP", "DOCUMENTS", "DOWNLOADS", "pathSeparator", "/"];

/** Returns references to anything else: in the files of clients such a name is a variable of the operator's environment. */
function strayReferences(text: string, asked: Readonly<Record<string, AskedValue>>): string[] {
  return Array.from(text.matchAll(/\$\{([^}]*)\}/g))
    .filter(([, name = ""]) => !FOLDERS.includes(name) && !Object.hasOwn(asked, name))
    .map(([whole]) => JSON.stringify(whole));
}

/** Returns the command of the bundle's own config, else the one that the kind of its server implies. */
function commandOf(config: Record<string, unknown>, server: Record<string, unknown>, file: string): string[] {
  const { type, entry_point: entry } = server;
  const refused = (reason: string): HostError =>
    new HostError("mcp_add.entry_refused", `Cannot take over "${file}": ${reason}`, {
      data: { file },
      hint: "Ask its author for a bundle of type node",
    });
  if (type === "uv") throw refused("uv fetches Python packages when it starts, and the cage gives it no way to do so");
  const program = typeof config.command === "string" ? config.command : type === "python" ? "python3" : "node";
  const args = Array.isArray(config.args) ? config.args.filter((word) => typeof word === "string") : null;
  if (["npx", "uvx", "uv", "docker", "bunx"].includes(program)) {
    throw refused(`it starts ${program}, not its own files`);
  }
  const words = args ?? (typeof entry === "string" ? [`\${__dirname}/${entry}`] : null);
  if (!words) throw refused("its manifest names no program to start");
  return [program === "python" ? "python3" : program, ...words];
}

/** Returns the settings that the bundle asks its user for, as its texts refer to them: `user_config.<key>`. */
function userConfig(manifest: Record<string, unknown>): Record<string, AskedValue> {
  return Object.fromEntries(
    Object.entries(mapOf(manifest, "user_config")).filter(([, value]) => isMap(value)).map(([key, value]) => {
      const { title, description, sensitive, required, default: preset } = value as Record<string, unknown>;
      const [fallback] = [preset].flat();
      return [`user_config.${key}`, {
        description: [description, title, key].find((one) => typeof one === "string") as string,
        isSecret: sensitive === true,
        isRequired: required === true,
        fallback: ["string", "number", "boolean"].includes(typeof fallback) ? String(fallback) : null,
      }];
    }),
  );
}

function textsOf(value: unknown): Record<string, string> {
  const entries = isMap(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
