/**
 * The helper of a Deno host that was not started with `-A`: it answers questions about `/proc` and `/sys`, which Deno
 * opens to programs with every permission alone. Bundled into one text by `npm run generate`; it ends with its host.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { files } from "./files.ts";
import { isAnswered, type KernelQuestion } from "./kernel_operations.ts";

for await (const line of createInterface({ input: process.stdin })) void answer(JSON.parse(line) as KernelQuestion);
process.exit(0);

async function answer(question: KernelQuestion): Promise<void> {
  const { id } = question;
  const reply = await perform(question).then(
    (ok) => ({ id, ok: ok ?? null }),
    ({ code, message }) => ({ id, error: { code, message } }),
  );
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

async function perform(question: KernelQuestion): Promise<unknown> {
  const { op, args } = question;
  // The helper may reach everything, so it looks itself that it is asked for nothing else.
  if (!isAnswered(question)) throw new TypeError(`The helper does not answer ${op} of "${args[0]}"`);
  return await (files[op] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}
