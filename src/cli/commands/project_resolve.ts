/**
 * `kaged project resolve`: the plugins, config, hooks and tools of each agent.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { HostError } from "../../core/errors/host_error.ts";
import type { Issue, PluginRefusal, ResolvedPlugin, ResolvedProject } from "../../core/project/types.ts";
import { errorJson } from "../print_error.ts";
import { addProjectOptions, placesOf, pluginFolders, type ProjectFlags } from "../options.ts";
import type { Printer, Terminal } from "../terminal.ts";

/** Adds the command; `exit` takes the exit code of a run that came to its end. */
export function addProjectResolve(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("resolve")
    .summary("show the plugins and config of each agent")
    .description(
      "Shows which plugins, config, hooks and tools each agent of a project gets. Starts nothing." +
        "\nValues the operator set are not shown. Exit code 1 when a plugin is refused or not installed.",
    )
    .argument("<dir>", "folder that holds project.yaml");
  addProjectOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (dir: string, flags: ProjectFlags) => exit(await resolveDir(dir, flags, terminal)));
}

const EXAMPLES = `
Examples:
  kaged project resolve .
  kaged project resolve ./music --plugin @kaged/memory-markdown=./plugins/memory-markdown
  kaged project resolve . --json | jq '.agents.primary.plugins'`;

async function resolveDir(dir: string, flags: ProjectFlags, terminal: Terminal): Promise<number> {
  const [{ loadProject }, { referenceReader }] = await Promise.all([
    import("../../core/project/load_project.ts"),
    import("../../core/project/references.ts"),
  ]);
  const { home, runtime } = await placesOf(flags, terminal);
  const { files, env } = runtime;
  const plugins = pluginFolders(flags, terminal);
  const { resolved } = await loadProject({
    dir: resolve(terminal.cwd, dir),
    home,
    plugins,
    files,
    env,
    read: referenceReader(runtime),
  });
  const problems = problemsOf(resolved.refusals);
  if (flags.json) terminal.out.json(asJson(resolved, problems));
  else print(resolved, problems, terminal.out);
  return problems.length > 0 ? 1 : 0;
}

/** A plugin that one agent does not get, with the reason. */
export interface Problem {
  readonly agent: string;
  readonly key: string | null;
  readonly error: HostError;
}

/** Returns the reasons for plugins that are left out. */
export function problemsOf(refusals: readonly PluginRefusal[]): Problem[] {
  return refusals.map(({ agent, key, error }) => ({ agent, key, error }));
}

function asJson({ agents, warnings }: ResolvedProject, problems: readonly Problem[]): Record<string, unknown> {
  const entryOf = ({ key, package: pkg, plugin, isolation, instance, hooks, tools, shownConfig }: ResolvedPlugin) => {
    return [key, { package: pkg, plugin, isolation, instance, hooks, tools, config: shownConfig }];
  };
  return {
    agents: Object.fromEntries(agents.map(({ path, plugins }) => {
      return [path, { plugins: Object.fromEntries(plugins.map(entryOf)) }];
    })),
    warnings,
    errors: problems.map(problemJson),
  };
}

/** Returns a problem as `--json` prints it. */
export function problemJson({ agent, key, error }: Problem): Record<string, unknown> {
  return { agent, key, ...errorJson(error) };
}

function print({ agents, warnings }: ResolvedProject, problems: readonly Problem[], out: Printer): void {
  const { line, paint } = out;
  for (const { path, plugins } of agents) {
    line(paint.bold(path));
    if (plugins.length === 0) line(paint.dim("  no plugins"));
    for (const { key, plugin, package: pkg, isolation, instance, hooks, tools, shownConfig } of plugins) {
      line(`  ${key}  ${paint.dim(`${plugin} (${pkg}), ${isolation}, ${instance}`)}`);
      line(`    hooks   ${hooks.join(", ") || paint.dim("none")}`);
      line(`    tools   ${tools.join(", ") || paint.dim("none")}`);
      const config = Object.entries(shownConfig).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
      line(`    config  ${config.join(", ") || paint.dim("none")}`);
    }
  }
  for (const warning of warnings) line(paint.yellow(`warning: ${warningText(warning)}`));
  printProblems(problems, out);
}

/** Prints each problem with every mistake of a config, and the next step. */
export function printProblems(problems: readonly Problem[], out: Printer): void {
  const { line, paint } = out;
  for (const { agent, error } of problems) {
    const whose = agent === "" ? "" : ` [${agent}]`;
    line(paint.red(`error[${error.code}]${whose}: ${error.message}`));
    out.hint(error.hint);
  }
}

function warningText({ file, line, column, message, hint }: Issue): string {
  return `${file}:${line}:${column} ${message}${hint === undefined ? "" : ` (${hint})`}`;
}
