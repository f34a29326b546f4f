/**
 * The program behind a plugin: a process in a cage, or a link to a server elsewhere, which looks the same from here.
 *
 * @module
 */
import type { Cage, CageRequest } from "../cage/cage.ts";
import { CagedProcess, type CagedProcessOptions } from "../cage/caged_process.ts";
import type { HostError } from "../errors/host_error.ts";
import { isRemote } from "../manifest/speaks_mcp.ts";
import type { SecretMask } from "../values/secret_mask.ts";

/** A program that runs, here or elsewhere. */
export interface Program extends Pick<CagedProcess, "pipes" | "exited" | "ended" | "stderr" | "terminate" | "kill"> {
  /** Null for a server elsewhere. */
  readonly pid: number | null;
  readonly cage: Pick<Cage, "id" | "limits" | "verifyMounts" | "settle" | "connections"> | null;
  /** Returns the failure behind an answer that was given in the place of a server elsewhere. */
  explain?(error: HostError): HostError;
}

/** Starts the program of a plugin. Rejects as {@link CagedProcess.start} does, or with `mcp.*` for a server elsewhere. */
export async function startProgram(
  request: CageRequest,
  options: CagedProcessOptions & { readonly secrets: SecretMask },
): Promise<Program> {
  if (!isRemote(request.manifest)) return await CagedProcess.start(request, options);
  const { openLink } = await import("../remote/link.ts"); // With the first server elsewhere, and not before.
  const link = await openLink(request, options);
  try {
    options.beforeSpawn?.();
    return link;
  } catch (error) {
    await link.kill();
    throw error;
  }
}
