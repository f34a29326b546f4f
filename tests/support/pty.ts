/**
 * Runs the `kaged` command on a terminal of its own, by way of `script`.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { compiledCode } from "./compiled_code.ts";
import { kagedCommand } from "./run_kaged.ts";
import { requireOrSkip } from "./require_or_skip.ts";

/** Whether there is a `script` to make terminals with. */
export async function canUseTerminal(t: TestContext): Promise<boolean> {
  return await requireOrSkip(t, "script", existsSync("/usr/bin/script"), "install the package bsdutils");
}

/** The end of a run on a terminal. */
export interface TerminalRun {
  readonly code: number | null;
  /** Everything that was shown, without colours and moves of the cursor. */
  readonly shown: string;
}

/**
 * Runs `kaged` with `args` on a terminal of 100 columns; each answer is typed when its question is shown: question →
 * keys, and what is drawn last before anybody listens where that is not the No of a yes or no.
 */
export async function onTerminal(
  args: readonly string[],
  answers: readonly (readonly [question: string, keys: string, drawn?: string])[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<TerminalRun> {
  const kaged = kagedCommand(args);
  const words = [kaged.command, ...kaged.args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("/usr/bin/script", ["-qec", `stty cols 100 rows 40; exec ${words}`, "/dev/null"], {
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/nonexistent",
      TERM: "xterm",
      NO_COLOR: "1",
      ...compiledCode,
      ...options.env,
    },
    stdio: ["pipe", "pipe", "inherit"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const waiting = [...answers];
  const decoder = new TextDecoder();
  let shown = "";
  let from = 0;
  child.stdout.on("data", (chunk: Uint8Array) => {
    shown += plain(decoder.decode(chunk, { stream: true }));
    const [next] = waiting;
    // The choice is drawn after the question: only then is anybody listening.
    const at = next ? shown.indexOf(next[0], from) : -1;
    const drawn = at === -1 ? -1 : shown.indexOf(next![2] ?? "● No", at);
    if (!next || drawn === -1) return;
    from = drawn;
    waiting.shift();
    child.stdin.write(next[1]);
  });
  const [code] = await once(child, "close") as [number | null];
  return { code, shown };
}

function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\r", "");
}
