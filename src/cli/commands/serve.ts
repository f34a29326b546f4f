/**
 * `kaged serve`: runs a project's plugins and serves the HTTP API and the console.
 *
 * @module
 */
import process from "node:process";
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Host } from "../../host/types.ts";
import { watchPlugins, type WatchReport } from "../../host/watch_plugins.ts";
import type { ServedHost } from "../../http/serve_host.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { interruptible, unlessAborted, untilAborted } from "../interrupt.ts";
import { openConsole, sweepConsolePages } from "../open_console.ts";
import { addProjectOptions, pluginFolders, wholeNumber } from "../options.ts";
import { manifestLines } from "../print_error.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { addTrustedHooks } from "../hook_places.ts";
import { type HostFlags, openHost, pluginsUp, warnOfMissing } from "../with_host.ts";

interface ServeFlags extends Omit<HostFlags, "agent"> {
  readonly port?: number;
  readonly host?: string;
  readonly open: boolean;
  readonly watch?: boolean;
}

export function addServe(parent: Command, terminal: Terminal): void {
  const command = parent.command("serve")
    .summary("run a project's plugins, with HTTP API and console")
    .description(
      "Runs the plugins of a project and serves the HTTP API and the console page; without --host only this machine can " +
        "reach them. Ctrl-C stops everything.",
    )
    .requiredOption("--project <dir>", "folder that holds project.yaml")
    .option(
      "--port <number>",
      "port to listen at, 0 for any that is free (default: [http] of config.toml, else 4717)",
      wholeNumber("a number from 0 to 65535", 0, 65_535),
    )
    .option("--host <address>", "address to listen at (default: [http] of config.toml, else 127.0.0.1)")
    .option("--no-open", "do not open the console in a browser")
    .option("-q, --quiet", "do not show the plugins' logs")
    .option("--watch", "reload a plugin of --plugin when its files change");
  addProjectOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((flags: ServeFlags) => serve(flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged serve --project .
  kaged serve --project . --port 0 --no-open
  kaged serve --project . --plugin @me/greeter=./greeter --watch
  curl -H "Authorization: Bearer $(cat ~/.local/share/kaged/token)" http://127.0.0.1:4717/api/v1/plugins
With --json it prints { "address", "token_file", "project", "running", "resting", "failed" } once it listens.`;

async function serve(flags: ServeFlags, terminal: Terminal): Promise<void> {
  const [{ serveHost }, { readOperatorConfig }] = await Promise.all([
    import("../../http/serve_host.ts"),
    import("../../core/project/operator_config.ts"),
  ]);
  const runtime = await terminal.runtime();
  const watched = flags.watch ? pluginFolders(flags, terminal) : {};
  if (flags.watch && Object.keys(watched).length === 0) {
    throw new HostError("host.misuse", "There is nothing to watch: --watch is about the folders of --plugin", {
      hint: "Add --plugin package=folder for the plugin you are at work on",
    });
  }
  await interruptible(async (signal) => {
    await using host = await openHost(flags, terminal);
    await using _hooks = await addTrustedHooks(host, runtime, terminal);
    await sweepConsolePages(host.view.home, runtime);
    const { http } = await readOperatorConfig(host.view.home, runtime.files);
    const hostname = flags.host ?? http.host;
    const port = flags.port ?? http.port;
    // Listen before plugins start: a taken address then fails at once, and the console sees every start.
    const served = await serveHost({
      host,
      runtime,
      ...(hostname !== undefined && { hostname }),
      ...(port !== undefined && { port }),
      ...(http.allowed_hosts && { allowedHosts: http.allowed_hosts }),
      ...(http.calls_per_second !== undefined && { callsPerSecond: http.calls_per_second }),
      ...(http.trust_user_header !== undefined && { trustUserHeader: http.trust_user_header }),
    });
    try {
      await run(host, served, { flags, terminal, runtime, signal, watched });
    } finally {
      await served.close();
    }
  });
}

async function run(
  host: Host,
  served: ServedHost,
  { flags, terminal, runtime, signal, watched }: {
    readonly flags: ServeFlags;
    readonly watched: Readonly<Record<string, string>>;
    readonly terminal: Terminal;
    readonly runtime: Runtime;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { out, err } = terminal;
  const { address, token } = served;
  const { home, project } = host.view;
  const isLoopback = /^http:\/\/(127\.|localhost|\[::1\])/.test(address);
  if (!isLoopback) err.warning(`other machines can reach ${address}; the token is sent in clear`);
  const printer = flags.json ? err : out;
  const onReport = (report: WatchReport): void => printWatch(report, printer);
  const watch = await watchPlugins({ host, plugins: watched, runtime, onReport });
  const started = await unlessAborted(host.start(), signal).catch((error) => {
    if (signal.aborted) return null; // The end of the host ends its start as well.
    throw error;
  });
  if (started === null) return;
  const { running, resting, failed, pending } = started;
  warnOfMissing({ failed, pending }, err);
  if (flags.json) {
    const down = failed.map(({ instance, error: { code, message } }) => ({ instance, code, message }));
    out.json({ address, token_file: `${home}/token`, project: project.id, running, resting, failed: down }, {
      isLine: true,
    });
  } else {
    // The link carries the token, so it is printed to a terminal only, never to a log file.
    const link = process.stdout.isTTY ? `${address}/#token=${token}` : `${address}/ (the token is in ${home}/token)`;
    out.line(`${project.id}: ${pluginsUp({ running, resting })}`);
    out.line(`console: ${link}`);
  }
  watch.begin();
  const login = flags.open && process.stdout.isTTY
    ? await openConsole(`${address}/#token=${token}`, home, runtime)
    : null;
  await untilAborted(signal);
  void watch.close(); // A reload under way ends with the host.
  await login?.close();
  if (!flags.json) out.line("Stopping …");
}

/** Prints the outcome of a change that `--watch` saw: one line, and the reasons of a failure below it. */
function printWatch(report: WatchReport, { line, done, hint: printHint, paint }: Printer): void {
  if (report.kind === "reloaded") {
    const { plugin, version, tookMs, gained } = report;
    const more = gained.length === 0 ? "" : `; it may now also: ${gained.join(", ")}`;
    return done(`${plugin} ${version} reloaded in ${Math.round(tookMs)} ms${more}`);
  }
  const { plugin, error } = report;
  const { message, code, hint } = error;
  const cause = error.cause instanceof Error ? error.cause as { code?: string; data?: unknown } : error;
  const said = code === "plugin.reload_failed" ? message : `Plugin "${plugin}" does not run: ${message}`;
  line(`${paint.red("✗")} ${said}`);
  const details = manifestLines({ ...(cause.code !== undefined && { code: cause.code }), data: cause.data });
  for (const detail of details) line(`  ${detail}`);
  if (details.length === 0) printHint(hint);
}
