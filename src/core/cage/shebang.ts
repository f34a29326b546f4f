/**
 * The first line of a script.
 *
 * @module
 */

/** As much of a file as the kernel looks at. */
export const SHEBANG_BYTES = 256;

/** Which interpreter a script asks for. */
export interface Shebang {
  /** Path of the interpreter, as written. */
  readonly interpreter: string;
  /** The program `env` is to look for, or null when the interpreter is not `env`. */
  readonly envName: string | null;
}

/** Reads the interpreter from the first bytes of a file, or null when it is no script. */
export function parseShebang(head: Uint8Array): Shebang | null {
  if (head[0] !== 0x23 || head[1] !== 0x21) return null;
  const line = new TextDecoder().decode(head.subarray(2)).split("\n", 1)[0] ?? "";
  const words = line.split(/[ \t]+/).filter((word) => word !== "");
  const interpreter = words[0] ?? "";
  return { interpreter, envName: isEnv(interpreter) ? envName(words.slice(1)) : null };
}

/** Whether a path is the program that finds another by its name. */
export function isEnv(path: string): boolean {
  return path === "/usr/bin/env" || path === "/bin/env";
}

/** Returns the program among the arguments of `env`: after `-S` and variables, or "" when there is none. */
export function envName(args: readonly string[]): string {
  return args.find((arg) => arg !== "-S" && !/^[A-Za-z_][A-Za-z0-9_]*=/.test(arg)) ?? "";
}
