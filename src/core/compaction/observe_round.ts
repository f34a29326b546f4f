/**
 * Asks those who look on at a compaction. Whatever the port does, each plugin is asked, and once.
 *
 * @module
 */
import { dispatchCollect } from "../../hooks/dispatch/dispatch.ts";
import type { CompactionPlugin, CompactionPorts, ObserverQuestion, ObserverRound } from "./types.ts";

/** Asks through `observe`; without it, or when it fails, asks the plugins one after the other. Never rejects. */
export async function observeRound(
  question: ObserverQuestion,
  observe: CompactionPorts["observe"],
  onError: (error: unknown) => void,
): Promise<ObserverRound> {
  const asked = new Set<CompactionPlugin>();
  const ask = async (plugin: CompactionPlugin): Promise<string | null> => {
    if (asked.has(plugin)) return null;
    asked.add(plugin);
    return await question.ask(plugin);
  };
  try {
    if (observe) return await observe({ ...question, ask });
  } catch (error) {
    onError(error);
  }
  const participants = question.observers.map((plugin) => ({ name: plugin.key, call: () => ask(plugin) }));
  const contract = { name: question.hook, dispatch: "broadcast_collect" } as const;
  const { answers } = await dispatchCollect(contract, participants, null, { bestEffort: true });
  return { texts: answers.flatMap(({ value }) => value ?? []), blocked: null };
}
