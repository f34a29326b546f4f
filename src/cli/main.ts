/**
 * Reads the command line and runs one command.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import { HOST_VERSION } from "../core/values/version.ts";
import { addApprovals } from "./commands/approvals.ts";
import { addJobs } from "./commands/jobs.ts";
import { addAudit } from "./commands/audit.ts";
import { addCompact } from "./commands/compact.ts";
import { addConfig } from "./commands/config.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addHooks } from "./commands/hooks.ts";
import { addHookspec } from "./commands/hookspec.ts";
import { addInit } from "./commands/init.ts";
import { addMcp } from "./commands/mcp.ts";
import { addMcpAdd } from "./commands/mcp_add.ts";
import { addMcpList } from "./commands/mcp_list.ts";
import { addMcpLogin } from "./commands/mcp_login.ts";
import { addMcpRemove } from "./commands/mcp_remove.ts";
import { addMcpUpgrade } from "./commands/mcp_upgrade.ts";
import { addPluginApproveTools } from "./commands/plugin_approve_tools.ts";
import { addPluginCall } from "./commands/plugin_call.ts";
import { addPluginCheck } from "./commands/plugin_check.ts";
import { addPluginExport } from "./commands/plugin_export.ts";
import { addPluginGrant } from "./commands/plugin_grant.ts";
import { addPluginInfo } from "./commands/plugin_info.ts";
import { addPluginInstall } from "./commands/plugin_install.ts";
import { addPluginKnobs } from "./commands/plugin_knobs.ts";
import { addPluginList } from "./commands/plugin_list.ts";
import { addPluginLogs } from "./commands/plugin_logs.ts";
import { addPluginNew } from "./commands/plugin_new.ts";
import { addPluginSwitch } from "./commands/plugin_switch.ts";
import { addPluginUninstall } from "./commands/plugin_uninstall.ts";
import { addProjectLoad } from "./commands/project_load.ts";
import { addProjectResolve } from "./commands/project_resolve.ts";
import { addReplay } from "./commands/replay.ts";
import { addRules } from "./commands/rules.ts";
import { addSecret } from "./commands/secret.ts";
import { addServe } from "./commands/serve.ts";
import { printError } from "./print_error.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

const OK = 0;
/** The command could not do its work, or found a mistake in what it checked. */
const FAILED = 1;
/** The command line is wrong. */
const MISUSE = 2;

/** Runs `kaged` with `args`; returns the exit code. */
export async function main(args: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  let exitCode = OK;
  try {
    await program(terminal, (code) => exitCode = code).parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return OK; // --help and --version have printed.
    if (thrown instanceof CommanderError && thrown.code === "commander.help") return MISUSE; // So has this.
    const error = thrown instanceof CommanderError ? misuse(thrown) : failure(thrown);
    printError(error, terminal, { json: args.includes("--json") });
    return exitCodeOf(error);
  }
}

function program(terminal: Terminal, exit: (code: number) => void): Command {
  const kaged = new Command("kaged")
    .description("Runs plugins that nobody has to trust: each in a cage, with only the capabilities it was granted.")
    .version(HOST_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .enablePositionalOptions() // "kaged approvals" and the commands below it take the same options.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out.document(text),
      writeErr: (text) => terminal.err.document(text), // The help, where a command was left out.
      outputError: () => {}, // Failures are printed in one place: main().
    })
    .addHelpText("after", EXAMPLES + EXIT_CODES);

  addInit(kaged, terminal);
  addDoctor(kaged, terminal, exit);
  addConfig(kaged, terminal);
  addSecret(kaged, terminal);
  const plugin = kaged.command("plugin")
    .summary("make, check and call plugins; install them and look after them")
    .description(
      "Makes, checks and calls a plugin; installs, upgrades and removes plugins; shows their state, logs and data.",
    )
    .addHelpText("after", PLUGIN_EXAMPLES);
  addPluginNew(plugin, terminal);
  addPluginCheck(plugin, terminal, exit);
  addPluginCall(plugin, terminal, exit);
  addPluginInstall(plugin, terminal);
  addPluginUninstall(plugin, terminal);
  addPluginSwitch(plugin, terminal);
  addPluginGrant(plugin, terminal);
  addPluginApproveTools(plugin, terminal);
  addPluginList(plugin, terminal);
  addPluginInfo(plugin, terminal);
  addPluginLogs(plugin, terminal);
  addPluginKnobs(plugin, terminal);
  addPluginExport(plugin, terminal);
  const project = kaged.command("project")
    .summary("show a project's plugins, install those it lacks")
    .description("Shows which plugins the agents of a project have, with their config; installs those it lacks.");
  addProjectResolve(project, terminal, exit);
  addProjectLoad(project, terminal, exit);
  addApprovals(kaged, terminal, exit);
  addJobs(kaged, terminal);
  addAudit(kaged, terminal, exit);
  addHooks(kaged, terminal, exit);
  addRules(kaged, terminal, exit);
  addHookspec(kaged, terminal, exit);
  addReplay(kaged, terminal, exit);
  addCompact(kaged, terminal);
  const mcp = addMcp(kaged, terminal);
  addMcpAdd(mcp, terminal, exit);
  addMcpList(mcp, terminal);
  addMcpUpgrade(mcp, terminal);
  addMcpRemove(mcp, terminal);
  addMcpLogin(mcp, terminal);
  addServe(kaged, terminal);
  return kaged;
}

const EXAMPLES = `
Examples:
  kaged doctor
  kaged plugin new greeter
  kaged plugin check greeter
`;

const PLUGIN_EXAMPLES = `
Examples:
  kaged plugin new greeter
  kaged plugin check greeter
  kaged plugin call greeter greeter.greet '{"who": "Ada"}'
  kaged plugin install ./greeter && kaged plugin enable greeter`;

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 usage error.
Every failure prints error[<code>] and, where there is one, a hint. With --json it is an object on standard output.`;

/** Turns a complaint of commander's into a failure like every other. */
function misuse({ message }: CommanderError): HostError {
  const [first = "", second] = message.replace(/^error: /, "").split("\n");
  const hint = second?.replace(/^\((.*)\)$/, "$1") ?? "Add --help to see what it takes";
  const capital = first.charAt(0).toUpperCase() + first.slice(1).replace(/\.$/, "");
  return new HostError("host.misuse", capital, { hint });
}

/** Turns anything else that was thrown into a failure; an error of the system is no internal one. */
function failure(thrown: unknown): HostError {
  const { code, path } = thrown as { code?: unknown; path?: unknown };
  if (thrown instanceof HostError || !(thrown instanceof Error) || !/^E[A-Z0-9]+$/.test(String(code))) {
    return asHostError(thrown);
  }
  return new HostError("host.file_unreadable", thrown.message, {
    data: { code, ...(path === undefined ? {} : { path }) },
    hint: "Check the path and its permissions",
    cause: thrown,
  });
}

function exitCodeOf({ code, data }: HostError): number {
  if (code === "host.misuse") return MISUSE;
  if (code === "host.interrupted") return (data as { exit_code: number }).exit_code; // 128 + signal, as shells do.
  return FAILED;
}
