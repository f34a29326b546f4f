/**
 * The limits of a cage, and the tier that enforces them.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Instance } from "../../src/http/answers.ts";
import { counted } from "../model/words.ts";

const KEEPERS: Readonly<Record<string, string>> = {
  cgroup2: "cgroup v2",
  cgroup1: "cgroup v1",
};

/** Keeps a number and its unit on one line. */
const NO_BREAK = "\u00a0";

/** The tier and the limits of an instance's cage. */
export function Limits({ of: { cage } }: { of: Pick<Instance, "cage"> }): JSX.Element {
  if (!cage) return <span class="quiet">no process</span>;
  const { tier, memory_mb: memory, pids, cpu_shares: shares } = cage.limits;
  const parts = [`${memory} MB`, counted(pids, "process", "processes"), `${shares} CPU shares`];
  return (
    <span class="limits">
      <span>{KEEPERS[tier] ?? tier}</span>
      <span class="quiet">{parts.map((part) => part.replaceAll(" ", NO_BREAK)).join(" · ")}</span>
    </span>
  );
}
