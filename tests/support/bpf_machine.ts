/**
 * The part of the kernel that runs a classic BPF filter on one system call, small enough to read.
 *
 * @module
 */

/** One system call, as a filter sees it. */
export interface SyscallData {
  /** Its number. */
  readonly number: number;
  /** The architecture it was made for. */
  readonly arch: number;
  /** Its arguments, 64 bits each; those left out are 0. */
  readonly args?: readonly bigint[];
}

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_SET = 0x45;
const RETURN = 0x06;

/** Runs a filter on one call and returns its action. Throws on what the kernel would refuse to load. */
export function runFilter(program: Uint8Array, { number, arch, args = [] }: SyscallData): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch, true);
  args.forEach((value, index) => data.setBigUint64(16 + 8 * index, value, true));
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength);
  const count = program.byteLength / 8;
  let accumulator = 0;
  for (let at = 0; at < count; at++) {
    const [operation, then, otherwise, value] = [
      code.getUint16(at * 8, true),
      code.getUint8(at * 8 + 2),
      code.getUint8(at * 8 + 3),
      code.getUint32(at * 8 + 4, true),
    ];
    switch (operation) {
      case LOAD_WORD:
        if (value % 4 !== 0) throw new Error(`Instruction ${at} loads from ${value}`);
        accumulator = data.getUint32(value, true);
        break;
      case JUMP_EQUAL:
        at += accumulator === value ? then : otherwise;
        break;
      case JUMP_GREATER:
        at += accumulator > value ? then : otherwise;
        break;
      case JUMP_SET:
        at += (accumulator & value) !== 0 ? then : otherwise;
        break;
      case RETURN:
        return value;
      default:
        throw new Error(`Instruction ${at} has the unknown operation ${operation}`);
    }
  }
  throw new Error("The filter ended without an action");
}
