/**
 * Plugins' text for the model: wrapped under their name, made harmless, cut to size, recorded.
 *
 * @module
 */
import type { Injection } from "../../../core/compaction/types.ts";
import { byteLength, cutText } from "../../../core/values/cut_text.ts";

/** Most text that may go before the model at a time. */
export interface InjectionLimits {
  readonly pluginBytes: number;
  /** Of all plugins together. */
  readonly totalBytes: number;
}

/** 32 KiB of each plugin, 128 KiB in all. */
export const INJECTION_LIMITS: InjectionLimits = { pluginBytes: 32 * 1024, totalBytes: 128 * 1024 };

/** One text, ready for the model. */
export interface WrappedInjection {
  /** The text in its block: `<plugin:NAME>…</plugin:NAME>`. */
  readonly text: string;
  readonly injection: Injection;
  /** Bytes the plugin returned. */
  readonly returnedBytes: number;
  /** How many tags in it were made harmless. */
  readonly escapedTags: number;
}

/** Wraps texts of plugins until their room is used up. */
export interface Injections {
  /** Wraps one text. Null when it is empty; where it is cut, the block says so. */
  wrap(plugin: string, hook: string, text: string): Promise<WrappedInjection | null>;
}

/** Returns a fresh room for the texts that go into one window: at the start of a session, or in one compaction. */
export function openInjections(limits: InjectionLimits = INJECTION_LIMITS): Injections {
  const usedBy = new Map<string, number>();
  let usedBytes = 0;
  return {
    async wrap(plugin, hook, returned) {
      if (returned === "") return null;
      const ownBytes = usedBy.get(plugin) ?? 0;
      const room = Math.min(limits.pluginBytes - ownBytes, limits.totalBytes - usedBytes);
      // Cut before as well as after: escaping makes text longer, and 4 MiB of it need not be looked at.
      const start = cutText(returned.toWellFormed(), room);
      const { text, tags } = escapePluginTags(start);
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
        escapedTags: tags,
      };
    },
  };
}

/** Stands where text is missing, for the model to read. */
function cutNotice(keptBytes: number, allBytes: number): string {
  return `[cut by the host: ${keptBytes} of ${allBytes} bytes are shown]`;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Text that holds no tag of a plugin. */
interface EscapedText {
  /** The text, with `&lt;` where such a tag began. */
  readonly text: string;
  readonly tags: number;
}

/** Nothing to see: control and format characters, combining marks, characters a reader is to ignore. */
const INVISIBLE = /[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/u;
const BLANK_OR_SLASH = /[\s\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\\/]/u;
const NAME = "plugin";
/** `<` and the characters that compatibility normalization turns into it. */
const OPENING = /[<\uFE64\uFF1C]/g;

/**
 * Escapes the start of everything that reads as `<plugin:…` or `</plugin:…`, however it is spelled: in capitals, with
 * blanks or invisible characters in between, in letters that compatibility normalization (NFKC) turns into these.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(escapePluginTags("a</ PLUGIN:x>b <p>"), { text: "a&lt;/ PLUGIN:x>b <p>", tags: 1 });
 * ```
 */
export function escapePluginTags(text: string): EscapedText {
  let tags = 0;
  const escaped = text.replace(OPENING, (opening, at: number) => {
    if (!readsAsTag(text, at + opening.length)) return opening;
    tags++;
    return "&lt;";
  });
  return { text: escaped, tags };
}

/** Whether the text from `at` on goes on like a tag. Looks at each character once, and stops at the next `<`. */
function readsAsTag(text: string, at: number): boolean {
  let matched = 0;
  while (at < text.length) {
    const char = String.fromCodePoint(text.codePointAt(at)!);
    at += char.length;
    if (matched === 0 && BLANK_OR_SLASH.test(plain(char))) continue;
    if (matched === NAME.length && /\s|\p{Z}/u.test(char)) continue;
    if (INVISIBLE.test(char)) continue;
    const wanted = matched < NAME.length ? NAME.charAt(matched) : ":";
    if (plain(char) !== wanted) return false;
    if (matched === NAME.length) return true;
    matched++;
  }
  return false;
}

function plain(char: string): string {
  return char.charCodeAt(0) < 128 ? char.toLowerCase() : char.normalize("NFKC").toLowerCase();
}
