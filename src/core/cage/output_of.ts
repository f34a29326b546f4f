/**
 * Runs a program of the host to its end.
 *
 * @module
 */
import type { Runtime } from "../ports/ports.ts";

/** Returns what a program wrote to stdout and stderr, as one text. Rejects when it cannot be started. */
export async function outputOf(
  runtime: Runtime,
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const take = (chunk: Uint8Array): void => void (text += decoder.decode(chunk, { stream: true }));
  const child = await runtime.processes.spawn({ file, args, env, cwd: "/" }, {
    stdout: take,
    stdoutEnd: () => {},
    stderr: take,
  });
  child.endInput();
  await child.closed;
  await child.exited;
  return text;
}
