/**
 * A listener on the bytes between the host and one process.
 *
 * @module
 */
import type { Exit } from "../ports/ports.ts";

/** Hears what goes over the wire of one process, as it goes. Must not throw. */
export interface WireTap {
  /** Bytes that the plugin wrote to stdout, in any pieces. */
  plugin(chunk: Uint8Array): void;
  /** Text the host wrote: whole lines. */
  host(text: string): void;
  /** The host closed the plugin's stdin. */
  closed(): void;
  /** The process has ended; nothing follows. */
  end(exit: Exit): void;
}
