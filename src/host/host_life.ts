/**
 * Start and end of a host. One start runs at a time, and a stop also ends the start that is under way: whatever it has
 * brought up by then goes down again before the stop resolves.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { unlessAborted } from "../core/values/unless_aborted.ts";
import { hostHookFiles } from "./host_hook_files.ts";
import type { ControlSocket, HostRooms } from "./host_rooms.ts";
import { startPlugins } from "./start_plugins.ts";
import type { Host } from "./types.ts";

/** A start that has not settled yet. */
interface StartUnderWay {
  readonly report: ReturnType<Host["start"]>;
  /** Aborted by the next stop. */
  readonly controller: AbortController;
}

/** Returns the start and the stop of the host that is made of `rooms`. */
export function hostLife(rooms: HostRooms, host: () => Host): Pick<Host, "start" | "stop"> {
  const { options, supervisor, storage, logs, recorder, sessions, jobs, store, secretWatch, audit, failedReloads } =
    rooms;
  const hookFiles = hostHookFiles(rooms, host);
  let isLoaded = false;
  let control: Promise<ControlSocket | null> | null = null;
  let starting: StartUnderWay | null = null;
  let stopping: Promise<void> | null = null;

  /** Resolves with null where the socket cannot be opened: a host that no command reaches still does its work. */
  function openControl(): Promise<ControlSocket | null> {
    return control ??= Promise.resolve(options.openControl?.(host()) ?? null).catch((error) => {
      rooms.warn(`Commands cannot reach this host: ${messageOf(error)}`);
      return control = null; // The next start tries again.
    });
  }

  async function closeControl(): Promise<void> {
    const open = control;
    control = null;
    await (await open)?.close();
  }

  async function begin(before: StartUnderWay | null, signal: AbortSignal): ReturnType<Host["start"]> {
    await before?.report.catch(() => {}); // Its caller has the error.
    // A stop that has aborted this start waits for it, so this start must not wait for that stop.
    while (stopping && !signal.aborted) await stopping;
    signal.throwIfAborted();
    sessions.resume();
    rooms.desk.resume();
    await unlessAborted(rooms.ruleWatch.begin(), signal); // First: the rules may have changed while the host was down.
    await hookFiles.open(signal); // Before any tool can be called: a policy that cannot be read must not be skipped.
    const isFirst = !isLoaded;
    isLoaded = true;
    const [started, asked] = await Promise.allSettled([
      startPlugins({ loaded: store.loaded, supervisor, pins: rooms.pins, failedReloads, audit, isFirst, signal }),
      unlessAborted(store.ask(), signal),
      openControl(),
    ]);
    signal.throwIfAborted();
    if (started.status === "rejected") throw started.reason;
    if (asked.status === "rejected") throw asked.reason;
    secretWatch.begin();
    await unlessAborted(jobs.start(), signal); // Last: jobs that were queued before need the plugins.
    return { ...started.value, pending: asked.value };
  }

  async function end(underWay: StartUnderWay | null): Promise<void> {
    await rooms.desk.close(); // While its store is open.
    await jobs.stop(); // First: runs under way need the plugins.
    sessions.suspend();
    const closing = closeControl();
    await Promise.all([supervisor.stopAll(), underWay?.report.catch(() => {})]);
    if (underWay) await jobs.stop(); // That start may have been about to take jobs.
    await store.close();
    await Promise.all([secretWatch.close(), rooms.ruleWatch.close(), hookFiles.close()]);
    await supervisor.stopAll(); // A change that was under way may have started more.
    await rooms.pins.settled();
    await recorder?.flush();
    await storage.close();
    await logs.close();
    await Promise.all([closing, closeControl()]);
  }

  return {
    start() {
      if (starting && !starting.controller.signal.aborted) return starting.report;
      const controller = new AbortController();
      const report = begin(starting, controller.signal).finally(() => {
        if (starting === own) starting = null;
      });
      const own = starting = { report, controller };
      return report;
    },
    stop() {
      starting?.controller.abort(stopped());
      return stopping ??= end(starting).finally(() => stopping = null);
    },
  };
}

function stopped(): HostError {
  return new HostError("host.stopped", "The host was stopped before its start was over", {
    hint: "Start it again when it is wanted",
  });
}
