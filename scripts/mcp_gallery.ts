/**
 * `npm run mcp:gallery`: takes public MCP servers in with `kaged mcp add`, starts and lists them, makes one harmless call
 * of each that needs no internet, and writes the table in docs/mcp-servers.md. It needs npm's registry; started by hand.
 * With names of packages it takes those alone, and keeps the other lines of the table.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A server of the gallery, and how it is taken in. */
interface Exhibit {
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that hold secrets, with the host each goes to; null: the server sees it. Undefined: known by its name. */
  readonly secrets?: Readonly<Record<string, string | null | undefined>>;
  readonly write?: readonly string[];
  readonly bin?: string;
  /** A call that changes nothing elsewhere and needs no internet. */
  readonly call?: readonly [tool: string, args: Readonly<Record<string, unknown>>];
  readonly note?: string;
}

/** Stands for a folder that the gallery makes. */
const FOLDER = "{folder}";

const EXHIBITS: readonly Exhibit[] = [
  { package: "@modelcontextprotocol/server-everything", call: ["echo", { message: "hello" }] },
  {
    package: "@modelcontextprotocol/server-memory",
    env: { MEMORY_FILE_PATH: `${FOLDER}/memory.jsonl` },
    write: [FOLDER],
    call: ["read_graph", {}],
    note: "Keeps its graph in a file: give it a folder with --write",
  },
  {
    package: "@modelcontextprotocol/server-filesystem",
    args: [FOLDER],
    call: ["list_allowed_directories", {}],
    note: "Reads the folders that it is given; with --write it may change them",
  },
  {
    package: "@modelcontextprotocol/server-sequential-thinking",
    call: ["sequentialthinking", { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }],
  },
  { package: "@modelcontextprotocol/server-github", secrets: { GITHUB_PERSONAL_ACCESS_TOKEN: undefined } },
  {
    package: "@modelcontextprotocol/server-gitlab",
    secrets: { GITLAB_PERSONAL_ACCESS_TOKEN: undefined },
  },
  {
    package: "@modelcontextprotocol/server-slack",
    secrets: { SLACK_BOT_TOKEN: undefined },
    env: { SLACK_TEAM_ID: "T0" },
  },
  {
    package: "@modelcontextprotocol/server-postgres",
    args: ["postgresql://localhost/music"],
    note: "A password goes into the variable PGPASSWORD: --expose PGPASSWORD",
  },
  { package: "@modelcontextprotocol/server-brave-search", secrets: { BRAVE_API_KEY: undefined } },
  { package: "@modelcontextprotocol/server-google-maps", secrets: { GOOGLE_MAPS_API_KEY: undefined } },
  { package: "@modelcontextprotocol/server-puppeteer", note: "Calls need a browser: exec: and its folders" },
  { package: "@playwright/mcp", note: "Calls need a browser: exec: and its folders" },
  { package: "chrome-devtools-mcp", note: "Calls need a browser: exec: and its folders" },
  { package: "@notionhq/notion-mcp-server", secrets: { NOTION_TOKEN: undefined } },
  {
    package: "mongodb-mcp-server",
    env: { MDB_MCP_CONNECTION_STRING: "mongodb://localhost:27017/music", MDB_MCP_TELEMETRY: "disabled" },
  },
  { package: "mcp-server-kubernetes", call: ["ping", {}], note: "Reads ~/.kube/config when it is called: read:fs:" },
  { package: "@shopify/dev-mcp", env: { OPT_OUT_INSTRUMENTATION: "true" } },
  { package: "@upstash/context7-mcp" },
  { package: "tavily-mcp", secrets: { TAVILY_API_KEY: undefined } },
  { package: "exa-mcp-server", secrets: { EXA_API_KEY: undefined } },
  { package: "firecrawl-mcp", secrets: { FIRECRAWL_API_KEY: undefined } },
  { package: "figma-developer-mcp", args: ["--stdio"], secrets: { FIGMA_API_KEY: undefined } },
  { package: "@supabase/mcp-server-supabase", secrets: { SUPABASE_ACCESS_TOKEN: undefined } },
  { package: "airtable-mcp-server", secrets: { AIRTABLE_API_KEY: undefined } },
  { package: "@hubspot/mcp-server", secrets: { PRIVATE_APP_ACCESS_TOKEN: "api.hubapi.com:443" } },
  {
    package: "@elastic/mcp-server-elasticsearch",
    env: { ES_URL: "http://localhost:9200" },
    secrets: { ES_API_KEY: "localhost:9200" },
  },
  { package: "@antv/mcp-server-chart" },
  { package: "mcp-mermaid", call: ["generate_mermaid_diagram", { mermaid: "graph TD; A-->B", outputType: "mermaid" }] },
  { package: "@apify/actors-mcp-server", secrets: { APIFY_TOKEN: undefined } },
  { package: "@circleci/mcp-server-circleci", secrets: { CIRCLECI_TOKEN: "circleci.com:443" } },
  { package: "@eslint/mcp", call: ["lint_files", { filePaths: [] }] },
  { package: "@sentry/mcp-server", secrets: { SENTRY_ACCESS_TOKEN: undefined } },
  { package: "@magicuidesign/mcp" },
  { package: "next-devtools-mcp" },
  { package: "@heroku/mcp-server", secrets: { HEROKU_API_KEY: "api.heroku.com:443" } },
  { package: "@bitwarden/mcp-server", secrets: { BW_SESSION: null } },
  { package: "@mapbox/mcp-server", call: ["version_tool", {}], secrets: { MAPBOX_ACCESS_TOKEN: "api.mapbox.com:443" } },
  {
    package: "@wonderwhy-er/desktop-commander",
    call: ["get_config", {}],
    note: "Runs programs: those that exec: grants",
  },
  { package: "@benborla29/mcp-server-mysql", env: { MYSQL_HOST: "localhost" }, secrets: { MYSQL_PASS: null } },
  { package: "@browsermcp/mcp", note: "Talks to a browser extension at a port of its own" },
];

