/**
 * A plugin in its cage with nothing in between.
 *
 * @module
 */
import { killCage } from "../cage/kill_cage.ts";
import { openCage } from "../cage/open_cage.ts";
import { asHostError, HostError, messageOf } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { ChildProcess, Exit, Runtime } from "../ports/ports.ts";
import { MAX_LINE_BYTES } from "../wire/connection_types.ts";
import { LineReader } from "../wire/read_lines.ts";
import { cageRequest } from "./cage_request.ts";
import { stderrTail } from "./stderr_tail.ts";
import type { SupervisorOptions } from "./types.ts";
import type { PluginWire, WireListeners } from "./plugin_wire.ts";

/** How long pipes may outlive their process. */
const PIPE_GRACE_MS = 1_000;
/** Most bytes that wait for a plugin that does not read. */
const MAX_WAITING_BYTES = 4 * MAX_LINE_BYTES;

/** Which plugin, and where. */
export interface CagedWireOptions
  extends Pick<SupervisorOptions, "runtime" | "home" | "runtimes" | "limits" | "pluginLimits"> {
  /** The plugin's folder, absolute. */
  readonly dir: string;
  /** Its manifest. */
  readonly manifest: Manifest;
  /** Project folder, for `project:/…` grants. */
  readonly projectDir?: string | null;
}

/** Starts the plugin in its cage. Rejects with a `cage.*` or `capability.*` error. */
export async function openCagedWire(options: CagedWireOptions, listeners: WireListeners): Promise<PluginWire> {
  const { runtime, manifest, dir, projectDir = null } = options;
  const cage = await openCage(cageRequest(manifest, { dir, projectDir }, options), runtime);
  const reader = new LineReader({
    line: (text, start, end) => listeners.line(text.slice(start, end)),
    undecodable: (start) => listeners.undecodable(start),
    oversize: () => listeners.oversize(),
  }, { bytes: runtime.bytes, maxLineBytes: MAX_LINE_BYTES });
  const stderr = stderrTail(() => {});
  const child = await runtime.processes.spawn(cage.command, {
    stdout: (chunk) => reader.push(chunk),
    stdoutEnd() {},
    stderr: (chunk) => stderr.receive(chunk),
  }).catch(async (cause) => {
    await cage.close();
    throw new HostError("cage.spawn_failed", `Cannot start "${cage.command.file}": ${messageOf(cause)}`, {
      cause,
      hint: "Run kaged doctor",
    });
  });
  cage.watch();
  let fault: HostError | null = null;
  const ended = finish(child, runtime).then(async (exit) => {
    stderr.end();
    fault = await cage.diagnose(exit, stderr.lines()).catch(asHostError);
    await cage.close();
    return exit;
  });
  return {
    ended,
    fault: () => fault,
    verify: async () => {
      await cage.verifyMounts();
      await cage.settle();
    },
    write: (text) => {
      if (child.bufferedBytes() < MAX_WAITING_BYTES) child.write(text);
    },
    endInput: () => child.endInput(),
    stderr: () => stderr.lines(),
    kill: async () => {
      await killCage(child, runtime);
      await ended;
    },
  };
}

async function finish(child: ChildProcess, { clock }: Runtime): Promise<Exit> {
  const exit = await child.exited;
  const cancel = clock.after(PIPE_GRACE_MS, () => child.release());
  await child.closed;
  cancel();
  return exit;
}
