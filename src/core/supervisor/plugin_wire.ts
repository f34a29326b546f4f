/**
 * A plugin's process without a host around it: lines go in and come out as they are.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import type { Exit } from "../ports/ports.ts";

/** What comes from the plugin. */
export interface WireListeners {
  /** A line of stdout. */
  line(text: string): void;
  /** A line that is no UTF-8, its start shown as well as can be. */
  undecodable(start: string): void;
  /** A line went over the cap; nothing comes after it. */
  oversize(): void;
}

/** A plugin's process, spoken to line by line. */
export interface PluginWire {
  /** Resolves when the process has ended and its output has been read. */
  readonly ended: Promise<Exit>;
  /** The failure of the cage, or the limit that was exceeded, when that has ended it; null otherwise. */
  fault(): HostError | null;
  /**
   * Rejects with `cage.walls_missing` or `cage.path_swapped` unless it is caged as it should be: call it when the
   * plugin has answered once, before it is told anything more.
   */
  verify(): Promise<void>;
  /** Writes text as it is; what a plugin that does not read cannot take is dropped. */
  write(text: string): void;
  /** Closes its stdin. */
  endInput(): void;
  /** Its newest lines on stderr. */
  stderr(): readonly string[];
  /** Ends it at once; resolves when it has. */
  kill(): Promise<void>;
}

/** Starts the plugin afresh. Rejects with a `cage.*` or `capability.*` error. */
export type OpenWire = (listeners: WireListeners) => Promise<PluginWire>;
