/**
 * Options of `kaged mcp add` and `kaged mcp upgrade`.
 *
 * @module
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseCapability } from "../core/manifest/capability.ts";
import { maxFilesOption, maxSizeOption } from "./commands/plugin_install.ts";
import { addGrantOptions, type GrantFlags } from "./grants.ts";
import { collected, collectedPairs } from "./options.ts";

/** Values of the options that both commands take. */
export interface ServerFlags extends GrantFlags {
  readonly bin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variable → `-` for standard input, or a file. */
  readonly secret?: Readonly<Record<string, string>>;
  /** Variable → hosts that its secret may go to. */
  readonly host?: readonly NamedHost[];
  readonly expose?: readonly string[];
  readonly write?: readonly string[];
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** Values of the options of `kaged mcp add`. */
export interface AddFlags extends ServerFlags {
  readonly name?: string;
  readonly from?: string;
  readonly only?: readonly string[];
  readonly keepSecrets?: boolean;
  readonly project?: string;
  readonly agent?: string;
}

/** A host that the secret of a variable may go to. */
export interface NamedHost {
  readonly variable: string;
  readonly host: string;
}

/** Adds the options that both commands take. */
export function addServerOptions(command: Command): Command {
  return addGrantOptions(command)
    .option("--bin <program>", "program of the package to start, where it has several")
    .addOption(
      new Option("--env <name=value>", "set a variable of the server; may be repeated")
        .argParser(collectedPairs("NAME=value", /^([A-Za-z_][A-Za-z0-9_.]*)=(.*)$/s)),
    )
    .addOption(
      new Option("--secret <name=->", "read a secret from standard input (-) or from a file; may be repeated")
        .argParser(collectedPairs("NAME=- or NAME=file")),
    )
    .addOption(
      new Option("--host <name=host:port>", "host that a secret may go to; may be repeated").argParser(
        collected(hostOf),
      ),
    )
    .option("--expose <name>", "let the server see a secret itself; may be repeated", collected(String))
    .option("--write <path>", "let the server change a folder or a file; may be repeated", collected(String))
    .addOption(maxSizeOption())
    .addOption(maxFilesOption())
    .option("--yes", "grant what is shown and ask nothing")
    .option("--dry-run", "print everything that would be written, and write nothing");
}

function hostOf(text: string): NamedHost {
  const [, variable, host] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const result = parseCapability(`net:${host}`);
  const isHost = result.ok && result.capability.kind === "net" && result.capability.scope === "host" &&
    result.capability.port !== "*";
  if (variable === undefined || !isHost) throw new InvalidArgumentError("It takes NAME=host:port");
  return { variable, host: host! };
}
