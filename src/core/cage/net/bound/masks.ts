/**
 * Finds the values of secrets in what a server answers, in each form in which servers repeat what they were sent.
 *
 * @module
 */
import { latin1Bytes, utf8AsLatin1 } from "../bytes.ts";
import type { Swap } from "./swap_bytes.ts";

/** A shorter text stands in every second answer by chance, and hides nothing worth hiding. */
const MIN_CHARACTERS = 6;
const STAR = "*".charCodeAt(0);

/** Basic credentials of one request: as they were sent on, and as the plugin gave them. */
export interface Credentials {
  readonly sent: string;
  readonly given: string;
}

/** A value and its placeholder. */
export interface Mask {
  readonly value: string;
  readonly placeholder: string;
}

/** Returns the swaps that put placeholders in the place of values. */
export function maskSwaps(masks: readonly Mask[], credentials: readonly Credentials[]): Swap[] {
  const puts = new Map<string, string>();
  for (const { sent, given } of credentials) puts.set(sent, given);
  for (const { value, placeholder } of masks) for (const form of formsOf(value)) puts.set(form, placeholder);
  return [...puts].filter(([find]) => find.length >= MIN_CHARACTERS).map(([find, put]) => {
    const bytes = latin1Bytes(put);
    return { find: latin1Bytes(find), put: () => bytes };
  });
}

/** Returns the same swaps, made so that no length changes: a placeholder is cut, or filled up with stars. */
export function fittedSwaps(swaps: readonly Swap[]): Swap[] {
  return swaps.map(({ find, put }) => {
    const fitted = new Uint8Array(find.length).fill(STAR);
    fitted.set(put().subarray(0, find.length));
    return { find, put: () => fitted };
  });
}

/** Each form as bytes, one character for each. */
function formsOf(value: string): Set<string> {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const texts = [
    ...[value, json, json.replaceAll("/", "\\/")],
    json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ...[url, url.replaceAll("%20", "+"), url.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())],
  ];
  return new Set([...texts.map(utf8AsLatin1), ...base64Forms(utf8AsLatin1(value))]);
}

/** The middle of the value's base64, for each of three places at which it can begin among other bytes. */
function base64Forms(value: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = btoa("\0".repeat(before) + value);
    const middle = text.slice(Math.ceil(before * 8 / 6), Math.floor((before + value.length) * 8 / 6));
    // A short middle would be found by chance.
    return middle.length < 2 * MIN_CHARACTERS ? [] : [middle, middle.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
