/**
 * Starts a drafted server once, in its cage and watched from outside, to see that it serves and which grants it needs
 * for that.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { PluginInfo } from "../../core/supervisor/types.ts";
import type { Check, CheckOptions, CheckReport } from "../check/report.ts";
import { checkPlugin } from "../check/check_plugin.ts";

export interface Trial {
  /** Capabilities of the draft, and those that the server could not start without. */
  readonly capabilities: readonly string[];
  /** Capabilities that were added to the draft. */
  readonly added: readonly string[];
  /** Its tools and its protocol, as it lists them. */
  readonly info: PluginInfo;
  /** Places and hosts that it asked for and did not need, in words. */
  readonly unmet: readonly string[];
  /** Limits of the watch, for the reader. */
  readonly notes: readonly string[];
}

export interface TriedServer extends Pick<CheckOptions, "runtime" | "home" | "runtimes" | "limits" | "signal"> {
  readonly dir: string;
  /** Capabilities of the draft. */
  readonly capabilities: readonly string[];
  /** Those of them that the operator has agreed to before the trial: it runs without the others. */
  readonly agreed: readonly string[];
  /** Fields of the operator's side: the trial gives each a text that is none of the operator's secrets. */
  readonly secrets: readonly string[];
  /** Writes a draft for the trial with these capabilities; null for a server that brings its own manifest. */
  readonly write: ((capabilities: readonly string[]) => Promise<void>) | null;
  /** Asks the operator whether a server that does not start is tried with more. */
  consent(capabilities: readonly string[]): Promise<boolean>;
}

/** Stands for every secret during the trial, so that none is handed to a server before the operator's consent. */
export const NO_SECRET = "kaged-trial-no-secret";

/**
 * Tries a server with what the operator has agreed to. Where it does not start, the operator is asked whether to try it
 * with the rest of the draft and with the grants that it was refused: a server could otherwise take by itself, before
 * any consent, whatever it fails without.
 *
 * @throws {HostError} `mcp_add.not_a_server` with the server's own words, or the reason why no cage could be built.
 */
export async function tryServer(server: TriedServer): Promise<Trial> {
  const { capabilities, agreed } = server;
  const first = await run(server, agreed);
  const asDrafted = { capabilities, added: [] };
  if (first.info) return trialOf(first.report, first.info, asDrafted);
  if (isTooSlow(first.report)) {
    // Being watched takes time: a server with many files may start well without.
    const alone = await run(server, agreed, { isWatched: false });
    if (alone.info) return trialOf(alone.report, alone.info, asDrafted);
  }
  const refused = server.write ? missingGrants(first.report).filter((one) => !capabilities.includes(one)) : [];
  const lacking = [...capabilities.filter((one) => !agreed.includes(one)), ...refused];
  if (lacking.length === 0 || !await server.consent(lacking)) throw failed(first.report, lacking);
  const second = await run(server, [...agreed, ...lacking]);
  if (!second.info) throw failed(second.report, []);
  const used = usedOf(second.report);
  const added = refused.filter((one) => used === null || used.has(one));
  return trialOf(second.report, second.info, { capabilities: [...capabilities, ...added], added });
}

const isTooSlow = ({ checks }: CheckReport): boolean =>
  checks.some(({ code = "" }) => ["initialize.timeout", "protocol.timeout"].includes(code));

async function run(
  server: TriedServer,
  capabilities: readonly string[],
  { isWatched } = { isWatched: true },
): Promise<{ report: CheckReport; info: PluginInfo | null }> {
  const { dir, runtime, home, runtimes, limits, signal, secrets } = server;
  const withheld = server.write ? [] : server.capabilities.filter((one) => !capabilities.includes(one));
  await server.write?.(capabilities);
  let info: PluginInfo | null = null;
  const report = await checkPlugin(dir, {
    runtime,
    home,
    ...(runtimes && { runtimes }),
    ...(limits && { limits }),
    ...(signal && { signal }),
    trace: isWatched,
    withheld,
    config: Object.fromEntries(secrets.map((key) => [key, NO_SECRET])),
    onRunning: (running) => void (info = running),
  });
  return { report, info };
}

function trialOf(
  { trace, checks }: CheckReport,
  info: PluginInfo,
  grants: Pick<Trial, "capabilities" | "added">,
): Trial {
  // Tools that agents do not get, with the reason.
  const { ok, detail, warnings = [] } = checks.find(({ id }) => id === "methods") ?? checks[0]!;
  const leftOut = ok ? warnings : [detail, ...warnings];
  const unmet = (trace?.denied ?? []).filter(({ capability }) =>
    capability !== null && !grants.capabilities.includes(capability)
  );
  return {
    ...grants,
    info,
    unmet: unmet.map(({ capability }) => capability!),
    notes: [...trace?.notes ?? [], ...leftOut],
  };
}

/** Returns the grants of everything that a run was refused, as far as there are any and their ports are known. */
function missingGrants({ trace }: CheckReport): string[] {
  const grants = (trace?.denied ?? []).flatMap(({ capability }) => capability ?? []);
  return [...new Set(grants.filter((one) => !one.includes("<port>")))];
}

/** Returns the capabilities that a run was seen to use; null where nobody could see it. */
function usedOf({ trace }: CheckReport): Set<string> | null {
  if (!trace?.files) return null;
  return new Set(trace.grants.filter(({ used }) => used !== false).map(({ capability }) => capability));
}

function failed({ checks }: CheckReport, lacking: readonly string[]): HostError {
  const broken = checks.find((check): check is Check => !check.ok && !check.skipped && check.id !== "imports") ??
    checks[0]!;
  const { id, detail, hint, code, data, log = [] } = broken;
  const isOurs = ["manifest", "capabilities", "cage"].includes(id);
  const flags = lacking.slice(0, SHOWN_GRANTS).map((one) => `--grant '${one.replaceAll("'", `'\\''`)}'`).join(" ");
  const grant = lacking.length > 0 ? `If you want it to have what it was refused, grant it: ${flags}. ` : "";
  return new HostError("mcp_add.not_a_server", `The server did not start: ${detail}`, {
    data: { rule: id, code: code ?? null, log, lacking, ...(isOurs && { cause: data }) },
    hint: `${grant}${hint ?? "Its own words say why; arguments go behind --, variables into --env"}`,
  });
}

/** Grants that a hint names. */
const SHOWN_GRANTS = 5;
