/**
 * The request for a hook's cage: the project's folder, the operator's settings, and the bytes that were checked.
 *
 * @module
 */
import type { CageRequest } from "../../../core/cage/cage.ts";
import { PROGRAMS_DIR } from "../../../core/cage/compile_cage.ts";
import type { CageLimits } from "../../../core/cage/limits/cage_limits.ts";
import { programManifest } from "../../../core/cage/program_manifest.ts";
import { HostError } from "../../../core/errors/host_error.ts";
import type { Manifest } from "../../../core/manifest/manifest.ts";
import type { Runtime } from "../../../core/ports/ports.ts";
import type { HookSettings } from "../../../core/project/hook_settings.ts";
import { folderVariables } from "../../files/folder_variables.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import { gitSeals, holdGitPlace } from "./git_seal.ts";

/** Stands in for the plugin's folder: every cage shows it anyway. */
const NO_FOLDER = "/usr/share";

/** The repository and the operator's settings for its hooks. */
export interface CommandRunnerOptions {
  readonly runtime: Runtime;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** The repository's folder, links resolved. */
  readonly dir: string;
  /** The operator's grants to hooks: paths, hosts, variables. */
  readonly settings: HookSettings;
  /** Interpreters the operator named. */
  readonly runtimes?: Readonly<Record<string, string>>;
  readonly limits?: CageLimits;
  /** Aborted when everything is to end: commands that still run are ended. */
  readonly signal?: AbortSignal;
  /** Home of the operator, for hooks of their own; null when there is none. */
  readonly userHome?: string | null;
  /** Folders of it that exist and that hooks of the operator's files may read, absolute. */
  readonly userReadable?: readonly string[];
}

/** A program that a file of a repository, or of the operator, wants to run. */
export interface FileProgram {
  /** Value of KAGED_PLUGIN_NAME in its cage. */
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables the file gives it. */
  readonly env: Readonly<Record<string, string>>;
  /** `user`: the operator's own file, whose programs see the operator's hook folder too. */
  readonly origin: "repository" | "user" | "plugin";
  /** The plugin's folder, for a file of a plugin that the operator names. */
  readonly plugin?: string;
  /** Folders, as capabilities name them (`config:/…`), that it may write besides the project. */
  readonly writable?: readonly string[];
  /** Set where the program is an MCP server. */
  readonly runtime?: "mcp_stdio";
}

/** Files that a program sees as the host has them: those that were checked, and texts that are on no disk. */
export interface SealedFiles {
  readonly files: readonly CoveredFile[];
  /** Contents by absolute path. */
  readonly texts?: Readonly<Record<string, string>>;
}

/**
 * Seals `.git` and the checked files, and returns the request for the cage of a program. The request's `cleanUp` takes
 * the seals away again.
 *
 * @throws {HostError} `hook.git_unsealed` or `hook.command_failed`
 */
export async function programCageRequest(
  program: FileProgram,
  sealed: SealedFiles,
  options: CommandRunnerOptions,
): Promise<CageRequest> {
  const { home, dir, runtimes = {}, limits } = options;
  return {
    manifest: fileManifest(program, options),
    places: { installDir: NO_FOLDER, home, projectDir: dir },
    logLevel: "info",
    runtimes,
    ...(limits !== undefined && { limits }),
    systemPrograms: true,
    ...await sealProject(sealed, options),
  };
}

/** Returns the manifest that a program of a hook file is caged by. */
export function fileManifest(
  { name, command, env, origin, plugin, writable = [], runtime }: FileProgram,
  options: CommandRunnerOptions,
): Manifest {
  const { dir, settings, userHome = null, userReadable = [] } = options;
  const isOwn = origin === "user" && userHome !== null;
  return {
    ...programManifest({
      name,
      description: "A program of a hook file",
      command,
      env: {
        ...folderVariables(dir, plugin),
        HOME: isOwn ? userHome : "/tmp",
        PATH: `${PROGRAMS_DIR}:/usr/local/bin:/usr/bin:/bin`,
        ...handedVariables(options),
        ...env,
      },
      capabilities: [
        "write:fs:project:/",
        ...settings.readable.map((path) => `read:fs:${path}`),
        ...settings.writable.map((path) => `write:fs:${path}`),
        ...writable.map((path) => `write:fs:${path}`),
        ...(plugin === undefined ? [] : [`read:fs:${plugin}`]),
        ...settings.network.map((host) => `net:${host}`),
        ...(isOwn ? userReadable.map((path) => `read:fs:${path}`) : []),
      ],
    }),
    ...(runtime && { runtime }),
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

/**
 * Shows `.git` read-only, and writes the checked bytes where only the host can change them, to be shown in place of the
 * files themselves.
 */
async function sealProject(
  { files: sealed, texts = {} }: SealedFiles,
  { home, dir, settings, runtime: { files } }: CommandRunnerOptions,
): Promise<Required<Pick<CageRequest, "overlays" | "cleanUp">>> {
  const letGo = settings.git_writable ? async () => {} : await holdGitPlace(dir, files);
  let folder: string | null = null;
  const cleanUp = async (): Promise<void> => {
    await letGo();
    if (folder !== null) await files.remove(folder);
  };
  try {
    const overlays = settings.git_writable ? [] : await gitSeals(dir, files);
    const shown = [
      // Those of the operator's own files have their whole path.
      ...sealed.map(({ path, bytes, executable }) => {
        return { dest: path.startsWith("/") ? path : `${dir}/${path}`, bytes, executable };
      }),
      ...Object.entries(texts).map(([dest, text]) => ({ dest, bytes: text, executable: false })),
    ];
    if (shown.length === 0) return { overlays, cleanUp };
    await files.makeDir(`${home}/run`, { recursive: true, mode: 0o700 });
    folder = await files.makeTempDir(`${home}/run/cage-hook-`);
    for (const [index, { dest, bytes, executable }] of shown.entries()) {
      const source = `${folder}/${index}`;
      await files.write(source, bytes, executable ? 0o700 : 0o600);
      overlays.push({ source, dest });
    }
    return { overlays, cleanUp };
  } catch (error) {
    await cleanUp();
    if (error instanceof HostError) throw error;
    throw new HostError("hook.command_failed", "Cannot keep a copy of the checked scripts", { cause: error });
  }
}
