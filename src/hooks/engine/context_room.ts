/**
 * Room for what handlers want injected: small, and what does not fit is said.
 *
 * @module
 */
import { byteLength, cutText } from "../../core/values/cut_text.ts";
import type { HookSource } from "./types.ts";

/** A text in the room. */
export interface RoomText {
  /** The text, with a notice where it was cut. */
  readonly text: string;
  /** Bytes of it that count. */
  readonly bytes: number;
  /** Whether something is missing. */
  readonly cut: boolean;
}

/** Takes texts until it is full. One room for each firing. */
export interface ContextRoom {
  /** Takes a text, or what of it fits. */
  take(source: HookSource, text: string): RoomText;
  /** Gives back the room of a text that is not injected after all. */
  giveBack(source: HookSource, bytes: number): void;
}

/** Bytes of one firing, unless an engine is told otherwise. */
export const INJECT_BUDGET_BYTES: number = 32 * 1024;

/** Returns an empty room. */
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
