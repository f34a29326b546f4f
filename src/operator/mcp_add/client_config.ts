/**
 * Reads the configuration files of MCP clients: `.mcp.json`, `claude_desktop_config.json`, `.vscode/mcp.json`, Gemini's
 * `settings.json` and Codex' `config.toml`. Each entry is a wish, or a refusal with its reason.
 *
 * @module
 */
import { type DocumentKind, DocumentReport } from "../../core/documents/document_report.ts";
import { readJson } from "../../core/documents/read_json.ts";
import { requireDocumentText } from "../../core/documents/read_text.ts";
import { readToml } from "../../core/documents/read_toml.ts";
import { HostError } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";
import { isMap, mapOf } from "../../core/values/plain_data.ts";
import { launchOf } from "./launch.ts";
import type { AskedValue, ReadEntry, Refusal, ServerWish } from "./types.ts";

const KIND: DocumentKind = { room: "mcp_config", title: "Configuration file", maxBytes: 1024 * 1024 };
const MAX_ENTRIES = 200;

type Data = Readonly<Record<string, unknown>>;

/**
 * Reads the entries of a file in the order of the file; `absolute` completes paths of the entries.
 *
 * @throws {HostError} `mcp_config.*` when the file cannot be read or names no servers.
 */
export async function readClientConfig(
  file: string,
  files: Files,
  absolute: (path: string) => string,
): Promise<ReadEntry[]> {
  const report = new DocumentReport(file, KIND);
  const text = await requireDocumentText(report, files, "Name the file that your MCP client reads");
  const isToml = file.endsWith(".toml");
  const document = isToml ? await readToml(text, report) : readJson(text, report, { comments: true });
  report.throwErrors();
  const data = isMap(document?.data) ? document.data : {};
  const servers = serversOf(data);
  if (servers === null) {
    throw new HostError("mcp_config.no_servers", `"${file}" has neither mcpServers nor servers nor mcp_servers`, {
      data: { file },
      hint: "Name the file that your MCP client reads, such as .mcp.json",
    });
  }
  const asked = inputsOf(data);
  return Object.entries(servers).slice(0, MAX_ENTRIES).map(([name, entry]) => {
    const read = wishOf(isMap(entry) ? entry : null, absolute);
    return "reason" in read ? { name, refusal: read } : { name, wish: { ...read, name, asked } };
  });
}

/** Returns the servers of a file, under the name that its client gives them; null where there is none. */
function serversOf(data: Data): Data | null {
  const nested = mapOf(mapOf(data, "mcp"), "servers");
  const found = [data.mcpServers, data.servers, data.mcp_servers, Object.keys(nested).length > 0 ? nested : null];
  return (found.find(isMap) as Data | undefined) ?? null;
}

/** Returns the inputs that VS Code asks its user for, as texts refer to them: `input:<id>`. */
function inputsOf(data: Data): Record<string, AskedValue> {
  const lists = [data.inputs, mapOf(data, "mcp").inputs].filter(Array.isArray).flat();
  return Object.fromEntries(
    lists.filter(isMap).filter(({ id }) => typeof id === "string").map((input) => [
      `input:${input.id}`,
      {
        description: typeof input.description === "string" ? input.description : String(input.id),
        isSecret: input.password === true,
        isRequired: true,
        fallback: typeof input.default === "string" ? input.default : null,
      },
    ]),
  );
}

type BareWish = Omit<ServerWish, "name" | "asked">;

function wishOf(entry: Data | null, absolute: (path: string) => string): BareWish | Refusal {
  if (!entry) return { reason: "It is no map of settings", hint: "Correct the entry" };
  if (entry.disabled === true || entry.enabled === false) {
    return { reason: "It is switched off in the file", hint: "Switch it on there, or add its package by name" };
  }
  const address = [entry.httpUrl, entry.url, entry.serverUrl].find((one) => typeof one === "string");
  if (typeof address === "string") return remoteWish(entry, address);
  const { command, args = [] } = entry;
  if (typeof command !== "string" || command === "") {
    return { reason: "It has neither a command nor an url", hint: "Correct the entry" };
  }
  if (!Array.isArray(args) || !args.every((word) => typeof word === "string" && !word.includes("\0"))) {
    return { reason: "Its args are no list of texts", hint: "Correct the entry" };
  }
  // Some clients take a whole command line in `command`.
  const [program = "", ...words] = args.length === 0 ? command.trim().split(/\s+/) : [command];
  const base = typeof entry.cwd === "string" ? `${entry.cwd}/` : "";
  const launch = launchOf(program, [...words, ...args], (path) => absolute(path.startsWith("/") ? path : base + path));
  if ("reason" in launch) return launch;
  return { source: launch.source, args: launch.args, env: textsOf(entry.env), headers: launch.headers ?? {} };
}

function remoteWish(entry: Data, address: string): BareWish | Refusal {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) return { reason: "Its url is no address", hint: "Correct the entry" };
  const bearer = entry.bearer_token_env_var;
  const fromEnv = Object.entries(textsOf(entry.env_http_headers)).map(([name, variable]) => [name, `\${${variable}}`]);
  return {
    source: { kind: "remote", url: url.href },
    args: [],
    env: {},
    headers: {
      ...textsOf(entry.headers),
      ...textsOf(entry.http_headers),
      ...Object.fromEntries(fromEnv),
      ...(typeof bearer === "string" && { Authorization: `Bearer \${${bearer}}` }),
    },
  };
}

/** Returns the texts of a map; numbers and switches become texts, as clients hand them over. */
function textsOf(value: unknown): Record<string, string> {
  const entries = isMap(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter(([, one]) => ["string", "number", "boolean"].includes(typeof one)).map((
      [key, one],
    ) => [key, `${one}`]),
  );
}
