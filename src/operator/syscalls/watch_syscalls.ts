/**
 * Watches one run of a plugin from outside its cage. The plugin is caged as ever: strace stands before the launcher,
 * and the launcher builds the same cage.
 *
 * @module
 */
import { childrenOf } from "../../core/cage/end_leftovers.ts";
import { outputOf } from "../../core/cage/output_of.ts";
import { messageOf } from "../../core/errors/host_error.ts";
import type { Command, Files, ProcessSpawner, Runtime } from "../../core/ports/ports.ts";
import { type Observed, readStrace, WATCHED_CALLS } from "./read_strace.ts";

const STRACE_PATHS = ["/usr/bin/strace", "/usr/local/bin/strace"];
/** Longest text strace shows whole: no path is longer. */
const TEXT_BYTES = "4096";
/** Time between two looks at running programs, where there is no strace: one that ends in between is missed. */
const LOOK_EVERY_MS = 20;

/** A watch over the runs that use its runtime. */
export interface SyscallWatch {
  /** The runtime to run the plugin on. */
  readonly runtime: Runtime;
  /** Whether files are watched. */
  readonly files: boolean;
  /** Limits of the watch, for the reader of its report. */
  readonly notes: readonly string[];
  /** Ends the watch and returns what was seen. */
  finish(): Promise<Observed>;
}

/** Begins to watch what is run under `home`; `start` is the folder the plugin starts in. */
export async function watchSyscalls(runtime: Runtime, home: string, start: string): Promise<SyscallWatch> {
  const { path: strace, why } = await findStrace(runtime);
  return strace === null ? watchFromProc(runtime, home, why) : await watchWithStrace(runtime, { home, start, strace });
}

/** Finds an strace that works here: in a container it may be there and not be allowed to look. */
async function findStrace(runtime: Runtime): Promise<{ path: string | null; why: string }> {
  for (const path of STRACE_PATHS) {
    if (await runtime.files.target(path) === null) continue;
    const said = await outputOf(runtime, path, ["-f", "-qq", "-o", "/dev/null", "--", "/bin/true"]).catch(messageOf);
    return said === "" ? { path, why: "" } : { path: null, why: `strace does not work here: ${said.trim()}` };
  }
  return { path: null, why: "strace is not installed, for example: apt-get install strace" };
}

async function watchWithStrace(
  runtime: Runtime,
  { home, start, strace }: { readonly home: string; readonly start: string; readonly strace: string },
): Promise<SyscallWatch> {
  const { files } = runtime;
  await files.makeDir(`${home}/run`, { recursive: true, mode: 0o700 });
  const dir = await files.makeTempDir(`${home}/run/strace-`);
  const log = `${dir}/log`;
  const options = ["-f", "-qq", "-y", "-s", TEXT_BYTES, "--signal=none", "-e", `trace=${WATCHED_CALLS.join(",")}`];
  const before = (command: Command): Command => ({
    ...command,
    file: strace,
    args: [...options, "-o", log, "--", command.file, ...command.args],
  });
  return {
    runtime: spawningWith(
      runtime,
      (command, listeners) => runtime.processes.spawn(isLauncher(command, home) ? before(command) : command, listeners),
    ),
    files: true,
    notes: [],
    async finish(): Promise<Observed> {
      const text = await files.readText(log).catch(() => "");
      await files.remove(dir);
      return readStrace(text, start);
    },
  };
}

function watchFromProc(runtime: Runtime, home: string, why: string): SyscallWatch {
  const seen = new Set<string>();
  const cancels = new Map<number, () => void>();
  const { processes, files, clock } = runtime;
  const look = async (launcher: number): Promise<void> => {
    for (const pid of await descendants(launcher, files)) {
      const program = await files.readLink(`/proc/${pid}/exe`).catch(() => null);
      if (program !== null) seen.add(program);
    }
    if (cancels.has(launcher)) cancels.set(launcher, clock.after(LOOK_EVERY_MS, () => void look(launcher)));
  };
  return {
    runtime: spawningWith(runtime, async (command, listeners) => {
      const child = await processes.spawn(command, listeners);
      if (isLauncher(command, home)) {
        cancels.set(child.pid, () => {});
        void look(child.pid);
      }
      return child;
    }),
    files: false,
    notes: [`Files were not watched, and programs only now and then: ${why}`],
    finish(): Promise<Observed> {
      for (const cancel of cancels.values()) cancel();
      cancels.clear();
      return Promise.resolve({ paths: [], programs: [...seen], addresses: [], names: [], ports: [] });
    },
  };
}

function spawningWith(runtime: Runtime, spawn: ProcessSpawner["spawn"]): Runtime {
  return { ...runtime, processes: { ...runtime.processes, spawn, mayWait: false } };
}

async function descendants(pid: number, files: Files): Promise<number[]> {
  const children = await childrenOf(pid, files);
  const below = await Promise.all(children.map((child) => descendants(child, files)));
  return [...children, ...below.flat()];
}

/** Whether a command starts a cage: those start in the folder of their files. */
function isLauncher({ cwd }: Command, home: string): boolean {
  return cwd.startsWith(`${home}/run/cage-`);
}
