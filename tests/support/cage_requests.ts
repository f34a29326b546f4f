/**
 * Manifests and cage requests for tests, and a way to run one to its end.
 *
 * @module
 */
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Cage, CagePlaces, CageRequest } from "../../src/core/cage/cage.ts";
import { openCage } from "../../src/core/cage/open_cage.ts";
import { programManifest } from "../../src/core/cage/program_manifest.ts";
import type { HostError } from "../../src/core/errors/host_error.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import type { ChildProcess, Exit, Runtime } from "../../src/core/ports/ports.ts";

/** A manifest that asks for nothing and runs `true`, but for what is given. */
export function manifestOf(own: Partial<Manifest> = {}): Manifest {
  const program = { name: "caged", description: "A plugin of a test", command: ["true"], env: {}, capabilities: [] };
  return { ...programManifest(program), ...own };
}

/** A folder of its own for home, project and plugin, all made. */
export async function placesIn(dir: string, runtime: Runtime): Promise<CagePlaces & { projectDir: string }> {
  const places = { installDir: `${dir}/plugin`, home: `${dir}/home`, projectDir: `${dir}/project` };
  for (const path of Object.values(places)) await runtime.files.makeDir(path, { recursive: true });
  return places;
}

/** The request for a manifest in its places. */
export function requestOf(manifest: Partial<Manifest>, places: CagePlaces): CageRequest {
  return { manifest: manifestOf(manifest), places, logLevel: "info", runtimes: {} };
}

/** A process in a cage. */
export interface Caged {
  /** The cage. */
  readonly cage: Cage;
  /** The launcher's process. */
  readonly child: ChildProcess;
  /** Standard output so far. */
  out(): string;
  /** Standard error so far. */
  err(): string;
  /** Resolves when stdout holds a whole line, or ended. */
  firstLine(): Promise<string>;
  /** Waits for the end and cleans up. */
  end(): Promise<CagedEnd>;
}

/** How a caged process ended. */
export interface CagedEnd {
  /** How it ended. */
  readonly exit: Exit;
  /** The failure of the cage, if it was that. */
  readonly failure: HostError | null;
  /** Its stdout. */
  readonly out: string;
  /** Its stderr. */
  readonly err: string;
}

/** Opens a cage and starts it; `before` runs in between. */
export async function startCaged(
  request: CageRequest,
  before?: (cage: Cage) => Promise<void>,
  own?: Runtime,
): Promise<Caged> {
  const runtime = own ?? await detectRuntime();
  const cage = await openCage(request, runtime);
  await before?.(cage);
  let [out, err] = ["", ""];
  let seen = (): void => {};
  const line = new Promise<void>((resolve) => seen = resolve);
  const [outText, errText] = [new TextDecoder(), new TextDecoder()];
  const child = await runtime.processes.spawn(cage.command, {
    stdout(chunk) {
      out += outText.decode(chunk, { stream: true });
      if (out.includes("\n")) seen();
    },
    stdoutEnd: () => seen(),
    stderr: (chunk) => void (err += errText.decode(chunk, { stream: true })),
  });
  cage.watch();
  return {
    cage,
    child,
    out: () => out,
    err: () => err,
    firstLine: async () => (await line, out.split("\n", 1)[0] ?? ""),
    async end(): Promise<CagedEnd> {
      const exit = await child.exited;
      await child.closed;
      const failure = await cage.diagnose(exit, err.split("\n").filter((text) => text !== ""));
      await cage.close();
      return { exit, failure, out, err };
    },
  };
}

/** Runs a bash script in a cage to its end. */
export async function cagedBash(
  script: string,
  own: Partial<Manifest>,
  places: CagePlaces,
  more: Partial<CageRequest> = {},
): Promise<CagedEnd> {
  const caged = await startCaged({ ...requestOf({ command: ["bash", "-c", script], ...own }, places), ...more });
  caged.child.endInput();
  return await caged.end();
}
