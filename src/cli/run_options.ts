/**
 * What every command that runs a plugin takes.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { type HostLimits, hostLimits } from "../host/host_limits.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface RunFlags {
  /** `--home`. */
  readonly home?: string;
  /** `--project`. */
  readonly project?: string;
  /** `--config`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** `--runtime-path`, collected. */
  readonly runtimePath?: Readonly<Record<string, string>>;
  /** `--json`. */
  readonly json?: boolean;
}

/** Where and how a plugin runs. */
export interface RunPlaces {
  /** The runtime of this process. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** Project folder, or null. */
  readonly projectDir: string | null;
  /** Interpreters by name: of config.toml in the operator's folder, then of the command line. */
  readonly runtimes: Readonly<Record<string, string>>;
  /** What plugins may use, by config.toml. */
  readonly limits: HostLimits;
  /** What `config.update` carries. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Adds the options to a command. */
export function addRunOptions(command: Command): Command {
  return command
    .option("--config <json>", "what the plugin gets as its config, a JSON object", (text) => parseObject(text))
    .option("--project <dir>", "folder that project:/… capabilities are about")
    .option("--home <dir>", "operator's folder, made when missing; without it a fresh one is used and removed")
    .addOption(
      new Option("--runtime-path <name=path>", "where an interpreter is, such as deno=/opt/deno; may be repeated")
        .argParser(collectRuntimePath),
    )
    .option("--json", "print JSON");
}

/** Runs `work` where the flags say; a home that nobody named is made for it and removed after it. */
export async function withPlaces<T>(
  flags: RunFlags,
  terminal: Terminal,
  work: (places: RunPlaces) => Promise<T>,
): Promise<T> {
  const runtime = await terminal.runtime();
  const { files } = runtime;
  const at = (path: string): string => resolve(terminal.cwd, path);
  const projectDir = flags.project === undefined ? null : await existingDir(at(flags.project), runtime);
  const runtimes = flags.runtimePath ?? {};
  const config = flags.config ?? {};
  if (flags.home !== undefined) {
    await files.makeDir(at(flags.home), { recursive: true, mode: 0o700 });
    const home = await files.realPath(at(flags.home));
    const { readOperatorConfig } = await import("../core/project/operator_config.ts");
    const operator = await readOperatorConfig(home, files);
    const limits = hostLimits({}, operator);
    return await work({ runtime, home, projectDir, runtimes: { ...operator.runtimes, ...runtimes }, limits, config });
  }
  const home = await files.makeTempDir(`${runtime.env("TMPDIR") || "/tmp"}/kaged-home-`);
  try {
    const limits = { limits: {}, pluginLimits: {} };
    return await work({ runtime, home: await files.realPath(home), projectDir, runtimes, limits, config });
  } finally {
    await files.remove(home);
  }
}

async function existingDir(path: string, { files }: Runtime): Promise<string> {
  const kind = (await files.target(path))?.kind;
  if (kind === "directory") return await files.realPath(path);
  const state = kind === undefined ? "does not exist" : "is no folder";
  throw new HostError("host.misuse", `The project folder "${path}" ${state}`, { hint: "Make it, or name another" });
}

/** Reads a JSON object from the command line. */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${messageOf(error)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidArgumentError("It is JSON but no object");
}

function collectRuntimePath(text: string, known: Record<string, string> = {}): Record<string, string> {
  const [, name, path] = /^([^=]+)=(\/.*)$/s.exec(text) ?? [];
  if (name === undefined || path === undefined) throw new InvalidArgumentError("It takes name=/absolute/path");
  return { ...known, [name]: path };
}
