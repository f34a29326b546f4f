/**
 * The files of a new agent: a program for one framework, its project and its package.json.
 *
 * @module
 */

/** Frameworks that an agent can be made for, and their names for people. */
export const AGENT_FRAMEWORKS = {
  "ai-sdk": "AI SDK (ai)",
  "openai-agents": "OpenAI Agents SDK (@openai/agents)",
  "langchain": "LangChain (langchain)",
  "mastra": "Mastra (@mastra/core)",
  "claude-agent": "Claude Agent SDK (@anthropic-ai/claude-agent-sdk)",
  "anthropic": "None: a loop around Anthropic's Messages API",
  "plain": "None: a loop of my own",
} as const;

/** Packages that a program needs and does not import: optional ones of the host. */
const UNSEEN: Partial<Record<AgentFramework, readonly string[]>> = { "claude-agent": ["@modelcontextprotocol/server"] };

/** One of {@link AGENT_FRAMEWORKS}. */
export type AgentFramework = keyof typeof AGENT_FRAMEWORKS;

/** Runtimes → how each starts a program that embeds the host. */
export const AGENT_RUNTIMES = {
  node: "node agent.ts",
  bun: "bun agent.ts",
  deno: "deno run -RWENS --allow-run agent.ts",
} as const;

/** One of {@link AGENT_RUNTIMES}. */
export type AgentRuntime = keyof typeof AGENT_RUNTIMES;

/** Key in project.yaml → package, of the plugins that can be chosen. */
export const AGENT_PLUGINS = { memory: "@kaged/memory-markdown", compactor: "@kaged/smart-compactor" } as const;

/** One of {@link AGENT_PLUGINS}. */
export type AgentPlugin = keyof typeof AGENT_PLUGINS;

export interface AgentChoices {
  /** Name in its package.json. */
  readonly name: string;
  readonly framework: AgentFramework;
  readonly runtime: AgentRuntime;
  readonly plugins: readonly AgentPlugin[];
}

/** The texts that are filled in, and the versions of packages. */
export interface AgentTexts {
  readonly programs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Version of this package and of the reference plugins. */
  readonly version: string;
  /** Package → version it was tried with. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Returns why `name` cannot be the name of an agent's package, or null. */
export function agentNameProblem(name: string): string | null {
  if (name.length > 214) return "it takes at most 214 characters";
  return /^[a-z0-9][a-z0-9._-]*$/.test(name)
    ? null
    : "it takes a-z, 0-9, -, _ and ., and starts with a letter or digit";
}

/** Returns every file of a new agent, by path inside its folder. */
export function scaffoldAgent(choices: AgentChoices, texts: AgentTexts): Map<string, string> {
  const program = texts.programs[choices.framework]!;
  return new Map([
    ...Object.entries(program),
    ["project.yaml", projectText(choices)],
    ["package.json", `${JSON.stringify(packageJson(choices, program, texts), null, 2)}\n`],
    ["README.md", readme(choices)],
    [".gitignore", "node_modules/\n"],
  ]);
}

function projectText({ plugins }: AgentChoices): string {
  const entries = plugins.map((key) => `    ${key}: { package: "${AGENT_PLUGINS[key]}" }\n`);
  const declared = entries.length > 0 ? `  plugins:\n${entries.join("")}` : "  plugins: {}\n";
  const delegate = plugins.includes("compactor") ? ", delegate: { plugin: compactor }" : "";
  return `# Which agent has which plugins; docs/projects.md of @kaged/plugin-host has the rest.\nprimary:\n${declared}` +
    `  compaction: { strategy: drop${delegate}, keep_last: 4 }\n`;
}

function packageJson(
  { name, framework, runtime, plugins }: AgentChoices,
  program: Readonly<Record<string, string>>,
  { version, versions }: AgentTexts,
): object {
  const own = ["@kaged/plugin-host", ...plugins.map((key) => AGENT_PLUGINS[key])];
  const imported = [...Object.values(program).flatMap(importedPackages), ...UNSEEN[framework] ?? []];
  const foreign = [...new Set(imported)].filter((one) => !own.includes(one));
  const dependencies = [
    ...own.map((one) => [one, `^${version}`]),
    ...foreign.map((one) => [one, versions[one] === undefined ? "*" : `^${versions[one]}`]),
  ].sort(([a], [b]) => a! < b! ? -1 : 1);
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: { start: AGENT_RUNTIMES[runtime] },
    dependencies: Object.fromEntries(dependencies),
  };
}

/** Returns the packages that a program imports. */
function importedPackages(text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\b[^"']*["']((?:@[^/"']+\/)?[^."'/:][^"'/:]*)[^"':]*["'];$/gm)]
    .map(([, name]) => name!);
}

function readme({ name, framework, runtime }: AgentChoices): string {
  const install = { node: "npm install", bun: "bun install", deno: "deno install" }[runtime];
  const model = framework === "plain" ? [] : [
    "The model is a stand-in that needs no key: put your own in its place in `agent.ts`.",
    "",
  ];
  return [
    `# ${name}`,
    "",
    "An agent with plugins in cages, made by `kaged init`.",
    "",
    "```sh",
    install,
    AGENT_RUNTIMES[runtime],
    "```",
    "",
    ...model,
    "`project.yaml` says which plugins it has. They are packages in `node_modules`, and run in cages all the same:",
    "`npx kaged doctor` says what this machine can enforce. The guides are in `node_modules/@kaged/plugin-host/docs`.",
    "",
  ].join("\n");
}
