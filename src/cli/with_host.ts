/**
 * A host for one command: made from its flags, started, and stopped again.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Host } from "../host/types.ts";
import { interruptible, unlessAborted } from "./interrupt.ts";
import { addProjectOptions, type ProjectFlags, projectPlaces } from "./project_options.ts";
import { readText } from "./read_text.ts";
import { printable, type Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface HostFlags extends ProjectFlags {
  /** `--project`. */
  readonly project: string;
  /** `--agent`. */
  readonly agent: string;
  /** `--quiet`. */
  readonly quiet?: boolean;
}

/** Adds `--project`, `--agent`, `--quiet` and what every command about a project takes. */
export function addHostOptions(command: Command): Command {
  return addProjectOptions(addAgentOptions(command));
}

/** Adds `--project`, `--agent` and `--quiet`. */
export function addAgentOptions(command: Command): Command {
  return command
    .requiredOption("--project <dir>", "folder that holds project.yaml")
    .option("--agent <path>", "agent, such as primary.subagents.researcher", "primary")
    .option("-q, --quiet", "do not show what plugins log");
}

/**
 * Runs `work` with a started host and an open session. Plugins that do not start are told of on standard error: the
 * others go on without them.
 */
export async function withHost<T>(
  flags: HostFlags,
  terminal: Terminal,
  work: (host: Host, session: string) => Promise<T>,
): Promise<T> {
  const { createHost } = await import("../create_host.ts");
  const runtime = await terminal.runtime();
  const { line, paint } = terminal.err;
  return await interruptible(async (signal) => {
    await using host = await createHost({
      runtime,
      project: resolve(terminal.cwd, flags.project),
      ...projectPlaces(flags, terminal, runtime),
      control: false, // It lives as long as this command.
      onLog: (log) => {
        if (!flags.quiet) line(paint.dim(printable(`${log.plugin}: ${log.line}`)));
      },
    });
    // Before anything starts: an agent that is not there needs no plugins.
    host.plugins(flags.agent);
    const { failed, pending } = await unlessAborted(host.start(), signal);
    for (const { instance, error } of failed) {
      line(`${paint.yellow("warning")}: ${instance} does not run: ${printable(error.message)}`);
    }
    for (const { package: pkg } of pending) line(`${paint.yellow("warning")}: ${printable(pkg)} is not installed`);
    return await unlessAborted(work(host, host.openSession().id), signal);
  });
}

/** Reads a JSON file; `-` is standard input. */
export async function readJson(path: string, terminal: Terminal): Promise<unknown> {
  const text = path === "-" ? await terminal.readInput() : await readText(resolve(terminal.cwd, path));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HostError("host.misuse", `"${path}" is not JSON: ${messageOf(error)}`, { hint: "Correct the file" });
  }
}
