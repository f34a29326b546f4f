/**
 * From a wish to a server that is ready to be installed: fetched, drafted, tried in its cage. Shared by `kaged mcp add` and
 * `kaged mcp upgrade`. Everything happens in a folder that goes away afterwards.
 *
 * @module
 */
import { resolve } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import type { Draft, DraftSecret } from "../operator/mcp_add/draft.ts";
import { NO_SECRET, type Trial } from "../operator/mcp_add/try_server.ts";
import type { FetchedServer, ServerSource, ServerWish } from "../operator/mcp_add/types.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";
import type { ServerFlags } from "./mcp_flags.ts";
import { secretHosts, serverValues, sourceValues } from "./mcp_values.ts";
import type { Operator } from "./operator.ts";

/** A server that is ready to be installed. */
export interface PreparedServer extends AsyncDisposable {
  /** Folder with its files and its manifest. */
  readonly dir: string;
  readonly source: ServerSource;
  readonly manifest: Manifest;
  readonly text: string;
  readonly secrets: readonly DraftSecret[];
  /** Null for a remote server, which has no process here. */
  readonly trial: Trial | null;
  /** Facts that a manifest cannot hold, and limits of the trial. */
  readonly notes: readonly string[];
}

/** How a server is to be prepared. */
export interface Preparation {
  readonly flags: ServerFlags;
  /** Returns its name, from the facts of what was fetched. */
  nameOf(fetched: FetchedServer): string;
  /** Folder that texts of the client's file are about. */
  readonly workspace: string;
  /** Capabilities that the installed version asks for: an upgrade keeps them. */
  readonly capabilities?: readonly string[];
  /** Those of them that the installed version has: the trial has them too. */
  readonly agreed?: readonly string[];
  /** Returns values of settings that the installed version has: an upgrade keeps them. */
  givenBy?(fetched: FetchedServer): Readonly<Record<string, string>>;
}

/**
 * Fetches, drafts and tries a server.
 *
 * @throws {HostError} `mcp_add.*`, `manifest.*` or `install.*`.
 */
