/**
 * Tries whether this machine can cage a plugin, by caging one that does nothing.
 *
 * @module
 */
import { asHostError, HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Runtime } from "../ports/ports.ts";
import { CagedProcess } from "./caged_process.ts";
import { findBwrap } from "./find_bwrap.ts";
import { requireGround } from "./open_cage.ts";
import { outputOf } from "./output_of.ts";
import { programManifest } from "./program_manifest.ts";
import { endingOf } from "../values/ending_of.ts";

/** The outcome of the attempt. */
export interface CageProbe {
  /** Why plugins cannot be caged here, or null when they can. */
  readonly error: HostError | null;
  /** Path of bubblewrap, or null when none was found. */
  readonly path: string | null;
  readonly version: string | null;
}

/** Stands in for the plugin's folder: every system has it, and every cage shows it anyway. */
const PROBE_DIR = "/usr/share";

const PROBE: Manifest = programManifest({
  name: "probe",
  description: "Gives back what it reads",
  command: ["cat"],
  env: {},
  capabilities: [],
});

/** Builds a whole cage, looks at it from outside while `cat` runs in it. Never rejects: a failure is in the answer. */
export async function probeCage(
  runtime: Runtime,
  home: string,
  runtimes: Readonly<Record<string, string>> = {},
): Promise<CageProbe> {
  let path: string | null = null;
  let version: string | null = null;
  try {
    await requireGround(runtime);
    path = (await findBwrap(runtime, runtimes)).path;
    version = /[0-9]+(\.[0-9]+)+/.exec(await outputOf(runtime, path, ["--version"]))?.[0] ?? null;
    const places = { installDir: PROBE_DIR, home, projectDir: null };
    const request = { manifest: PROBE, places, logLevel: "info", runtimes };
    const { promise: alive, resolve } = Promise.withResolvers<void>();
    const caged = await CagedProcess.start(request, { runtime, onStdout: () => resolve(), onStdoutEnd: resolve });
    caged.pipes.write("\n");
    await alive;
    const distrust = await caged.cage.verifyMounts().then(() => null, asHostError);
    caged.pipes.endInput();
    const { exit, fault } = await caged.ended;
    const failure = fault ?? distrust;
    if (failure) throw failure;
    if (exit.code === 0) return { error: null, path, version };
    throw new HostError("cage.setup_failed", `Cannot run "cat" in a cage: it ended ${endingOf(exit)}`);
  } catch (error) {
    return { error: asHostError(error), path, version };
  }
}
