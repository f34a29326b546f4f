/**
 * Reads sizes such as `10mb`.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/**
 * Returns the bytes that a size such as `10mb` names; a unit is 1024 of the one before.
 *
 * @throws {HostError} `addons.invalid_option` when it names none.
 */
export function byteSize(text: string): number {
  const [, number = "", unit = ""] = /^([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(b|kb|mb|gb)$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? 0));
  if (bytes > 0) return bytes;
  throw new HostError("addons.invalid_option", `"${text}" is no size`, {
    data: { value: text },
    hint: 'Write a number and a unit, such as "10mb"; units are b, kb, mb and gb',
  });
}
