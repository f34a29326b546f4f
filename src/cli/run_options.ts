/**
 * Options of the commands that run a plugin from its folder.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { HostError } from "../core/errors/host_error.ts";
import { checkHome } from "../core/files/home.ts";
import { type HostLimits, hostLimits } from "../host/host_limits.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { interruptible } from "./interrupt.ts";
import { collectedPairs, type HomeFlags, parseObject, type Places } from "./options.ts";
import type { Printer, Terminal } from "./terminal.ts";

export { parseObject };

export interface RunFlags extends HomeFlags {
  readonly project?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly runtimePath?: Readonly<Record<string, string>>;
}

/** The folders, interpreters, limits and config a plugin runs with. */
export interface RunPlaces extends Places {
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
  readonly projectDir: string | null;
  /** Interpreters by name: of config.toml in the operator's folder, then of the command line. */
  readonly runtimes: Readonly<Record<string, string>>;
  /** Limits of cages, from config.toml. */
  readonly limits: HostLimits;
  /** The params of `config.update`. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Adds `--config`, `--project`, `--home`, `--runtime-path` and `--json` to a command. */
export function addRunOptions(command: Command): Command {
  return command
    .option(
      "--config <json>",
      "fields of the plugin's config, a JSON object; the rest are its schemas' defaults",
      parseObject,
    )
    .option("--project <dir>", "folder that project:/… capabilities are about")
    .option("--home <dir>", "operator's folder, made when missing; without it a fresh one is used and removed")
    .addOption(
      new Option("--runtime-path <name=path>", "where an interpreter is, such as deno=/opt/deno; may be repeated")
        .argParser(collectedPairs("name=/absolute/path", /^([^=]+)=(\/.*)$/s)),
    )
    .option("--json", "print JSON");
}

/** Runs `work` with the places that the flags name; without `--home` it gets a fresh home, which is removed after it. */
export function withPlaces<T>(
  flags: RunFlags,
  terminal: Terminal,
  work: (places: RunPlaces) => Promise<T>,
): Promise<T> {
  return interruptible((signal) => inPlaces(flags, terminal, (places) => work({ ...places, signal })));
}

/** Prints the report that `work` resolves to, and returns the exit code: 1 unless the report is ok. */
export async function printReport<T extends { readonly ok: boolean }>(
  flags: RunFlags,
  terminal: Terminal,
  work: Promise<T>,
  print: (report: T, out: Printer) => void,
): Promise<number> {
  const report = await work;
  if (flags.json) terminal.out.json(report);
  else print(report, terminal.out);
  return report.ok ? 0 : 1;
}

async function inPlaces<T>(
  flags: RunFlags,
  terminal: Terminal,
  work: (places: Omit<RunPlaces, "signal">) => Promise<T>,
): Promise<T> {
  const runtime = await terminal.runtime();
  const { files } = runtime;
  const at = (path: string): string => resolve(terminal.cwd, path);
  const projectDir = flags.project === undefined ? null : await existingDir(at(flags.project), runtime);
  const { runtimePath: runtimes = {}, config = {} } = flags;
  if (flags.home !== undefined) {
    await files.makeDir(at(flags.home), { recursive: true, mode: 0o700 });
    const home = await files.realPath(at(flags.home));
    await checkHome(home, runtime);
    const { readOperatorConfig } = await import("../core/project/operator_config.ts");
    const operator = await readOperatorConfig(home, files);
    const limits = hostLimits({}, operator);
    return await work({ runtime, home, projectDir, runtimes: { ...operator.runtimes, ...runtimes }, limits, config });
  }
  const home = await files.makeTempDir(`${runtime.env("TMPDIR") || "/tmp"}/kaged-home-`);
  try {
    const limits = hostLimits({}, { limits: {}, pluginLimits: {} });
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
