/**
 * The manifest of a program that is caged like a plugin and is none: a hook's command, the probe.
 *
 * @module
 */
import type { Manifest } from "../manifest/manifest.ts";

/** The fields that differ between such programs. */
export type CagedProgram = Pick<Manifest, "name" | "description" | "command" | "env" | "capabilities">;

/** Returns a manifest with neither tools nor hooks nor methods. */
export function programManifest(program: CagedProgram): Manifest {
  return {
    ...program,
    version: "1.0.0",
    kaged_api: 1,
    roles: [],
    hooks: [],
    tools: [],
    methods: [],
    notifications: [],
    knobs: {},
    shutdown_timeout_sec: 5,
    health_interval_sec: 30,
    hook_timeout_sec: 10,
  };
}
