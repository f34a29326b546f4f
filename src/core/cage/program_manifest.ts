/**
 * A program that is caged as a plugin is, and is none.
 *
 * @module
 */
import type { Manifest } from "../manifest/manifest.ts";

/** What differs from one such program to another. */
export type CagedProgram = Pick<Manifest, "name" | "description" | "command" | "env" | "capabilities">;

/** Returns the manifest that a cage is made from: it offers nothing and hears nothing. */
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
