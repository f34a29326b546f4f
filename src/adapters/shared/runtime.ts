/**
 * The parts of a runtime that all three share, put together with those that differ.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import type { HttpServers } from "../../core/ports/http.ts";
import type { Bytes, Runtime } from "../../core/ports/ports.ts";
import { clock } from "./clock.ts";
import { databases } from "./databases.ts";
import { files } from "./files.ts";
import { ids } from "./ids.ts";
import { network } from "./network.ts";
import { processes } from "./processes.ts";

const KERNEL_ARCH: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

/** What one runtime says of itself. */
export interface RuntimeFacts {
  /** Which one. */
  readonly name: Runtime["name"];
  /** Its version. */
  readonly version: string;
  /** Its work on bytes. */
  readonly bytes: Bytes;
  /** Its servers. */
  readonly http: HttpServers;
}

/** Returns the whole runtime. */
export function composeRuntime({ name, version, bytes, http }: RuntimeFacts): Runtime {
  return {
    name,
    version,
    bytes,
    http,
    executable: process.execPath,
    platform: process.platform,
    arch: KERNEL_ARCH[process.arch] ?? process.arch,
    pid: process.pid,
    uid: process.getuid?.() ?? null,
    processes,
    files,
    clock,
    ids,
    databases,
    network,
    asyncStorage: new AsyncLocalStorage<unknown>(),
    env: (variable) => process.env[variable] ?? null,
  };
}
