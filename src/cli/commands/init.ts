/**
 * `kaged init`: writes an agent that runs.
 *
 * @module
 */
import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { HOST_VERSION } from "../../core/values/version.ts";
import { shellWord } from "../../hooks/files/shell_words.ts";
import {
  AGENT_FRAMEWORKS,
  AGENT_PLUGINS,
  AGENT_RUNTIMES,
  type AgentChoices,
  type AgentFramework,
  agentNameProblem,
  type AgentPlugin,
  type AgentRuntime,
  scaffoldAgent,
} from "../../operator/scaffold/scaffold_agent.ts";
import { interruptible } from "../interrupt.ts";
import { checkEmpty, fillFolder } from "../new_folder.ts";
import { type Questions, questions } from "../questions.ts";
import type { Terminal } from "../terminal.ts";

interface InitFlags {
  readonly framework?: AgentFramework;
  readonly runtime?: AgentRuntime;
  readonly plugin?: readonly AgentPlugin[];
  readonly name?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function addInit(parent: Command, terminal: Terminal): void {
  const keys = <T extends object>(record: T): (keyof T & string)[] => Object.keys(record) as (keyof T & string)[];
  parent.command("init")
    .summary("make an agent that has plugins")
    .description("Makes an agent for a framework: a program, its project and its package.json.")
    .argument("<dir>", "a new or empty folder")
    .addOption(new Option("--framework <name>", "framework of the agent").choices(keys(AGENT_FRAMEWORKS)))
    .addOption(new Option("--runtime <name>", "runtime of the agent").choices(keys(AGENT_RUNTIMES)))
    .addOption(
      new Option("--plugin <names...>", "plugins it begins with; none: --plugin none")
        .choices([...keys(AGENT_PLUGINS), "none"]),
    )
    .option("--name <name>", "name in package.json (default: the folder's)")
    .option("-y, --yes", "ask nothing: ai-sdk on node with both plugins, where nothing else is said")
    .option("--json", "print JSON, and ask nothing")
    .addHelpText("after", EXAMPLES)
    .action((dir: string, flags: InitFlags) => interruptible((signal) => makeAgent(dir, flags, terminal, signal)));
}

const EXAMPLES = `
Examples:
  kaged init my-agent                                          # asks for what is not said
  kaged init my-agent --yes                                    # AI SDK on Node
  kaged init my-agent --framework langchain --runtime deno --plugin memory`;

async function makeAgent(dir: string, flags: InitFlags, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { AGENT_PROGRAMS: programs, FRAMEWORK_VERSIONS: versions } = await import("../generated/agent_templates.ts");
  const path = resolve(terminal.cwd, dir);
  const name = checkedName(flags.name ?? basename(path).toLowerCase(), flags.name !== undefined);
  const { files } = await terminal.runtime();
  await checkEmpty(files, path);
  const json = flags.json || flags.yes || false;
  const choices = { name, ...await chosen(flags, questions(terminal, { json, signal })) };
  const made = scaffoldAgent(choices, { programs, versions, version: HOST_VERSION });
  await fillFolder(files, path, new Map([...made].map(([file, content]) => [file, { content }])));
  const { line, paint } = terminal.out;
  if (flags.json) return terminal.out.json({ ...choices, dir: path, files: [...made.keys()] });
  line(`${paint.green("✓")} Made ${paint.bold(name)} in ${path}`);
  for (const file of made.keys()) line(`    ${file}`);
  const install = { node: "npm install", bun: "bun install", deno: "deno install" }[choices.runtime];
  line(`${paint.dim("→")} run it: cd ${shellWord(dir)} && ${install} && ${AGENT_RUNTIMES[choices.runtime]}`);
}

function checkedName(name: string, isGiven: boolean): string {
  const problem = agentNameProblem(name);
  if (problem === null) return name;
  throw new HostError("scaffold.name_invalid", `A package cannot be called "${name}": ${problem}`, {
    data: { name },
    hint: isGiven ? "Choose another name" : "Name it with --name",
  });
}

/** Asks for what the flags do not say; where nobody can be asked, the usual is taken. */
async function chosen(
  { framework, runtime, plugin }: InitFlags,
  { choose }: Questions,
): Promise<Omit<AgentChoices, "name">> {
  const listed = <T extends string>(labels: Readonly<Record<T, string>>) =>
    (Object.entries(labels) as [T, string][]).map(([value, label]) => ({ value, label }));
  return {
    framework: framework ?? await choose("Which framework?", listed(AGENT_FRAMEWORKS)) ?? "ai-sdk",
    runtime: runtime ?? await choose("Which runtime?", listed(RUNTIME_LABELS)) ?? "node",
    plugins: plugin ? named(plugin) : PLUGIN_SETS[await choose("Which plugins?", listed(PLUGIN_LABELS)) ?? "both"],
  };
}

const RUNTIME_LABELS = { node: "Node", bun: "Bun", deno: "Deno" } as const;
const PLUGIN_LABELS = {
  both: "Memory and compactor",
  memory: "Memory: remembers between conversations",
  compactor: "Compactor: keeps long conversations small",
  none: "None",
} as const;
const PLUGIN_SETS: Readonly<Record<keyof typeof PLUGIN_LABELS, readonly AgentPlugin[]>> = {
  both: ["memory", "compactor"],
  memory: ["memory"],
  compactor: ["compactor"],
  none: [],
};

function named(plugins: readonly (AgentPlugin | "none")[]): AgentPlugin[] {
  return (Object.keys(AGENT_PLUGINS) as AgentPlugin[]).filter((key) => plugins.includes(key));
}
