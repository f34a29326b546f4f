/**
 * The storage process: reads a question, runs it, writes the answer. It blocks while it waits and while it works; the
 * host ends it when it takes too long. Bundled into one text by `npm run generate`, because it runs from a file that the
 * host writes.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { readSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { Worker } from "node:worker_threads";
import { HostError } from "../../core/errors/host_error.ts";
import { ANSWER, failedAnswer, type StorageSetup } from "../../core/storage/messages.ts";
import { serveStorage } from "../../core/storage/serve.ts";
import { databases } from "./databases.ts";

// While a statement runs this thread cannot see that the host has died. Another one looks, and ends both. Whose child
// this is must be asked here: by the time that thread runs, the host may be gone.
const WATCH = `setInterval(() => process.ppid === ${process.ppid} || process.kill(process.pid, "SIGKILL"), 500);`;
const RETRY_MS = 1;
/** Takes at most 4,096 bytes, which a pipe takes whole or not at all. */
const SMALL_CHARS = 4096 / 3;

new Worker(WATCH, { eval: true }).unref();
const lines = readLines();
const setup = JSON.parse(lines.next().value ?? "null") as StorageSetup | null;
if (setup) {
  const answer = opened(setup);
  if (answer) { for (const line of lines) write(`${answer(line)}\n`); }
}
process.exit(0);

/** Opens the database and answers the first line. Null where the host has its reason: there is nothing to serve. */
function opened(setup: StorageSetup): ((line: string) => string) | null {
  try {
    const byteLength = (text: string): number => Buffer.byteLength(text);
    const answer = serveStorage(setup, { open: databases.open, freeBytes, byteLength });
    write(`${ANSWER.OK}null\n`);
    return answer;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    write(`${failedAnswer(error)}\n`);
    return null;
  }
}

/** Lines of stdin, each as soon as it is whole. */
function* readLines(): Generator<string, undefined> {
  const chunk = Buffer.allocUnsafe(65_536);
  const read = (): number => readSync(0, chunk, 0, chunk.length, null);
  let pieces: Buffer[] = [];
  for (;;) {
    const size = retry(read);
    if (size === 0) return;
    // One question at a time: a newline can only be the last byte.
    const isWhole = chunk[size - 1] === 0x0a;
    if (isWhole && pieces.length === 0) yield chunk.toString("utf8", 0, size - 1);
    else {
      pieces.push(Buffer.from(chunk.subarray(0, size)));
      if (!isWhole) continue;
      yield Buffer.concat(pieces).toString("utf8");
      pieces = [];
    }
  }
}

function write(text: string): void {
  // As text where the pipe takes it whole: making bytes of it first costs more than writing it.
  if (text.length < SMALL_CHARS) return void retry(() => writeSync(1, text));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += retry(() => writeSync(1, bytes, at));
}

/** Some hosts hand down pipes that answer "try again" in place of waiting. */
function retry(run: () => number): number {
  for (;;) {
    try {
      return run();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "EOF" || code === "EPIPE") process.exit(0);
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return null;
  }
}
