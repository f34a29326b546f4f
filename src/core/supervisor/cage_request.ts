/**
 * What the cage of an instance is built from.
 *
 * @module
 */
import type { CageRequest } from "../cage/cage.ts";
import { type CageLimits, resolveLimits } from "../cage/limits/cage_limits.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { PluginSpec, SupervisorOptions } from "./types.ts";

/** Returns the request for a plugin as it is registered, by the rules of its supervisor. */
export function cageRequest(manifest: Manifest, spec: PluginSpec, host: SupervisorOptions): CageRequest {
  return {
    manifest,
    places: { installDir: spec.dir, home: host.home, projectDir: spec.projectDir ?? null },
    logLevel: host.logLevel ?? "info",
    runtimes: host.runtimes ?? {},
    limits: resolveLimits(host.limits, ownLimits(manifest.name, host.pluginLimits)),
  };
}

function ownLimits(name: string, all: SupervisorOptions["pluginLimits"] = {}): Partial<CageLimits> | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}
