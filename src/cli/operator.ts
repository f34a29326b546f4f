/**
 * The ground of every command that looks after installed plugins: the home, its packages, the audit of what was done.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import type { LocalConfig } from "../core/project/local_config.ts";
import type { Storage } from "../core/storage/storage.ts";
import type { Command } from "commander";
import type { InstallPorts } from "../packages/install/install_ports.ts";
import { interruptible } from "./interrupt.ts";
import { sweepConsolePages } from "./open_console.ts";
import { addHomeOptions, type HomeFlags, placesOf } from "./options.ts";
import { type Questions, questions } from "./questions.ts";
import type { Terminal } from "./terminal.ts";

/** Ports and places of such a command, and the person at its terminal. */
export interface Operator extends InstallPorts {
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  /** Whether a program reads the output. Then {@link ask} asks nobody. */
  readonly json: boolean;
  readonly ask: Questions;
  /** Returns the records of installed plugins, after finishing a change that a crash interrupted. */
  local(): Promise<LocalConfig>;
}

/** Adds `--home` and `--json`, and an action: `work` gets the operator, the command's arguments and its flags. */
export function operate<Given extends unknown[]>(
  command: Command,
  terminal: Terminal,
  work: (operator: Operator, ...given: Given) => Promise<void>,
): void {
  addHomeOptions(command).action((...given) =>
    withOperator(command.opts(), terminal, (operator) => work(operator, ...given as Given))
  );
}

/** Like {@link operate}, for a check: `exit` gets 1 where `work` returns false. */
export function operateCheck<Given extends unknown[]>(
  command: Command,
  { terminal, exit }: { readonly terminal: Terminal; exit(code: number): void },
  work: (operator: Operator, ...given: Given) => Promise<boolean>,
): void {
  operate(command, terminal, async (operator, ...given: Given) => {
    if (!await work(operator, ...given)) exit(1);
  });
}

/** Runs `work` on the operator's folder. Its changes are recorded in `audit/_operator.jsonl`. */
async function withOperator(
  flags: HomeFlags & { readonly maxSize?: number; readonly maxFiles?: number },
  terminal: Terminal,
  work: (operator: Operator) => Promise<void>,
): Promise<void> {
  const [
    { createAudit },
    { openTrails },
    { OPERATOR_TRAIL },
    { settlePackages },
    { TREE_LIMITS },
    { readLocalConfig },
    { readOperatorConfig },
  ] = await Promise.all([
    import("../core/audit/audit.ts"),
    import("../core/audit/open_trails.ts"),
    import("../core/audit/trail_files.ts"),
    import("../packages/install/install_ports.ts"),
    import("../core/files/tree.ts"),
    import("../core/project/local_config.ts"),
    import("../core/project/operator_config.ts"),
  ]);
  const { runtime, home } = await placesOf(flags, terminal);
  const { files, clock } = runtime;
  const { json = false } = flags;
  await sweepConsolePages(home, runtime);
  // While config.toml cannot be read, nobody knows how long to keep the trail: then nothing of it is deleted.
  const kept = { retention_days: Infinity, min_free_mb: 0 };
  const retention = await readOperatorConfig(home, files).then(({ audit }) => audit, () => kept);
  const sinks = [openTrails({ home, project: OPERATOR_TRAIL, runtime, ...retention })];
  const audit = createAudit({ clock, sinks });
  const { maxSize, maxFiles: maxEntries = TREE_LIMITS.maxEntries } = flags;
  const limits = { maxBytes: maxSize === undefined ? TREE_LIMITS.maxBytes : maxSize * 1024 ** 2, maxEntries };
  try {
    await interruptible((signal) => {
      const operator: Operator = {
        runtime,
        home,
        audit,
        signal,
        terminal,
        json,
        ask: questions(terminal, { json, signal }),
        limits,
        async local() {
          await settlePackages(operator);
          return await readLocalConfig(home, files);
        },
      };
      return work(operator);
    });
  } finally {
    await audit.flush();
  }
}

/** Runs `work` on the storage of the home; returns null where no plugin ever stored anything, or none can. */
export async function withStorage<T>(
  { home, runtime }: Operator,
  work: (storage: Storage) => Promise<T>,
): Promise<T | null> {
  const { createStorage, isStorageAvailable } = await import("../core/storage/storage.ts");
  if (!isStorageAvailable(runtime) || await runtime.files.info(`${home}/kaged.db`) === null) return null;
  await using storage = createStorage({ runtime, home });
  return await work(storage);
}

/**
 * The error of a name that no record, no running host and no data of the home knows. A plugin of `--plugin` is known once
 * it has run.
 */
export function unknownPlugin(name: string, { records }: Pick<LocalConfig, "records">): HostError {
  const known = [...records.keys()];
  return new HostError("plugin.unknown", `No plugin "${name}" is known here`, {
    data: { plugin: name, installed: known },
    hint: didYouMean(name, known, known.length > 0 ? `Installed: ${known.join(", ")}` : "Run kaged plugin install"),
  });
}
