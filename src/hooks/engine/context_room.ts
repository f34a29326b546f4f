/**
 * Room for the texts that handlers inject. It is small, and a text that is cut to fit says so.
 *
 * @module
 */
import { byteLength, cutText } from "../../core/values/cut_text.ts";
import type { HookSource } from "./types.ts";

/** A text as it is injected. */
export interface RoomText {
  /** With a notice where it was cut. */
  readonly text: string;
  /** Bytes it takes of the room: the notice takes none. */
  readonly bytes: number;
  /** Whether a part of it is missing. */
  readonly cut: boolean;
}

/** Takes texts until it is full. One room for each firing. */
export interface ContextRoom {
  /** Takes a text, cut to the room that is left. */
  take(source: HookSource, text: string): RoomText;
  /** Gives back the room of a text that is not injected after all. */
  giveBack(source: HookSource, bytes: number): void;
}

/** Bytes that the handlers of one firing may inject, unless the engine's options say otherwise. */
export const INJECT_BUDGET_BYTES: number = 32 * 1024;

/** Returns a room that holds nothing yet. */
export function openContextRoom(budgetBytes: number = INJECT_BUDGET_BYTES): ContextRoom {
  let leftBytes = budgetBytes;
  return {
    take(_source, given) {
      const text = given.isWellFormed() ? given : given.toWellFormed();
      const kept = cutText(text, leftBytes);
      const bytes = byteLength(kept);
      leftBytes -= bytes;
      if (kept.length === text.length) return { text, bytes, cut: false };
      const notice = `[cut: ${bytes} of ${byteLength(text)} bytes are shown]`;
      return { text: kept === "" ? notice : `${kept}\n${notice}`, bytes, cut: true };
    },
    giveBack: (_source, bytes) => void (leftBytes += bytes),
  };
}
