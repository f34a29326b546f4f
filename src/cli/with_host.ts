/**
 * A host for one command: made from its flags, started, and stopped again.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Host, HostOptions } from "../host/types.ts";
import { interruptible, unlessAborted } from "./interrupt.ts";
import { addProjectOptions, placesOf, pluginFolders, type ProjectFlags } from "./options.ts";
import { readText } from "./read_text.ts";
import type { Printer, Terminal } from "./terminal.ts";

export interface HostFlags extends ProjectFlags {
  readonly project: string;
  readonly agent: string;
  readonly quiet?: boolean;
  readonly hookspec?: readonly string[];
}

/** Adds `--project`, `--agent`, `--quiet` and the options of every command about a project. */
export function addHostOptions(command: Command): Command {
  return addProjectOptions(addAgentOptions(command));
}

/** Adds `--project`, `--agent` and `--quiet`. */
export function addAgentOptions(command: Command): Command {
  return command
    .requiredOption("--project <dir>", "folder that holds project.yaml")
    .option("--agent <path>", "agent, such as primary.subagents.researcher", "primary")
    .option("-q, --quiet", "do not show the plugins' logs");
}

/**
 * Runs `work` with a started host and an open session. A warning on standard error names each plugin that does not start;
 * the others run without it.
 */
export async function withHost<T>(
  flags: HostFlags,
  terminal: Terminal,
  work: (host: Host, session: string) => Promise<T>,
  own: Partial<HostOptions> = {},
): Promise<T> {
  return await interruptible(async (signal) => {
    // Other commands need not reach a host that ends with this one.
    await using host = await openHost(flags, terminal, { control: false, ...own });
    // Throws for an unknown agent, before any plugin is started.
    host.plugins(flags.agent);
    const { failed, pending } = await unlessAborted(host.start(), signal);
    warnOfMissing({ failed, pending }, terminal.err);
    return await unlessAborted(work(host, host.openSession().id), signal);
  });
}

/** Makes the host that the flags describe; it has started no plugin. Logs of its plugins go to standard error. */
export async function openHost(
  flags: Omit<HostFlags, "agent">,
  terminal: Terminal,
  own: Partial<HostOptions> = {},
): Promise<Host> {
  const { createHost } = await import("../create_host.ts");
  const { line, paint } = terminal.err;
  const host = await createHost({
    ...await placesOf(flags, terminal),
    project: resolve(terminal.cwd, flags.project),
    plugins: pluginFolders(flags, terminal),
    hookspecs: (flags.hookspec ?? []).map((dir) => resolve(terminal.cwd, dir)),
    onLog: (log) => {
      if (!flags.quiet) line(paint.dim(`${log.plugin}: ${log.line}`));
    },
    ...own,
  });
  terminal.hide((value) => host.view.hide(value));
  return host;
}

/** Returns how many plugins run, and how many start when they are called, in words. */
export function pluginsUp(
  { running, resting }: Pick<Awaited<ReturnType<Host["start"]>>, "running" | "resting">,
): string {
  const run = running.length === 1 ? "1 plugin runs" : `${running.length} plugins run`;
  return resting.length === 0
    ? run
    : `${run}, ${resting.length} ${resting.length === 1 ? "starts" : "start"} on demand`;
}

/** Prints a warning for each plugin that does not run. */
export function warnOfMissing(
  { failed, pending }: Pick<Awaited<ReturnType<Host["start"]>>, "failed" | "pending">,
  { warning }: Printer,
): void {
  for (const { instance, error } of failed) {
    if (error.code !== "plugin.not_installed") warning(`${instance} does not run: ${error.message}`);
  }
  for (const { package: pkg, version } of pending) {
    // Another version may be installed: the range is what is missing.
    warning(version === null ? `${pkg} is not installed` : `${pkg} is not installed in a version that fits ${version}`);
  }
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
