/**
 * A plugin in its cage without a host around it: lines go in and come out as they are. Conformance rules and replays
 * speak to plugins through it.
 *
 * @module
 */
import type { CageRequest } from "../core/cage/cage.ts";
import { CagedProcess } from "../core/cage/caged_process.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import { cageRequest } from "../core/supervisor/plugin_source.ts";
import type { PluginSpec, SupervisorOptions } from "../core/supervisor/types.ts";
import { MAX_LINE_BYTES } from "../core/wire/connection_types.ts";
import { LineReader } from "../core/wire/read_lines.ts";

/** A plugin that does not read has this many bytes wait for it; further ones are dropped. */
const MAX_WAITING_BYTES = 4 * MAX_LINE_BYTES;

/** Receives the output of a plugin. */
export interface WireListeners {
  line(text: string): void;
  /** A line that is no UTF-8; `start` shows its beginning as well as can be. */
  undecodable(start: string): void;
  /** A line went over the cap; nothing comes after it. */
  oversize(): void;
}

/** A plugin's process, spoken to line by line. */
export interface PluginWire extends Pick<CagedProcess, "ended" | "kill" | "stderr"> {
  endInput(): void;
  /**
   * Rejects with `cage.walls_missing` or `cage.path_swapped` unless it is caged as planned: call it when the plugin has
   * answered once, before it gets anything more.
   */
  verify(): Promise<void>;
  /** Writes text as it is; what a plugin that does not read cannot take is dropped. */
  write(text: string): void;
}

/** Starts the plugin afresh. Rejects with a `cage.*` or `capability.*` error. */
export type OpenWire = (listeners: WireListeners) => Promise<PluginWire>;

/** The plugin to start, and the settings its cage is built by. */
export interface PluginWireOptions
  extends
    Pick<PluginSpec, "dir" | "projectDir">,
    Pick<SupervisorOptions, "runtime" | "home" | "runtimes" | "limits" | "pluginLimits"> {
  readonly manifest: Manifest;
  /** Completes the request for each cage, for a plugin with secrets. Default: nothing is added. */
  readonly complete?: (request: CageRequest) => CageRequest;
}

/** Starts the plugin in its cage. Rejects with a `cage.*` or `capability.*` error. */
export async function openPluginWire(options: PluginWireOptions, listeners: WireListeners): Promise<PluginWire> {
  const { runtime, manifest, complete = (request) => request } = options;
  const reader = new LineReader({
    line: (text, start, end) => listeners.line(text.slice(start, end)),
    undecodable: (start) => listeners.undecodable(start),
    oversize: () => listeners.oversize(),
  }, { bytes: runtime.bytes, maxLineBytes: MAX_LINE_BYTES });
  const onStdout = (chunk: Uint8Array): void => reader.push(chunk);
  const caged = await CagedProcess.start(complete(cageRequest(manifest, options, options)), { runtime, onStdout });
  const { cage, ended, pipes } = caged;
  return {
    ended,
    verify: async () => {
      await cage.verifyMounts();
      await cage.settle();
    },
    write: (text) => {
      if (pipes.bufferedBytes() < MAX_WAITING_BYTES) pipes.write(text);
    },
    endInput: () => pipes.endInput(),
    stderr: () => caged.stderr(),
    kill: () => caged.kill(),
  };
}
