/**
 * The job whose turn it is, found among the files of a folder. The name of a marker ends with the lane of its job, so
 * that markers of other lanes need not be read.
 *
 * @module
 */
import { boundOf, laneOf } from "./fair_turns.ts";
import type { TurnPlace } from "./job_table.ts";

/** The files of the queue, as far as a turn needs them. */
export interface MarkerFiles {
  /** Names of the markers, the oldest first. */
  markers(): Promise<string[]>;
  /** The scope of a marker whose name has none: an earlier version wrote it. Null when the marker is gone. */
  scopeIn(marker: string): Promise<{ readonly scopeId?: string } | null>;
  /** The scope of each job that runs. */
  running(): Promise<readonly { readonly scopeId?: string }[]>;
}

/** Returns the name of a marker: it sorts by the time of its job, then by its number. */
export function markerName(createdMs: number, count: number, id: string, scopeId?: string): string {
  const numbers = `${String(createdMs).padStart(15, "0")}-${String(count).padStart(9, "0")}`;
  return `${numbers}-${id}${laneOf(scopeId)}.json`;
}

/** Goes through the markers in the order of their turns until `pick` returns something. */
export async function firstInTurn<T>(
  files: MarkerFiles,
  { turns, scopes }: TurnPlace,
  pick: (marker: string) => Promise<T | null>,
): Promise<T | null> {
  const lanes = await lanesOf(files);
  if (lanes.size === 0) return null;
  const counts = new Map<string, number>();
  for (const { scopeId } of scopes ? await files.running() : []) {
    counts.set(laneOf(scopeId), (counts.get(laneOf(scopeId)) ?? 0) + 1);
  }
  const names = [...lanes.keys()].sort();
  for (const lane of turns.order((after) => names.find((name) => name > after) ?? null)) {
    if ((counts.get(lane) ?? 0) >= boundOf(lane, scopes)) continue;
    for (const marker of lanes.get(lane) ?? []) {
      const picked = await pick(marker);
      if (picked === null) continue;
      turns.served(lane, scopes);
      return picked;
    }
  }
  return null;
}

async function lanesOf(files: MarkerFiles): Promise<Map<string, string[]>> {
  const lanes = new Map<string, string[]>();
  for (const marker of await files.markers()) {
    // No id holds an @, so the first one begins the lane.
    let lane = /@.*(?=\.json$)/.exec(marker)?.[0];
    if (lane === undefined) {
      const owner = await files.scopeIn(marker);
      if (owner === null) continue;
      lane = laneOf(owner.scopeId);
    }
    const markers = lanes.get(lane);
    if (markers) markers.push(marker);
    else lanes.set(lane, [marker]);
  }
  return lanes;
}
