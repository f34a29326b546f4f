import assert from "node:assert/strict";
import { spawn as spawnBare } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { ChildProcess, Command, ProcessListeners } from "../../src/core/ports/ports.ts";
import { until } from "../support/until.ts";

const { processes } = await detectRuntime();

interface Heard {
  readonly child: ChildProcess;
  readonly chunks: Uint8Array[];
  out(): string;
  err(): string;
  readonly ends: number[];
}

async function started(
  file: string,
  args: readonly string[],
  more: Partial<Command> & Partial<ProcessListeners> = {},
): Promise<Heard> {
  const chunks: Uint8Array[] = [];
  const errors: Uint8Array[] = [];
  const ends: number[] = [];
  const { env = {}, cwd = "/", ...own } = more;
  const child = await processes.spawn({ file, args, env, cwd }, {
    stdout: (chunk) => void chunks.push(chunk),
    stdoutEnd: () => void ends.push(chunks.length),
    stderr: (chunk) => void errors.push(chunk),
    ...own,
  });
  const text = (parts: Uint8Array[]): string => new TextDecoder().decode(joined(parts));
  return { child, chunks, ends, out: () => text(chunks), err: () => text(errors) };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const sh = (script: string, more?: Parameters<typeof started>[2]): Promise<Heard> =>
  started("/bin/sh", ["-c", script], more);

test("a spawned process gives its output, its errors and its exit code", async () => {
  const heard = await sh("echo out; echo err >&2; exit 7");
  assert.deepEqual(await heard.child.exited, { code: 7, signal: null });
  await heard.child.closed;
  assert.deepEqual([heard.out(), heard.err(), heard.ends.length], ["out\n", "err\n", 1]);
});

test("a spawned process has the given environment and nothing else", async () => {
  const heard = await started("/usr/bin/env", [], { env: { A: "1", B: "é" } });
  await heard.child.closed;
  assert.deepEqual(heard.out().trim().split("\n").sort(), ["A=1", "B=é"]);
  const bare = await started("/usr/bin/env", []);
  await bare.child.closed;
  assert.equal(bare.out(), "");
});

test("a spawned process starts in the given folder", async () => {
  for (const cwd of ["/", "/usr"]) {
    const heard = await started("/bin/pwd", [], { cwd });
    await heard.child.closed;
    assert.equal(heard.out(), `${cwd}\n`);
  }
});

test("arguments reach the program as they are", async () => {
  const args = ["", " ", "$HOME", "a'b\"c", "*", "-n", "é漢", "a\nb"];
  const heard = await started("/usr/bin/printf", ["%s|", ...args]);
  await heard.child.closed;
  assert.equal(heard.out(), args.map((arg) => `${arg}|`).join(""));
});

test("a program that cannot be started rejects with the system's code", async () => {
  await assert.rejects(started("/no/such/program", []), { code: "ENOENT" });
  await assert.rejects(started("/bin/true", [], { cwd: "/no/such/folder" }), { code: "ENOENT" });
});

test("text written to stdin arrives as UTF-8, in order, and its end ends the reader", async () => {
  const heard = await started("/bin/cat", []);
  heard.child.write("é漢\n");
  heard.child.write("x".repeat(300_000));
  heard.child.endInput();
  assert.deepEqual(await heard.child.exited, { code: 0, signal: null });
  await heard.child.closed;
  assert.equal(heard.out(), "é漢\n" + "x".repeat(300_000));
});

test("N-038 a process opens its standard streams by name", async () => {
  const heard = await sh("read first </dev/stdin; echo $first >/dev/stdout; echo no >/dev/stderr; exec cat /dev/stdin");
  heard.child.write("first\n");
  await until(() => heard.out() === "first\n", "the first line");
  heard.child.write("é".repeat(100_000));
  heard.child.endInput();
  assert.deepEqual(await heard.child.exited, { code: 0, signal: null });
  await heard.child.closed;
  assert.deepEqual([heard.out(), heard.err()], ["first\n" + "é".repeat(100_000), "no\n"]);
});

test("a host that starts and ends processes keeps no descriptor of theirs", async () => {
  const open = async (): Promise<number> => (await readdir("/proc/self/fd")).length;
  const cycle = async (): Promise<void> => {
    const all = await Promise.all(Array.from({ length: 12 }, () => started("/bin/cat", [])));
    for (const { child } of all.slice(0, 6)) child.endInput();
    for (const { child } of all.slice(6)) child.kill("SIGKILL");
    await Promise.all(all.map(({ child }) => Promise.all([child.exited, child.closed])));
    await assert.rejects(started("/no/such/program", []), { code: "ENOENT" });
  };
  await cycle();
  const before = await open();
  for (let i = 0; i < 5; i++) await cycle();
  // Pipes that were made ahead of the next starts come and go.
  await until(async () => await open() <= before + 12, "descriptors to be closed");
});

test("chunks stay what they were after later ones came", async () => {
  const heard = await sh("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done");
  await heard.child.closed;
  assert.equal(heard.out(), Array.from({ length: 20_000 }, (_, i) => `line-${i}\n`).join(""));
});

test("bufferedBytes() counts bytes a reader has not taken, and drain() is called when it has", async () => {
  let drained = (): void => {};
  const drain = new Promise<void>((resolve) => drained = resolve);
  const heard = await sh("exec cat >/dev/null", { drain: () => drained() });
  const { pid } = heard.child;
  // A reader that runs may take all of it before write() returns: this one is stopped.
  process.kill(pid, "SIGSTOP");
  await until(async () => /\) T /.test(await readFile(`/proc/${pid}/stat`, "utf8")), "the stop of the reader");
  const text = "é".repeat(2_000_000);
  heard.child.write(text);
  assert.equal(heard.child.bufferedBytes(), 4_000_000);
  heard.child.write("\n");
  process.kill(pid, "SIGCONT");
  await drain;
  assert.equal(heard.child.bufferedBytes(), 0);
  heard.child.endInput();
  await heard.child.closed;
});

