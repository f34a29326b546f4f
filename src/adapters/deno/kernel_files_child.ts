/**
 * The helper of a Deno host that was not started with `-A`: it answers questions about `/proc` and `/sys`, which Deno
 * opens to programs with every permission alone. Bundled into one text by `npm run generate`; it ends with its host.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { files } from "../shared/files.ts";
import { isKernelPath, KERNEL_OPERATIONS, type KernelOperation, type KernelQuestion } from "./kernel_operations.ts";

for await (const line of createInterface({ input: process.stdin })) void answer(JSON.parse(line) as KernelQuestion);
process.exit(0);

async function answer({ id, op, args }: KernelQuestion): Promise<void> {
  const reply = await perform(op, args).then(
    (ok) => ({ id, ok: ok ?? null }),
    ({ code, message }) => ({ id, error: { code, message } }),
  );
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

async function perform(op: KernelOperation, args: KernelQuestion["args"]): Promise<unknown> {
  // The helper may reach everything, so it looks itself that it is asked for nothing else.
  if (!KERNEL_OPERATIONS.includes(op) || !isKernelPath(args[0])) throw new TypeError(`Not asked of the kernel: ${op}`);
  return await (files[op] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}
