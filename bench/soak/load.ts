/**
 * The load of a long run: every plugin is called, keeps rows and hears hooks; now and then one crashes or is reloaded.
 *
 * @module
 */
import type { Host } from "../../mod.ts";
import type { Ground } from "./ground.ts";

/** What was done so far. */
export interface Counts {
  calls: number;
  rows: number;
  hooks: number;
  crashes: number;
  reloads: number;
  /** Starts of plugins that rested, by a call, and their returns to rest. */
  wakes: number;
  rests: number;
  /** Calls that failed because their plugin had been made to crash. */
  cut: number;
  /** Anything else that failed: there should be none. */
  lost: number;
}

/** A load that can be held for a while. */
export interface Load {
  readonly counts: Counts;
  /** What failed and should not have, in words. */
  readonly failures: readonly string[];
  /** Lets nothing new begin; resolves when nothing is under way and every plugin runs, or rests if it may. */
  hold(): Promise<void>;
  /** Goes on. */
  release(): void;
  /** Ends it. */
  stop(): Promise<void>;
}

const CALLS_AT_ONCE = 16;
const PAUSE_MS = 40;
/** Longer than those that start on demand wait before they rest. */
const AWAY_MS = 4_000;
const TALK_MS = 3_000;
const CRASH_MS = 7_000;
const RELOAD_MS = 2_500;
/** How soon the end of a hold or of the run is seen. */
const STEP_MS = 100;
/** Exit code of a plugin that was told to die. */
const DIES_WITH = 7;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts the load on a host that runs. */
export function startLoad(host: Host, { names, resting }: Pick<Ground, "names" | "resting">): Load {
  const counts: Counts = { calls: 0, rows: 0, hooks: 0, crashes: 0, reloads: 0, wakes: 0, rests: 0, cut: 0, lost: 0 };
  const failures: string[] = [];
  /** Plugins that were told to die and are not back yet. */
  const dying = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let state: "running" | "held" | "stopped" = "running";
  const restful = new Set(resting);
  host.onAudit(({ type, name }) => {
    if (type === "plugin.initialized") dying.delete(name);
    if (type === "plugin.woken") counts.wakes++;
    if (type === "plugin.resting") counts.rests++;
  });
  const any = (): string => names[Math.floor(Math.random() * names.length)]!;

  function failed(name: string, error: unknown): void {
    const { code, message, data } = error as { code?: string; message?: string; data?: { exit_code?: number } };
    // Around a reload it may be the process before that was told to die, with a call under way.
    const isTold = dying.has(name) || data?.exit_code === DIES_WITH;
    if (code === "plugin.unavailable" && isTold) return void counts.cut++;
    counts.lost++;
    if (failures.length < 20) failures.push(`${name}: ${code ?? ""} ${message}`);
  }

  async function call(name: string, method: string, params: Record<string, unknown>): Promise<void> {
    const wasDying = dying.has(name);
    try {
      await host.callMethod(name, method, params);
      counts.calls++;
    } catch (error) {
      if (wasDying && (error as { code?: string }).code === "plugin.unavailable") counts.cut++;
      else failed(name, error);
    }
  }

  async function work(name: string): Promise<void> {
    const text = `${name} `.repeat(20);
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => call(name, "soak.echo", { text })));
    await call(name, "soak.keep", { rows: [text, text, text] });
    counts.rows += 3;
  }

  async function talk(): Promise<void> {
    const session = host.openSession();
    await session.start("You are in a long run.");
    await session.close();
    counts.hooks += names.length;
  }

  async function crash(): Promise<void> {
    const name = any();
    if (host.plugins().find(({ plugin }) => plugin === name)?.state !== "running") return;
    dying.add(name);
    counts.crashes++;
    await host.callMethod(name, "soak.die").catch(() => {});
  }

  async function reload(): Promise<void> {
    const name = any();
    await host.reload(name).then(() => counts.reloads++, (error) => {
      if (!dying.has(name)) failed(name, error);
    });
  }

  const isStopped = (): boolean => state === "stopped";

  /** Does `run` again and again, with a pause between, while the load is not held. */
  async function loop(run: () => Promise<void>, pauseMs: number): Promise<void> {
    while (!isStopped()) {
      for (let leftMs = pauseMs; leftMs > 0 && !isStopped(); leftMs -= STEP_MS) await pause(Math.min(leftMs, STEP_MS));
      while (state === "held") await pause(STEP_MS / 5);
      if (isStopped()) return;
      const turn = run();
      underWay.add(turn);
      await turn.finally(() => underWay.delete(turn));
    }
  }

  const loops = [
    ...names.map((name) => loop(() => work(name), restful.has(name) ? AWAY_MS : PAUSE_MS)),
    loop(talk, TALK_MS),
    loop(crash, CRASH_MS),
    loop(reload, RELOAD_MS),
  ];
  return {
    counts,
    failures,
    async hold() {
      state = "held";
      await Promise.all(underWay);
      for (const { plugin, state: at } of host.plugins()) if (at === "failed") await host.enable(plugin);
      // Those that start on demand rest again: each look finds the same processes.
      const isCalm = ({ plugin, state: at }: ReturnType<Host["plugins"]>[number]): boolean =>
        at === (restful.has(plugin) ? "resting" : "running");
      while (!host.plugins().every(isCalm)) await pause(50);
    },
    release: () => void (state = "running"),
    async stop() {
      state = "stopped";
      await Promise.all(loops);
    },
  };
}
