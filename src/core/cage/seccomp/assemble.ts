/**
 * Classic BPF, as far as a seccomp filter needs it: instructions with named targets → bytes.
 *
 * @module
 */

/** Offset in `struct seccomp_data` of the call's number. */
export const NUMBER_OFFSET = 0;
/** Offset of the architecture the call was made for. */
export const ARCH_OFFSET = 4;

/** Returns the offset of the low half of an argument: both architectures are little-endian. */
export function argumentOffset(index: number): number {
  return 16 + 8 * index;
}

/** One instruction. A jump whose target is left out goes on with the next one. */
export type Instruction =
  /** A name for the place of the next instruction. */
  | { readonly label: string }
  /** Reads 32 bits of the call into the accumulator. */
  | { readonly load: number }
  /** Compares the accumulator: equal, greater (unsigned), or any common bit. */
  | { readonly jump: "eq" | "gt" | "set"; readonly value: number; readonly then?: string; readonly else?: string }
  /** Ends with an action. */
  | { readonly give: number };

const LOAD_WORD = 0x20;
const RETURN = 0x06;
const JUMPS = { eq: 0x15, gt: 0x25, set: 0x45 } as const;
/** Jumps are counted in one byte. */
const MAX_JUMP = 255;
const INSTRUCTION_BYTES = 8;

/** Returns the program in the machine's own layout. Throws a `RangeError` for a target that cannot be reached. */
export function assemble(program: readonly Instruction[]): Uint8Array {
  const places = new Map<string, number>();
  let count = 0;
  for (const step of program) {
    if ("label" in step) places.set(step.label, count);
    else count++;
  }
  const bytes = new Uint8Array(count * INSTRUCTION_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  const distance = (label: string | undefined): number => {
    if (label === undefined) return 0;
    const jump = (places.get(label) ?? -1) - at - 1;
    if (jump < 0 || jump > MAX_JUMP) throw new RangeError(`Cannot jump from instruction ${at} to "${label}"`);
    return jump;
  };
  for (const step of program) {
    if ("label" in step) continue;
    const [code, then, otherwise, value] = "load" in step
      ? [LOAD_WORD, 0, 0, step.load]
      : "give" in step
      ? [RETURN, 0, 0, step.give]
      : [JUMPS[step.jump], distance(step.then), distance(step.else), step.value];
    const offset = at * INSTRUCTION_BYTES;
    view.setUint16(offset, code, true);
    view.setUint8(offset + 2, then);
    view.setUint8(offset + 3, otherwise);
    view.setUint32(offset + 4, value, true);
    at++;
  }
  return bytes;
}