test("a paused process is not read until resume()", async () => {
  let first = (): void => {};
  const began = new Promise<void>((resolve) => first = resolve);
  let bytes = 0;
  const { child } = await sh("head -c 8000000 /dev/zero", {
    stdout(chunk) {
      if (bytes === 0) {
        child.pause();
        first();
      }
      bytes += chunk.length;
    },
  });
  await began;
  const racing = await Promise.race([child.exited.then(() => "ended"), turnsOfTheLoop(50).then(() => "waiting")]);
  assert.equal(racing, "waiting");
  assert.ok(bytes < 8_000_000);
  child.resume();
  await child.closed;
  assert.equal(bytes, 8_000_000);
});

test("kill() sends each signal it is asked for: one that was stopped can still be killed", async () => {
  const heard = await started("/bin/sleep", ["600"]);
  heard.child.kill("SIGSTOP");
  heard.child.kill("SIGKILL");
  assert.deepEqual(await heard.child.exited, { code: null, signal: "SIGKILL" });
});

test("kill() ends a process by signal, and does nothing once it has ended", async () => {
  const heard = await started("/bin/sleep", ["600"]);
  heard.child.kill("SIGKILL");
  assert.deepEqual(await heard.child.exited, { code: null, signal: "SIGKILL" });
  heard.child.kill("SIGKILL");
  heard.child.kill("SIGTERM");
  await heard.child.closed;
});

test("writing to a process that ended, or that closed its stdin, does nothing", async () => {
  const gone = await sh("exit 0");
  await gone.child.closed;
  gone.child.write("x");
  gone.child.endInput();
  const deaf = await sh("exec <&-; echo closed; read x; sleep 0; exit 3");
  for (let i = 0; i < 20; i++) deaf.child.write("x".repeat(100_000));
  assert.deepEqual(await deaf.child.exited, { code: 3, signal: null });
  await deaf.child.closed;
});

test("exited resolves while a grandchild still holds the pipes, and release() closes them", async () => {
  const heard = await sh("sleep 600 & echo $!; exit 3");
  assert.deepEqual(await heard.child.exited, { code: 3, signal: null });
  let closed = false;
  void heard.child.closed.then(() => closed = true);
  await turnsOfTheLoop(20);
  assert.equal(closed, false);
  heard.child.release();
  await heard.child.closed;
  assert.equal(heard.ends.length, 1);
  assert.equal(processes.signal(Number(heard.out()), "SIGKILL"), true);
});

test("no listener is called after release()", async () => {
  const heard = await sh("while :; do echo flood; done");
  await until(() => heard.chunks.length > 0, "output");
  heard.child.release();
  const before = heard.chunks.length;
  await heard.child.closed;
  await heard.child.exited; // The flood ends on a broken pipe.
  assert.equal(heard.chunks.length, before);
  assert.equal(heard.ends.length, 1);
});

test("a spawned process heads a group of its own: Ctrl-C on the program's terminal does not reach it", async () => {
  const heard = await started("/bin/bash", ["-c", 'read -ra stat <"/proc/$$/stat"; echo "${stat[4]}"']);
  await heard.child.closed;
  assert.equal(Number(heard.out()), heard.child.pid);
});

test("signal() reaches a process group, and says false when nobody is there", async () => {
  const heard = await started("/bin/sh", ["-c", "echo $$; exec sleep 600"]);
  await until(() => heard.out().endsWith("\n"), "the line with its number");
  const group = Number(heard.out());
  assert.equal(processes.signal(-group, "SIGKILL"), true);
  await heard.child.exited;
  assert.equal(processes.signal(-group, "SIGKILL"), false);
  assert.equal(processes.signal(group, "SIGTERM"), false);
});

test("signal() refuses the numbers that mean everybody", () => {
  for (const pid of [0, -1, NaN, 1.5]) assert.throws(() => processes.signal(pid, "SIGTERM"), RangeError);
});

/** Lets the event loop turn: each turn starts and awaits the smallest process there is. */
async function turnsOfTheLoop(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => spawnBare("/bin/true", [], { stdio: "ignore" }).once("exit", resolve));
  }
}
