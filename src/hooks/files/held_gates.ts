/**
 * Gates of trusted hook files that are no longer as they were trusted. A gate that says `onFailure: "block"` protects a
 * step: if deleting its script switched it off, whoever it protects against would only have to delete the script. So it
 * blocks until the operator has looked, and nothing else of its file runs.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { HookSettings } from "../../core/project/hook_settings.ts";
import type { HookRegistration } from "../engine/types.ts";
import { turnEndIn } from "./dialects/all.ts";
import { isInTheCloud } from "./event_names.ts";
import type { HookFiles } from "./load_hook_files.ts";
import { eventFilter } from "./matcher.ts";
import { parseHookFile } from "./parse_hook_file.ts";
import { shellWord } from "./shell_words.ts";
import type { TrustRecord, TrustStore } from "./trust_store.ts";
import { gatesIn, type HookGate } from "./types.ts";

/** A trusted hook file whose gates block, because it is not as it was trusted. */
export interface HeldHookFile {
  /** The file below the repository's folder, or below `~`. */
  readonly name: string;
  /** Absolute path of the file. */
  readonly file: string;
  /** `changed`: it, or a script it names, is another now; `broken`: it cannot be used; `gone`: it is not found. */
  readonly why: "changed" | "broken" | "gone";
  /** Its gates as they were trusted, without those that the operator switched off. */
  readonly gates: readonly HookGate[];
}

/** Returns the trusted files of `found.dir` whose gates block now; `intact` has the names of those that may run. */
export async function heldHookFiles(
  store: TrustStore,
  { found, intact, settings, userHome = null }: {
    readonly found: Pick<HookFiles, "dir" | "files" | "errors">;
    readonly intact: ReadonlySet<string>;
    readonly settings: HookSettings;
    readonly userHome?: string | null;
  },
): Promise<HeldHookFile[]> {
  const { dir, files, errors } = found;
  const under = (root: string): [string, TrustRecord][] =>
    Object.entries(Object.hasOwn(store, root) ? store[root]! : {});
  const own = userHome === null || userHome === dir ? [] : under(userHome).filter(([name]) => name.startsWith("~/"));
  const plugins = [...new Set([...settings.plugins, ...files.map(({ root }) => root)])].filter((root) => root !== dir);
  const ofPlugins = plugins.flatMap(under).filter(([name]) => name.startsWith("/"));
  const trusted = [...under(dir), ...own, ...ofPlugins];
  const held = await Promise.all(
    trusted.filter(([name]) => !intact.has(name)).map(async ([name, record]) => {
      const file = name.startsWith("~/")
        ? `${userHome}${name.slice(1)}`
        : name.startsWith("/")
        ? name
        : `${dir}/${name}`;
      const isBroken = errors.some((issue) => issue.file === file);
      const why = files.some((found) => found.name === name) ? "changed" : isBroken ? "broken" : "gone";
      const gates = (await gatesOf(record, name, file)).filter((gate) => isWanted(gate, name, settings));
      return { name, file, why, gates } as const;
    }),
  );
  return held.filter(({ gates }) => gates.length > 0);
}

/** Returns registrations that block where the gates of `held` would have been asked. */
export async function heldRegistrations(held: readonly HeldHookFile[], dir: string): Promise<HookRegistration[]> {
  const wants = await eventFilter(held.flatMap(({ gates }) => gates), { dir });
  return held.flatMap((file) =>
    file.gates.map((gate): HookRegistration => ({
      hook: gate.hook,
      ...turnEndIn(gate),
      handler: () => Promise.reject(heldError(file, gate, dir)),
      onFailure: "block",
      ...(gate.priority !== undefined && { priority: gate.priority }),
      matches: (event) => wants(gate, event),
      source: { kind: "file", id: gate.id, file: file.file, line: gate.line },
    }))
  );
}

const WORDS: Readonly<Record<HeldHookFile["why"], string>> = {
  changed: "it, or a script it runs, changed since it was trusted",
  broken: "it was trusted and cannot be used any more",
  gone: "it was trusted and is gone",
};

/** Returns why a file's gates block, and the commands to look at the change and to end them. */
export function heldText({ name, why }: HeldHookFile, dir: string): { readonly reason: string; readonly hint: string } {
  const end = `to end its gates: kaged hooks untrust ${shellWord(name)} --dir ${shellWord(dir)}`;
  return { reason: `${name}: ${WORDS[why]}, so its gates block`, hint: `${lookText(dir)}; ${end}` };
}

function lookText(dir: string): string {
  return `Look at the change: kaged hooks trust --dir ${shellWord(dir)}`;
}

function heldError(file: HeldHookFile, { id, line }: HookGate, dir: string): HostError {
  const { reason, hint } = heldText(file, dir);
  const data = { id, file: file.file, line, why: file.why };
  // The message is the reason of the block, which models read too: it names the way to look, not the way to end a gate.
  return new HostError("hook.changed", `${reason}. ${lookText(dir)}`, { data, hint });
}

async function gatesOf({ gates, files: [own] }: TrustRecord, name: string, file: string): Promise<readonly HookGate[]> {
  if (gates) return gates;
  // An earlier version trusted it and kept no gates: they are in the file's text as it was.
  const parsed = own?.text === undefined ? null : await parseHookFile(own.text, { file, name });
  return gatesIn(parsed?.hooks ?? []);
}

/** The operator's own settings may leave a gate out, as they do while its file is intact. */
function isWanted({ id, hook, dialect }: HookGate, name: string, settings: HookSettings): boolean {
  const { disable, agent_hooks, surface } = settings;
  if (disable.includes(name) || disable.includes(id)) return false;
  return (dialect !== "agent" || agent_hooks) && (surface !== "cloud" || isInTheCloud(hook));
}
