/**
 * A repository with hook files, an operator who trusts them or not, and a way to run them.
 *
 * @module
 */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { probeCage } from "../../src/core/cage/probe_cage.ts";
import { type OpenedHookFiles, openHookFiles } from "../../src/hooks/open_hook_files.ts";
import type { CommandEnd } from "../../src/hooks/sources/command/types.ts";
import { trustHookFile } from "../../src/hooks/files/trust_store.ts";
import { sealEvent } from "../../src/hooks/engine/sealed_event.ts";
import type { HookCallEvent, HookEvent, HookResponse } from "../../src/hooks/engine/types.ts";
import type { Runtime } from "../../src/core/ports/ports.ts";
import { requireOrSkip } from "./require_or_skip.ts";
import { scratchDir } from "./scratch_dir.ts";

/** A repository of a test. */
export interface HookRepo {
  /** The repository's folder. */
  readonly dir: string;
  /** The operator's folder. */
  readonly home: string;
  /** Home of the operator. */
  readonly userHome: string;
  /** The runtime. */
  readonly runtime: Runtime;
  /** How commands ended, in order. */
  readonly ends: readonly CommandEnd[];
  /** Writes a file of the repository; one that begins with `#!` becomes executable. */
  write(path: string, text: string): Promise<void>;
  /** Opens its hook files. */
  open(): Promise<OpenedHookFiles>;
  /** Trusts every hook file as it is. */
  trust(): Promise<void>;
  /** Fires an event at the first hook that wants it; the rejection of its handler passes through. */
  fire(event?: Partial<HookEvent>, options?: { readonly signal?: AbortSignal }): Promise<HookResponse | null>;
}

/** Makes the repository with these files in it. */
export async function hookRepo(t: TestContext, files: Readonly<Record<string, string>> = {}): Promise<HookRepo> {
  const scratch = await scratchDir(t);
  const runtime = await detectRuntime();
  const [dir, home, userHome] = ["repo", "home", "user"].map((name) => join(scratch, name)) as [string, string, string];
  for (const path of [dir, home, userHome]) await mkdir(path);
  const ends: CommandEnd[] = [];
  const write = async (path: string, text: string): Promise<void> => {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    if (text.startsWith("#!")) await chmod(file, 0o755);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const open = async (): Promise<OpenedHookFiles> => {
    const opened = await openHookFiles({ runtime, dir, home, userHome, onEnd: (_, end) => void ends.push(end) });
    t.after(() => opened.close());
    return opened;
  };
  return {
    dir,
    home,
    userHome,
    runtime,
    ends,
    write,
    open,
    async trust() {
      for (const { evidence, file } of (await open()).judged) {
        await trustHookFile({ home, dir: file.root, evidence }, runtime);
      }
    },
    async fire(own = {}, { signal = new AbortController().signal } = {}) {
      const { registrations } = await open();
      const event = hookEvent(own);
      const wanted = registrations.find(({ hook, matches }) => hook === event.hook && matches?.(event) !== false);
      if (wanted === undefined) throw new Error(`No hook wants ${event.hook}`);
      return await wanted.handler(event, { signal, firing: {} } as Parameters<typeof wanted.handler>[1]) ?? null;
    },
  };
}

/** An event as handlers get it, but for what is given. */
export function hookEvent(own: Partial<HookEvent> = {}): HookCallEvent {
  const { hook = "PreToolUse", timestamp = "2026-01-01T00:00:00.000Z", ...rest } = own;
  const usual = { sessionId: "ses_1", agent: "primary", tool: { name: "Bash" }, input: { command: "ls" } };
  return sealEvent({ ...usual, ...rest }, hook, timestamp).event;
}

/** A `.github/hooks` file with one command before each tool call. */
export function guard(bash: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(
    { version: 1, hooks: { preToolUse: [{ type: "command", bash, timeoutSec: 20, ...more }] } },
    null,
    2,
  );
}

/** Whether this machine can cage. */
export async function canCage(t: TestContext): Promise<boolean> {
  const runtime = await detectRuntime();
  const home = await scratchDir(t);
  const can = async (): Promise<boolean> => (await probeCage(runtime, home)).error === null;
  return await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor");
}
