/**
 * Which programs run in a cage, found by looking again and again: one that ends between two looks is missed.
 *
 * @module
 */
import type { Files, Runtime } from "../../core/ports/ports.ts";

const LOOK_EVERY_MS = 20;

/** A look-out over the processes below one. */
export interface ProgramWatch {
  /** Programs seen so far, as the cage names them. */
  readonly seen: ReadonlySet<string>;
  /** Looks no more. */
  stop(): void;
}

/** Watches every process below `pid`. */
export function watchPrograms(pid: number, { files, clock }: Pick<Runtime, "files" | "clock">): ProgramWatch {
  const seen = new Set<string>();
  let cancel = (): void => {};
  let stopped = false;
  const look = async (): Promise<void> => {
    for (const child of await descendants(pid, files)) {
      const program = await files.readLink(`/proc/${child}/exe`).catch(() => null);
      if (program !== null) seen.add(program);
    }
    if (!stopped) cancel = clock.after(LOOK_EVERY_MS, () => void look());
  };
  void look();
  return {
    seen,
    stop(): void {
      stopped = true;
      cancel();
    },
  };
}

async function descendants(pid: number, files: Files): Promise<number[]> {
  const text = await files.readText(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  const children = text.split(" ").filter((word) => word !== "").map(Number);
  const below = await Promise.all(children.map((child) => descendants(child, files)));
  return [...children, ...below.flat()];
}