/** A row of the table. */
interface Row {
  readonly exhibit: Exhibit;
  readonly version: string;
  readonly license: string;
  readonly tools: number;
  readonly grants: readonly string[];
  readonly secrets: readonly string[];
  readonly protocol: string;
  readonly call: string;
  /** What the trial says of tools that agents do not get. */
  readonly leftOut: readonly string[];
}

interface Failure {
  readonly exhibit: Exhibit;
  readonly reason: string;
}

const KAGED = fileURLToPath(new URL("../src/cli/bin.ts", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/mcp-servers.md", import.meta.url));
/** Shown in the table for the folder that the gallery makes. */
const SHOWN_FOLDER = "/home/ada/notes";

async function kaged(args: readonly string[]): Promise<Record<string, unknown>> {
  const run = promisify(execFile);
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await run(process.execPath, [KAGED, ...args], options).catch((error) =>
    error as { stdout: string }
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function exhibit(one: Exhibit, ground: string): Promise<Row | Failure> {
  const home = await mkdtemp(join(ground, "home-"));
  const folder = join(ground, "folder");
  const secret = join(ground, "secret");
  const filled = (text: string): string => text.replaceAll(FOLDER, folder);
  const secrets = Object.entries(one.secrets ?? {}).flatMap(([name, host]) => [
    ...["--secret", `${name}=${secret}`],
    ...(host === null ? ["--expose", name] : host === undefined ? [] : ["--host", `${name}=${host}`]),
  ]);
  const options = [
    ...secrets,
    ...Object.entries(one.env ?? {}).flatMap(([name, value]) => ["--env", `${name}=${filled(value)}`]),
    ...(one.write ?? []).flatMap((path) => ["--write", filled(path)]),
    ...(one.bin === undefined ? [] : ["--bin", one.bin]),
  ];
  try {
    const args = (one.args ?? []).map(filled);
    const limits = ["--max-size", "1024", "--max-files", "100000"];
    const place = ["--home", home, "--json"];
    const added = await kaged(["mcp", "add", one.package, ...place, "--yes", ...limits, ...options, "--", ...args]);
    if (added.error) return { exhibit: one, reason: (added.error as { message: string }).message };
    const [server] = added.servers as readonly Record<string, unknown>[];
    const manifest = String(server!.manifest);
    const name = String(server!.name);
    const licence = /^license: (.*)$/m.exec(manifest)?.[1] ??
      String((server!.notes as string[]).find((note) => note.includes("licence")) ?? "not said");
    const called = one.call
      ? await kaged(["plugin", "call", name, `${name}.${one.call[0]}`, JSON.stringify(one.call[1]), ...place])
      : null;
    const error = called?.error as { message: string } | undefined;
    return {
      exhibit: one,
      version: String(server!.version),
      license: licence.replace(/^Its licence says: "(.*)"$/, "$1"),
      tools: (server!.tools as string[]).length,
      grants: (server!.capabilities as string[]).map((grant) => grant.replaceAll(folder, SHOWN_FOLDER)),
      secrets: (server!.secrets as { key: string }[]).map(({ key }) => key),
      protocol: String(server!.protocol),
      leftOut: (server!.notes as string[]).filter((note) => note.includes("left out")).map((note) =>
        note.slice(0, 200)
      ),
      call: called === null ? "" : error ? `failed: ${error.message}` : `${one.call![0]} answered`,
    };
  } finally {
    await promisify(execFile)("chmod", ["-R", "u+w", home]);
    await rm(home, { recursive: true, force: true });
  }
}

/** Returns the line of the table for a server, or that of the list of those not taken in. */
function lineOf(result: Row | Failure): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  const name = `| \`${result.exhibit.package}\` |`;
  if ("reason" in result) return `${name} ${cell(result.reason)} |`;
  const { exhibit, version, license, tools, grants, secrets, protocol, call, leftOut } = result;
  const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(", ");
  const notes = cell([call, exhibit.note ?? "", ...leftOut].filter((text) => text !== "").join(". "));
  const cells = [version, cell(license), tools, code(grants) || "none", code(secrets), protocol, notes];
  return `${name} ${cells.join(" | ")} |`;
}

/** Returns the lines of the page by package, so that a run of some servers keeps those of the others. */
async function linesBefore(): Promise<Map<string, string>> {
  const text = await readFile(PAGE, "utf8").catch(() => "");
  const lines = text.split("\n").flatMap((line): [string, string][] => {
    const name = /^\| `([^`]+)`/.exec(line)?.[1];
    return name === undefined ? [] : [[name, line.replaceAll(/ {2,}/g, " ")]];
  });
  return new Map(lines);
}

/** A line of the table has nine bars and more, one of the other list three. */
const isTaken = (line: string): boolean => line.replaceAll("\\|", "").split("|").length > 5;

function page(lines: readonly string[]): string {
  const taken = lines.filter(isTaken);
  const refused = lines.filter((line) => !isTaken(line));
  return [
    "# MCP servers in cages",
    "",
    `${taken.length} public servers from npm, each taken in by \`kaged mcp add <package>\`, started in a cage and listed. The`,
    "script `npm run mcp:gallery` writes this page; it is started by hand. The grants are those that a server needs to",
    "start and to use its secrets; a call may need more, which the error of the call names. A server without a call in its",
    "notes was started and listed only: its tools need a service or a browser.",
    "",
    "| package | version | licence | tools | grants | secrets | MCP | notes |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...taken,
    "",
    ...(refused.length === 0 ? [] : ["Not taken in:", "", "| package | reason |", "| --- | --- |", ...refused, ""]),
  ].join("\n");
}

const wanted = process.argv.slice(2);
const chosen = EXHIBITS.filter((each) => wanted.length === 0 || wanted.includes(each.package));
const ground = await realpath(await mkdtemp(join(tmpdir(), "kaged-gallery-")));
const lines = wanted.length > 0 ? await linesBefore() : new Map<string, string>();
const waiting = [...chosen];

/** Takes in one server after the other; the page is written after each, so that a run that ends early leaves one. */
async function work(): Promise<void> {
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    let result = await exhibit(one, ground);
    // A machine that is busy may be too slow for one start, and not for the next.
    for (let again = 0; again < 2 && "reason" in result && /within \d+ ms/.test(result.reason); again++) {
      result = await exhibit(one, ground);
    }
    lines.set(one.package, lineOf(result));
    const said = "reason" in result
      ? `✗ ${result.reason}`
      : `✓ ${result.version}, ${result.tools} tools, ${result.grants.join(" ") || "no grants"} ${result.call}`;
    process.stdout.write(`${one.package}: ${said}\n`);
    await writeFile(PAGE, page(EXHIBITS.flatMap((each) => lines.get(each.package) ?? [])));
  }
}

try {
  await mkdir(join(ground, "folder"));
  await writeFile(join(ground, "secret"), "not-a-real-secret");
  await Promise.all([work(), work()]);
} finally {
  await rm(ground, { recursive: true, force: true });
}
