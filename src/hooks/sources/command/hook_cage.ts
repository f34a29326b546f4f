/**
 * What a hook's cage is made of: the project's folder, the operator's settings, and the bytes that were checked.
 *
 * @module
 */
import type { CageOverlay, CageRequest } from "../../../core/cage/cage.ts";
import { PROGRAMS_DIR } from "../../../core/cage/compile_cage.ts";
import type { CageLimits } from "../../../core/cage/limits/cage_limits.ts";
import { programManifest } from "../../../core/cage/program_manifest.ts";
import { HostError } from "../../../core/errors/host_error.ts";
import type { Runtime } from "../../../core/ports/ports.ts";
import type { HookSettings } from "../../../core/project/hook_settings.ts";
import { folderVariables } from "../../files/folder_variables.ts";
import { hookFolder } from "../../files/hook_evidence.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";
import { gitSeals } from "./git_seal.ts";
import { holdGitPlace } from "./git_stand_in.ts";
import type { CommandRun } from "./types.ts";

/** Stands in for the plugin's folder: every cage shows it anyway. */
const NO_FOLDER = "/usr/share";

// The command waits until the host has looked at the cage from outside: a line on stdin lets it go on. A shell reads
// that line byte by byte, and leaves the rest of stdin to the command.
const ENTER = `umask 022; printf '\\n'; IFS= read -r _ || exit 125; cd -- "$1" && exec /bin/bash -c "$2"`;

/** What a runner stands on. */
export interface CommandRunnerOptions {
  /** The runtime. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** The repository's folder, links resolved. */
  readonly dir: string;
  /** What the operator lets hooks do. */
  readonly settings: HookSettings;
  /** Interpreters the operator named. */
  readonly runtimes?: Readonly<Record<string, string>>;
  /** What a command may use. */
  readonly limits?: CageLimits;
  /** Aborted when everything is to end: commands that still run are ended. */
  readonly signal?: AbortSignal;
  /** Home of the operator, for hooks of their own; null when there is none. */
  readonly userHome?: string | null;
}

/** Returns what a hook's cage is built from: a manifest of our own making, by the operator's settings alone. */
export function hookCageRequest(
  hook: LoadedHook,
  overlays: readonly CageOverlay[],
  options: CommandRunnerOptions,
): CageRequest {
  const command = [
    "/bin/bash",
    "--norc",
    "--noprofile",
    "-c",
    ENTER,
    "hook",
    hookFolder(hook, options.dir),
    hook.script,
  ];
  return programCageRequest({ name: "hook", command, env: hook.env, origin: hook.origin }, overlays, options);
}

/** A program that a file of a repository, or of the operator, wants to run. */
export interface FileProgram {
  /** What it is called in its cage. */
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables the file gives it. */
  readonly env: Readonly<Record<string, string>>;
  /** Whose file it is. */
  readonly origin: "repository" | "user";
}

/** Returns what the cage of a program is built from. */
export function programCageRequest(
  { name, command, env, origin }: FileProgram,
  overlays: readonly CageOverlay[],
  options: CommandRunnerOptions,
): CageRequest {
  const { home, dir, settings, runtimes = {}, limits, userHome = null } = options;
  const isOwn = origin === "user" && userHome !== null;
  const manifest = programManifest({
    name,
    description: "A program of a hook file",
    command,
    env: {
      ...folderVariables(dir),
      HOME: isOwn ? userHome : "/tmp",
      PATH: `${PROGRAMS_DIR}:/usr/local/bin:/usr/bin:/bin`,
      ...handedVariables(options),
      ...env,
    },
    capabilities: [
      "write:fs:project:/",
      ...settings.readable.map((path) => `read:fs:${path}`),
      ...settings.writable.map((path) => `write:fs:${path}`),
      ...settings.network.map((host) => `net:${host}`),
      ...(isOwn ? [`read:fs:${userHome}/.copilot/hooks`] : []),
    ],
  });
  const places = { installDir: NO_FOLDER, home, projectDir: dir };
  return {
    manifest,
    places,
    logLevel: "info",
    runtimes,
    ...(limits !== undefined && { limits }),
    systemPrograms: true,
    overlays,
  };
}

/** Returns the variables of the host's environment that the operator hands on. */
export function handedVariables(
  { settings, runtime }: Pick<CommandRunnerOptions, "settings" | "runtime">,
): Record<string, string> {
  return Object.fromEntries(settings.env.flatMap((name): [string, string][] => {
    const value = runtime.env(name);
    return value === null ? [] : [[name, value]];
  }));
}

/** What one run in a cage stands on. */
export interface CageGround {
  /** What the cage shows in place of the project's own. */
  readonly overlays: readonly CageOverlay[];
  /** Takes away what was made for the run, once that has ended. */
  readonly clear: () => Promise<void>;
}

/**
 * Seals `.git`, and writes the checked bytes where only the host can change them, to be shown in place of the files
 * themselves.
 *
 * @throws {HostError} `hook.git_unsealed` or `hook.command_failed`
 */
export async function layGround(
  { sealed }: Pick<CommandRun, "sealed">,
  { home, dir, settings, runtime: { files } }: CommandRunnerOptions,
): Promise<CageGround> {
  const letGo = settings.git_writable ? async () => {} : await holdGitPlace(dir, files);
  let folder: string | null = null;
  const clear = async (): Promise<void> => {
    await letGo();
    if (folder !== null) await files.remove(folder);
  };
  try {
    const overlays = settings.git_writable ? [] : await gitSeals(dir, files);
    if (sealed.length === 0) return { overlays, clear };
    await files.makeDir(`${home}/run`, { recursive: true, mode: 0o700 });
    folder = await files.makeTempDir(`${home}/run/cage-hook-`);
    for (const [index, { path, bytes, executable }] of sealed.entries()) {
      const source = `${folder}/${index}`;
      await files.write(source, bytes, executable ? 0o700 : 0o600);
      overlays.push({ source, dest: `${dir}/${path}` });
    }
    return { overlays, clear };
  } catch (error) {
    await clear();
    if (error instanceof HostError) throw error;
    throw new HostError("hook.command_failed", "Cannot keep a copy of the checked scripts", { cause: error });
  }
}
