/**
 * A command hook beside its parts: the same shell command in a cage through the engine, trusted and looked at before
 * it runs, and started plainly with the user's full rights.
 *
 * @module
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectRuntime } from "../../src/adapters/default.ts";
import { probeCage } from "../../src/core/cage/probe_cage.ts";
import { openHookFiles } from "../../src/hooks/open_hook_files.ts";
import { trustHookFile } from "../../src/hooks/files/trust_store.ts";
import { createHookEngine } from "../../src/hooks/engine/engine.ts";
import type { Runtime } from "../../src/core/ports/ports.ts";

const SCRIPT = "cat > /dev/null";
const EVENT = { hook: "PreToolUse", sessionId: "ses_1", agent: "primary", tool: { name: "Bash" }, input: {} };

/** Measures one run in milliseconds, the median of `rounds` each; nothing where this machine cannot cage. */
export async function measureCommand(rounds: number): Promise<Record<string, Record<string, number>>> {
  const runtime = await detectRuntime();
  const dir = await mkdtemp(join(tmpdir(), "kaged-bench-"));
  const [repo, home] = [join(dir, "repo"), join(dir, "home")];
  try {
    await mkdir(join(repo, ".github/hooks"), { recursive: true });
    await mkdir(home);
    if ((await probeCage(runtime, home)).error !== null) return {};
    const hooks = { preToolUse: [{ type: "command", bash: SCRIPT }] };
    await writeFile(join(repo, ".github/hooks/bench.json"), JSON.stringify({ version: 1, hooks }));
    const places = { runtime, dir: repo, home, userHome: null };
    for (const { evidence } of (await openHookFiles(places)).judged) {
      await trustHookFile({ home, dir: await runtime.files.realPath(repo), evidence }, runtime);
    }
    const opened = await openHookFiles(places);
    const engine = createHookEngine({ clock: runtime.clock });
    engine.add(opened.registrations);
    const ways = {
      ours: async () => {
        const { trace } = await engine.fire(EVENT);
        if (trace[0]?.outcome !== "quiet") throw new Error(`The hook did not run: ${trace[0]?.reason}`);
      },
      "plain spawn": () => plainSpawn(runtime, repo),
    };
    return { "command hook, caged": await medians(ways, rounds) };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function plainSpawn({ processes }: Runtime, cwd: string): Promise<void> {
  const command = { file: "/bin/bash", args: ["-c", SCRIPT], env: {}, cwd };
  const child = await processes.spawn(command, { stdout: () => {}, stdoutEnd: () => {}, stderr: () => {} });
  child.write(JSON.stringify(EVENT));
  child.endInput();
  await Promise.all([child.exited, child.closed]);
}

async function medians(ways: Record<string, () => Promise<void>>, rounds: number): Promise<Record<string, number>> {
  const took: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const startMs = performance.now();
      await run();
      if (round > 0) (took[name] ??= []).push(performance.now() - startMs);
    }
  }
  return Object.fromEntries(
    Object.entries(took).map(([name, times]) => [name, times.toSorted((a, b) => a - b)[times.length >> 1]!]),
  );
}
