/**
 * The bare limit: JSON, a map of promises, the writes of a tick joined. No check, no deadline, no bound.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

type SpawnPlace = { cwd?: string; env?: Record<string, string> };

/** A host that does nothing but carry calls. */
export interface BareHost {
  readonly child: ChildProcessWithoutNullStreams;
  call(method: string, params?: unknown): Promise<unknown>;
  notify(method: string, params?: unknown): void;
}

/** Starts a program and talks to it. */
export function openBare(file: string, args: readonly string[], options: SpawnPlace = {}): BareHost {
  const child = spawn(file, [...args], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  const pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: unknown) => void }>();
  let lastId = 0;
  let out = "";
  let partial: Buffer[] = [];
  const flush = (): void => {
    child.stdin.write(out);
    out = "";
  };
  const send = (message: unknown): void => {
    if (out === "") queueMicrotask(flush);
    out += JSON.stringify(message) + "\n";
  };

  child.stdout.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(10);
    if (end === -1) return void partial.push(chunk);
    const whole = chunk.subarray(0, end);
    const text = (partial.length === 0 ? whole : Buffer.concat([...partial, whole])).toString("utf8");
    partial = end + 1 === chunk.length ? [] : [chunk.subarray(end + 1)];
    for (const line of text.split("\n")) {
      const { id, result, error } = JSON.parse(line);
      const call = pending.get(id)!;
      pending.delete(id);
      if (error) call.reject(error);
      else call.resolve(result);
    }
  });
  child.stderr.resume();

  return {
    child,
    call: (method, params) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        pending.set(id, { resolve, reject });
        send({ jsonrpc: "2.0", id, method, params });
      }),
    notify: (method, params) => send({ jsonrpc: "2.0", method, params }),
  };
}
