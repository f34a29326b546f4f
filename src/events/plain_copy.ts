/**
 * Copies plain data.
 *
 * @module
 */
import { copyValue, openWalk } from "../core/values/json_copy.ts";

/** A copy, and roughly how much memory it holds. */
export interface PlainCopy<T> {
  /** Shares nothing with the original. */
  readonly copy: T;
  /** Characters of its strings, and 32 for each list and map: a lower bound when the data is not a small tree. */
  readonly weight: number;
}

/** Larger data is left to `structuredClone`: it may be one value many times, which a walk over a tree cannot recognise. */
const LIMITS = { maxChars: 8 * 1024 * 1024, containerChars: 32 };

/**
 * Copies JSON, which events are made of, many times faster than `structuredClone` does; data of any other shape is
 * handed to `structuredClone`. Fields that are undefined are left out.
 *
 * @throws {DOMException} `DataCloneError` when something in it cannot be copied, such as a function.
 */
export function plainCopy<T extends object>(value: T): PlainCopy<T> {
  const walk = openWalk(LIMITS);
  let copy: unknown;
  try {
    copy = copyValue(value, walk);
  } catch {
    copy = structuredClone(value);
  }
  return { copy: copy as T, weight: LIMITS.maxChars - walk.charsLeft };
}
