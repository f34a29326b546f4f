/**
 * The parts of a runtime that all three share, put together with those that differ.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import { setImmediate } from "node:timers";
import type { Bytes, Runtime } from "../../core/ports/ports.ts";
import { bytesWith } from "./bytes.ts";
import { clock } from "./clock.ts";
import { databases } from "./databases.ts";
import { files } from "./files.ts";
import { ids } from "./ids.ts";
import { network } from "./network.ts";
import type { PipeEnds } from "./pipe_ends.ts";
import { processes, processesOnPipes } from "./processes.ts";
import { scriptPrograms } from "./script_programs.ts";

const KERNEL_ARCH: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

/** The differences between the three runtimes; everything else goes through the `node:` modules that all have. */
interface RuntimeFacts extends Pick<Runtime, "name" | "http" | "isCompiled"> {
  /** Null when another runtime runs this program. */
  readonly version: string | null;
  readonly indexOfNewline: Bytes["indexOfNewline"];
  /** Absent where the runtime gives a process pipes. */
  readonly pipeEnds?: PipeEnds;
  /** Absent where the runtime lets a program do whatever its user may. */
  readonly permissions?: Pick<Runtime, "files" | "missingPermissions">;
  /** Variables with which a compiled program starts files as its runtime would; absent where it cannot. */
  readonly compiledEnv?: Readonly<Record<string, string>>;
}

/** Returns the whole runtime. Throws a `TypeError` on another one than it is for. */
export function composeRuntime(
  { version, indexOfNewline, permissions, compiledEnv, pipeEnds, ...facts }: RuntimeFacts,
): Runtime {
  if (version === null) throw new TypeError(`This adapter is for ${facts.name}: another runtime runs here`);
  const { name, isCompiled } = facts;
  const executable = process.execPath;
  return {
    ...facts,
    version,
    bytes: bytesWith(indexOfNewline),
    executable,
    scripts: scriptPrograms({ name, isCompiled, executable, compiledEnv: compiledEnv ?? null }),
    platform: process.platform,
    arch: KERNEL_ARCH[process.arch] ?? process.arch,
    pid: process.pid,
    uid: userId(),
    processes: pipeEnds ? processesOnPipes(pipeEnds) : processes,
    files,
    clock,
    next: (run) => void setImmediate(run),
    soon: (run) => void clock.after(1, run),
    ids,
    databases,
    network,
    asyncStorage: new AsyncLocalStorage<unknown>(),
    callers: new AsyncLocalStorage<unknown>(),
    missingPermissions: () => [],
    env: (variable) => process.env[variable] ?? null,
    ...permissions,
  };
}

/** Null also where the runtime keeps it from the program: {@link Runtime.missingPermissions} names that. */
function userId(): number | null {
  try {
    return process.getuid?.() ?? null;
  } catch {
    return null;
  }
}
