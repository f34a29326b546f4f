/**
 * Settings and secrets of an MCP server: from flags, from the client's file, or from the person at the terminal.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { DraftSecret } from "../operator/mcp_add/draft.ts";
import { hostOfUrl, knownHosts } from "../operator/mcp_add/secret_hosts.ts";
import { type RawValues, sortValues } from "../operator/mcp_add/sort_values.ts";
import type { FetchedServer, SecretNeed, ServerWish, SortedValues } from "../operator/mcp_add/types.ts";
import type { ServerFlags } from "./mcp_flags.ts";
import type { Operator } from "./operator.ts";

/** Sorts the settings of a server; those that nothing gives a value to are asked for. */
export async function serverValues(
  wish: ServerWish,
  fetched: FetchedServer,
  { flags, operator, workspace }: {
    readonly flags: ServerFlags;
    readonly operator: Operator;
    /** Folder that `${workspaceFolder}` stands for. */
    readonly workspace: string;
  },
): Promise<SortedValues> {
  const { runtime, ask } = operator;
  const raw: RawValues = {
    args: [...fetched.command.slice(1), ...wish.args],
    env: { ...fetched.env, ...wish.env },
    headers: wish.headers,
    asked: { ...wish.asked, ...fetched.asked },
    known: knownPlaces(operator, workspace),
    given: flags.env ?? {},
    secret: [
      ...Object.keys(flags.secret ?? {}),
      ...flags.expose ?? [],
      ...(flags.host ?? []).map((one) => one.variable),
    ],
    hostEnv: runtime.env,
  };
  const first = sortValues(raw);
  if (first.missing.length === 0) return first;
  if (!ask.canAsk || flags.yes) throw valueMissing(first.missing);
  const given: Record<string, string> = { ...raw.given };
  for (const { name, description } of first.missing) given[name] ??= await ask.text(`${description} (${name})`);
  const second = sortValues({ ...raw, given });
  if (second.missing.length > 0) throw valueMissing(second.missing);
  return second;
}

/** Returns the settings that a source itself names, whoever takes it in: nobody has agreed to the places in them. */
export function sourceValues(
  { command, env, asked }: FetchedServer,
  { operator, workspace }: { readonly operator: Operator; readonly workspace: string },
): SortedValues {
  const known = knownPlaces(operator, workspace);
  const args = command.slice(1);
  return sortValues({ args, env, headers: {}, asked, known, given: {}, secret: [], hostEnv: () => null });
}

/** The folders that texts refer to. */
function knownPlaces({ runtime }: Operator, workspace: string): Record<string, string> {
  const home = runtime.env("HOME") ?? "/";
  return {
    __dirname: ".",
    "/": "/",
    pathSeparator: "/",
    HOME: home,
    userHome: home,
    DESKTOP: `${home}/Desktop`,
    DOCUMENTS: `${home}/Documents`,
    DOWNLOADS: `${home}/Downloads`,
    workspaceFolder: workspace,
    CLAUDE_PROJECT_DIR: workspace,
  };
}

function valueMissing(missing: SortedValues["missing"]): HostError {
  const names = [...new Set(missing.map(({ name }) => name.replace(/^(?:env:|input:|user_config\.)/, "")))];
  const list = missing.map(({ name, where, description }) => `${name} (${description}) in ${JSON.stringify(where)}`);
  return new HostError("mcp_add.value_missing", `Nothing says the value of ${list.join("; ")}`, {
    data: { missing: names },
    hint: `Pass it: ${names.map((name) => `--env ${name}=…`).join(" ")}`,
  });
}

/** Returns the secrets with the hosts that each may go to. Throws `mcp_add.secret_hosts_unknown`. */
export async function secretHosts(
  secrets: readonly SecretNeed[],
  env: Readonly<Record<string, string>>,
  { flags, operator: { ask } }: { readonly flags: ServerFlags; readonly operator: Operator },
): Promise<DraftSecret[]> {
  const decided: DraftSecret[] = [];
  for (const secret of secrets) {
    const name = carrierOf(secret);
    const named = (flags.host ?? []).filter(({ variable }) => variable === name).map(({ host }) => host);
    const isExposed = flags.expose?.includes(name) ?? false;
    const isHeader = "header" in secret.carrier;
    const hosts = isHeader || isExposed ? null : named.length > 0 ? named : knownHosts(secret, env);
    if (isHeader || isExposed || hosts) {
      decided.push({ ...secret, hosts });
      continue;
    }
    const answer = ask.canAsk && !flags.yes
      ? await ask.text(`Host that ${name} may go to, such as api.example.com:443`)
      : "";
    if (answer.trim() === "") throw hostsUnknown(name, secret);
    decided.push({ ...secret, hosts: [/:\d+$/.test(answer.trim()) ? answer.trim() : `${answer.trim()}:443`] });
  }
  return decided;
}

/** Returns the variable or the header of a secret. */
export function carrierOf({ carrier }: Pick<SecretNeed, "carrier">): string {
  return "env" in carrier ? carrier.env : carrier.header;
}

function hostsUnknown(name: string, { value }: SecretNeed): HostError {
  const host = value.kind === "literal" ? hostOfUrl(value.text) : null;
  const isHttp = value.kind !== "literal" || /^https?:/.test(value.text) || host === null;
  const bound = `--host ${name}=${isHttp && host ? host : "api.example.com:443"}: the server then gets a placeholder`;
  const exposed = `--expose ${name}: the server then sees the value itself`;
  return new HostError("mcp_add.secret_hosts_unknown", `Nothing says which hosts ${name} may go to`, {
    data: { variable: name },
    hint: isHttp ? `Add ${bound}; or ${exposed}` : `It is the password of a connection: add ${exposed}`,
  });
}

/** Reads the values of `--secret`. */
export async function givenSecrets({ secret = {} }: ServerFlags, { terminal }: Operator): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  const fromInput = Object.entries(secret).filter(([, from]) => from === "-").map(([name]) => name);
  if (fromInput.length > 1) {
    throw new HostError("host.misuse", `Only one secret can be read from standard input: ${fromInput.join(", ")}`, {
      hint: "Pass the others as files: --secret NAME=file",
    });
  }
  for (const [name, from] of Object.entries(secret)) {
    const text = from === "-" ? await terminal.readInput() : await readFile(resolve(terminal.cwd, from), "utf8");
    values.set(name, text.replace(/\r?\n$/, ""));
  }
  return values;
}

/** Returns the value that is to be kept for a secret; null where none is known or wanted. */
export async function secretText(
  secret: SecretNeed,
  given: ReadonlyMap<string, string>,
  { flags, keepSecrets, ask, file }: {
    readonly flags: ServerFlags;
    /** Whether values in the client's file are kept without a question. */
    readonly keepSecrets: boolean;
    readonly ask: Operator["ask"];
    /** The client's file, for the question. */
    readonly file: string | null;
  },
): Promise<string | null> {
  const { value } = secret;
  const name = carrierOf(secret);
  const canAsk = ask.canAsk && !flags.yes;
  if (given.has(name)) return given.get(name)!;
  if (value.kind === "reference") return value.text;
  if (value.kind === "literal") {
    const isKept = keepSecrets ||
      (canAsk && await ask.confirm(`Keep the ${name} that ${file ?? "the source"} holds, in local.toml?`));
    // A text that only looks like a reference is meant as it stands.
    return isKept ? /^(?:file|cmd|literal):|\$\{/.test(value.text) ? `literal:${value.text}` : value.text : null;
  }
  const typed = canAsk ? await ask.secret(`${name}: ${secret.description}`) : "";
  return typed === "" ? null : typed;
}
