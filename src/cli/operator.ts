/**
 * What every command of the operator's takes and works with: the home, the store, the audit of what was done.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { homeFolder } from "../core/files/home.ts";
import type { InstallPorts } from "../packages/install/install_ports.ts";
import type { LocalConfig } from "../core/project/local_config.ts";
import { interruptible } from "./interrupt.ts";
import { sweepConsolePages } from "./open_console.ts";
import type { Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface OperatorFlags {
  /** `--home`. */
  readonly home?: string;
  /** `--json`. */
  readonly json?: boolean;
}

/** Adds `--home` and `--json` to a command. */
export function addOperatorOptions(command: Command): Command {
  return command
    .option("--home <dir>", "operator's folder (default: $KAGED_HOME, else ~/.local/share/kaged)")
    .option("--json", "print JSON");
}

/** Reads the value of `--max-size`. */
export function parseMegabytes(text: string): number {
  const megabytes = Number(text);
  if (!Number.isSafeInteger(megabytes) || megabytes <= 0) throw new InvalidArgumentError("It takes a number of MB");
  return megabytes;
}

/** What a command works with. */
export interface Operator extends InstallPorts {
  /** Ends when the command is asked to. */
  readonly signal: AbortSignal;
  /** What is installed now, after what a crash left was put in order. */
  local(): Promise<LocalConfig>;
}

/** Runs `work` on the operator's folder. What it does is told in `audit/_operator.jsonl`. */
export async function withOperator<T>(
  flags: OperatorFlags & { readonly maxSize?: number },
  terminal: Terminal,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const [{ createAudit }, { jsonlFile }, { settleStore }, { TREE_LIMITS }, { readLocalConfig }] = await Promise.all([
    import("../core/audit/audit.ts"),
    import("../core/audit/jsonl_file.ts"),
    import("../packages/install/install_ports.ts"),
    import("../core/files/tree.ts"),
    import("../core/project/local_config.ts"),
  ]);
  const runtime = await terminal.runtime();
  const { files, clock } = runtime;
  const given = homeFolder(flags.home === undefined ? undefined : resolve(terminal.cwd, flags.home), runtime.env);
  const home = await files.realPath(given).catch(() => given); // Only a command that writes makes it.
  await sweepConsolePages(home, runtime);
  const auditFiles = {
    ...files,
    async append(path: string, text: string): Promise<void> {
      await files.makeDir(`${home}/audit`, { recursive: true, mode: 0o700 });
      await files.append(path, text);
    },
  };
  // No project has an id that starts with an underscore: the file is nobody else's.
  const path = `${home}/audit/_operator.jsonl`;
  const audit = createAudit({ clock, sinks: [jsonlFile({ path, files: auditFiles, clock })] });
  const limits = flags.maxSize === undefined ? {} : { limits: { ...TREE_LIMITS, maxBytes: flags.maxSize * 1024 ** 2 } };
  try {
    return await interruptible((signal) => {
      const operator: Operator = {
        runtime,
        home,
        audit,
        signal,
        ...limits,
        async local() {
          await settleStore(operator);
          return await readLocalConfig(home, files);
        },
      };
      return work(operator);
    });
  } finally {
    await audit.flush();
  }
}