export async function prepareServer(
  wish: ServerWish,
  preparation: Preparation,
  operator: Operator,
): Promise<PreparedServer> {
  const { runtime, runtime: { files }, home } = operator;
  const [{ fetchFolder }, { packageFolder }] = await Promise.all([
    import("../packages/install/obtain.ts"),
    import("../operator/mcp_add/fetch_server.ts"),
  ]);
  const temporary = `${runtime.env("TMPDIR") || "/tmp"}/kaged-mcp-`;
  // A dry run leaves no trace in the home, not even the home.
  const work = preparation.flags.dryRun ? await files.makeTempDir(temporary) : await fetchFolder(home, runtime);
  const dispose = async (): Promise<void> => {
    const { removeTree } = await import("../core/files/tree.ts");
    await removeTree(work, files);
  };
  try {
    const source = await packageFolder(wish.source, files);
    const ready = await prepareIn(`${work}/server`, { ...wish, source }, preparation, operator);
    return { ...ready, source, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function prepareIn(
  dir: string,
  wish: ServerWish,
  preparation: Preparation,
  operator: Operator,
): Promise<Omit<PreparedServer, "source" | typeof Symbol.asyncDispose>> {
  const { runtime, runtime: { files }, limits, signal, home, ask } = operator;
  const { readOperatorConfig } = await import("../core/project/operator_config.ts");
  const { fetchServer } = await import("../operator/mcp_add/fetch_server.ts");
  const { readManifest } = await import("../core/manifest/read_manifest.ts");
  const { serverSourceText } = await import("../operator/mcp_add/source.ts");
  const config = await readOperatorConfig(home, files);
  await files.makeDir(dir, { mode: 0o700 });
  const bin = preparation.flags.bin ?? null;
  const ports = { runtime, dir, bin, runtimes: config.runtimes, signal, ...(limits && { limits }) };
  const what = serverSourceText(wish.source);
  const fetched = await ask.during(fetchServer(wish.source, ports), {
    message: `Fetching ${what}`,
    done: `Fetched ${what}`,
    failed: `Could not fetch ${what}`,
  });
  const draft = fetched.isPlugin ? null : await draftOf(fetched, wish, preparation, operator);
  await draft?.write(draft.capabilities);
  const { manifest } = await readManifest(dir, files);
  const agreed = agreedOf(manifest, [...draft?.settled ?? [], ...preparation.agreed ?? []], preparation.flags);
  if (fetched.isPlugin) await requireServer(manifest, what);
  const trial = wish.source.kind === "remote" ? null : await ask.during(
    tryIn(dir, manifest, { operator, config, agreed, write: draft?.writeTrial ?? null, flags: preparation.flags }),
    {
      message: `Starting ${manifest.name} in a cage`,
      done: `Started ${manifest.name} in a cage`,
      failed: `Could not start ${manifest.name}`,
    },
  ).catch((error) => {
    printWords(error, operator);
    throw error;
  });
  if (trial) await draft?.write(trial.capabilities);
  return {
    dir,
    manifest: (await readManifest(dir, files)).manifest,
    text: await files.readText(`${dir}/kaged-plugin.yaml`),
    secrets: draft?.secrets ?? [],
    trial,
    notes: [...draft?.notes ?? [], ...trial?.notes ?? []],
  };
}

/** Prints what a server that did not start wrote to its standard error. */
function printWords(error: unknown, { json, terminal: { err } }: Operator): void {
  const { log } = (error instanceof HostError ? error.data ?? {} : {}) as { readonly log?: readonly string[] };
  if (json || !log || log.length === 0) return;
  err.line("The server wrote:");
  err.quote(log.join("\n"));
}

interface WrittenDraft {
  readonly capabilities: readonly string[];
  /** Those of them that let it reach files which the operator named. */
  readonly settled: readonly string[];
  readonly secrets: readonly DraftSecret[];
  readonly notes: readonly string[];
  write(capabilities: readonly string[]): Promise<void>;
  /** Writes a manifest for the trial: with texts in place of secrets, so that none is asked for. */
  writeTrial(capabilities: readonly string[]): Promise<void>;
}

/** Returns the capabilities that the operator has agreed to by the command: with --yes all, else those named in it. */
function agreedOf({ capabilities }: Manifest, settled: readonly string[], { yes, grant = [] }: ServerFlags): string[] {
  return capabilities.filter((one) => yes || settled.includes(one) || grant.includes(one));
}

async function draftOf(
  fetched: FetchedServer,
  wish: ServerWish,
  { flags: own, nameOf, workspace, capabilities: kept = [], givenBy }: Preparation,
  operator: Operator,
): Promise<WrittenDraft> {
  const [{ draftManifest, draftText }, { valueGrants }, { hostOfUrl }, { serverSourceText }] = await Promise.all([
    import("../operator/mcp_add/draft.ts"),
    import("../operator/mcp_add/value_grants.ts"),
    import("../operator/mcp_add/secret_hosts.ts"),
    import("../operator/mcp_add/source.ts"),
  ]);
  const { runtime: { files, env }, terminal: { cwd } } = operator;
  const flags = { ...own, env: { ...givenBy?.(fetched), ...own.env } };
  const values = await serverValues(wish, fetched, { flags, operator, workspace });
  const isNamed = (path: string): boolean => /^(?:config|project):\//.test(path);
  const named = (flags.write ?? []).filter(isNamed).map((path) => `write:fs:${path}`);
  const userHome = env("HOME");
  const writable = (flags.write ?? []).filter((path) => !isNamed(path))
    .map((path) => resolve(cwd, path.replace(/^~(?=\/)/, userHome ?? "~")));
  const granted = await valueGrants(values, { files, userHome, writable });
  const unasked = await valueGrants(sourceValues(fetched, { operator, workspace }), { files, userHome, writable: [] });
  const secrets = await secretHosts(values.secrets, values.env, { flags, operator });
  // An exposed address with a password still leads to a host.
  const addressed = secrets.flatMap(({ value, hosts }) => {
    const host = hosts === null && value.kind === "literal" ? hostOfUrl(value.text) : null;
    return host === null ? [] : [`net:${host}`];
  });
  const input = {
    name: nameOf(fetched),
    source: wish.source,
    fetched: { facts: fetched.facts, command: fetched.command.slice(0, 1) },
    args: granted.args,
    env: granted.env,
    headers: values.headers,
    secrets,
  };
  const draftWith = (capabilities: readonly string[]) => draftManifest({ ...input, capabilities });
  const asked = (flags.grant ?? []).filter((one) => !one.startsWith("secret:"));
  const first = draftWith([...new Set([...kept, ...granted.capabilities, ...named, ...addressed, ...asked])]);
  const stand = secrets.flatMap(({ carrier }) => "env" in carrier ? [[carrier.env, NO_SECRET]] : []);
  const write = async (draft: Draft): Promise<void> => {
    const text = await draftText(draft, serverSourceText(wish.source));
    await files.write(`${fetched.dir}/kaged-plugin.yaml`, text, 0o644);
  };
  return {
    capabilities: first.data["capabilities"] as readonly string[],
    secrets,
    notes: first.notes,
    settled: [...granted.capabilities, ...named].filter((one) =>
      /^(?:read|write):fs:/.test(one) && !unasked.capabilities.includes(one)
    ),
    write: (capabilities) => write(draftWith(capabilities)),
    writeTrial: (capabilities) =>
      write(draftManifest({
        ...input,
        env: { ...input.env, ...Object.fromEntries(stand) },
        secrets: [],
        capabilities,
      })),
  };
}

/** Asks whether a server that does not start is tried with more than was agreed to; off a terminal nothing is. */
async function askToTry(lacking: readonly string[], { yes }: ServerFlags, operator: Operator): Promise<boolean> {
  const { ask, terminal: { out } } = operator;
  if (yes || !ask.canAsk) return false;
  const { describeAll, printCapabilities } = await import("./print_plan.ts");
  out.line();
  out.line("It did not start with what it was given, and asked for:");
  printCapabilities(describeAll({ name: "server", capabilities: lacking }, operator), out);
  return await ask.confirm("Start it once more, with these?");
}

/** Tries the server in a home of its own: nothing of the trial stays. */
async function tryIn(
  dir: string,
  { capabilities, system_config_schema: schema }: Manifest,
  { operator, config, agreed, write, flags }: {
    readonly operator: Operator;
    readonly agreed: readonly string[];
    readonly flags: ServerFlags;
    readonly config: Awaited<ReturnType<typeof import("../core/project/operator_config.ts").readOperatorConfig>>;
    readonly write: WrittenDraft["writeTrial"] | null;
  },
): Promise<Trial> {
  const { runtime, signal } = operator;
  const { tryServer } = await import("../operator/mcp_add/try_server.ts");
  const { hostLimits } = await import("../host/host_limits.ts");
  const { mapOf } = await import("../core/values/plain_data.ts");
  const { files } = runtime;
  const home = await files.makeTempDir(`${runtime.env("TMPDIR") || "/tmp"}/kaged-home-`);
  try {
    return await tryServer({
      dir,
      runtime,
      home: await files.realPath(home),
      runtimes: config.runtimes,
      limits: hostLimits({}, config),
      signal,
      capabilities,
      agreed,
      consent: (lacking) => askToTry(lacking, flags, operator),
      secrets: write ? [] : Object.keys(mapOf({ ...schema }, "properties")),
      write,
    });
  } finally {
    await files.remove(home);
  }
}

/** Tries the installed version, for its tools; null where it does not start, or does not run here. */
export async function tryInstalled(name: string, manifest: Manifest, operator: Operator): Promise<PluginInfo | null> {
  if (manifest.runtime === "mcp_http") return null;
  const { readOperatorConfig } = await import("../core/project/operator_config.ts");
  const config = await readOperatorConfig(operator.home, operator.runtime.files);
  const dir = `${operator.home}/plugins/${name}`;
  return await tryIn(dir, manifest, { operator, config, agreed: [], write: null, flags: { yes: true } }).then(
    ({ info }) => info,
    () => null,
  );
}

async function requireServer(manifest: Manifest, what: string): Promise<void> {
  const { speaksMcp } = await import("../core/manifest/speaks_mcp.ts");
  if (speaksMcp(manifest)) return;
  throw new HostError("mcp_add.not_mcp", `"${what}" holds the plugin "${manifest.name}", which is no MCP server`, {
    data: { plugin: manifest.name },
    hint: `Install it as it is: kaged plugin install ${what}`,
  });
}
