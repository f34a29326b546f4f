/**
 * Plugins' text for the model: wrapped under their name, made harmless, cut to size, recorded.
 *
 * @module
 */
import type { Injection } from "../../../core/compaction/types.ts";
import { byteLength, cutText } from "../../../core/values/cut_text.ts";
import { type EscapeMarkers, markerEscaper } from "../../../core/values/escape_markers.ts";
import { sha256 } from "../../../core/values/sha256.ts";

/** Most text that may go before the model at a time. */
export interface InjectionLimits {
  readonly pluginBytes: number;
  /** Of all plugins together. */
  readonly totalBytes: number;
}

/** 32 KiB of each plugin, 128 KiB in all. */
export const INJECTION_LIMITS: InjectionLimits = { pluginBytes: 32 * 1024, totalBytes: 128 * 1024 };

const USUAL: EscapeMarkers = markerEscaper();

/** One text, ready for the model. */
export interface WrappedInjection {
  /** The text in its block: `<plugin:NAME>…</plugin:NAME>`. */
  readonly text: string;
  readonly injection: Injection;
  /** Bytes the plugin returned. */
  readonly returnedBytes: number;
  /** Number of turn markers in it that were made harmless, tags of plugins among them. */
  readonly escapedTags: number;
}

/** Wraps texts of plugins until their room is used up. */
export interface Injections {
  /** Wraps one text. Null when it is empty; where it is cut, the block says so. */
  wrap(plugin: string, hook: string, text: string): Promise<WrappedInjection | null>;
}

/**
 * Returns a fresh room for the texts that go into one window: at the start of a session, or in one compaction. `escape`
 * makes turn markers in them harmless; the default knows the usual ones.
 */
export function openInjections(
  limits: InjectionLimits = INJECTION_LIMITS,
  escape: EscapeMarkers = USUAL,
): Injections {
  const usedBy = new Map<string, number>();
  let usedBytes = 0;
  return {
    async wrap(plugin, hook, returned) {
      if (returned === "") return null;
      const ownBytes = usedBy.get(plugin) ?? 0;
      const room = Math.min(limits.pluginBytes - ownBytes, limits.totalBytes - usedBytes);
      // Cut before as well as after: escaping makes text longer, and 4 MiB of it need not be looked at.
      const start = cutText(returned.toWellFormed(), room);
      const { text, count } = escape(start);
      const kept = cutText(text, room);
      const cut = start.length < returned.length || kept.length < text.length;
      const [bytes, returnedBytes] = [byteLength(kept), byteLength(returned)];
      usedBy.set(plugin, ownBytes + bytes);
      usedBytes += bytes;
      const body = cut
        ? `${kept}${kept === "" ? "" : "\n"}${cutNotice(bytes, Math.max(returnedBytes, byteLength(text)))}`
        : kept;
      return {
        text: `<plugin:${plugin}>\n${body}\n</plugin:${plugin}>`,
        injection: { plugin, hook, bytes, sha256: await sha256(returned), cut },
        returnedBytes,
        escapedTags: count,
      };
    },
  };
}

/** Stands where text is missing, for the model to read. */
function cutNotice(keptBytes: number, allBytes: number): string {
  return `[cut by the host: ${keptBytes} of ${allBytes} bytes are shown]`;
}
