/**
 * Runs a plugin once, from spawn to shutdown, and records which rules it kept.
 *
 * @module
 */
import { speaksMcp } from "../../core/manifest/speaks_mcp.ts";
import type { AuditData, AuditEvent, AuditType } from "../../core/audit/events.ts";
import { asHostError, HostError, type HostErrorCode } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { secretFields } from "../../core/manifest/secret_fields.ts";
import { ANY_OBJECT, argumentsSchema } from "../../core/mcp/arguments_schema.ts";
import { createStorage, isStorageAvailable } from "../../core/storage/storage.ts";
import { createSupervisor } from "../../core/supervisor/supervisor.ts";
import type { PluginInfo } from "../../core/supervisor/types.ts";
import { endingOf } from "../../core/values/ending_of.ts";
import { placeholderOf } from "../../core/values/secret_mask.ts";
import { CHECK_IDS, type CheckedPlugin, type CheckId } from "./report.ts";

/** Lines of stderr shown with a failure. */
const LOG_LINES = 10;
/** Longest an answer to ping may take, as for a running plugin. */
const PING_TIMEOUT_MS = 5_000;

/** Requests that read storage only. */
const READS = new Set(["kaged.storage.query", "kaged.storage.schema", "kaged.storage.prepare"]);

interface Run extends Pick<CheckedPlugin, "manifest" | "recorder"> {
  readonly config: Readonly<Record<string, unknown>>;
  readonly events: AuditEvent[];
  readonly log: string[];
}

interface Offer {
  readonly info: PluginInfo;
  /** Tools of an MCP server whose schema the host cannot use. */
  readonly unchecked: readonly string[];
}

/** Findings of a run beside the rules it kept. */
export interface LifeTrail {
  readonly events: readonly AuditEvent[];
  /** Calls that failed, in words. */
  readonly failedCalls: readonly string[];
  /** The last lines of stderr. */
  readonly log: readonly string[];
  /** Access to its storage that the plugin asked for, granted or not. */
  readonly storage: ReadonlySet<"read" | "write">;
}

/** Runs the plugin and records every rule from `spawn` on, as far as it comes. */
export async function checkLife(plugin: CheckedPlugin): Promise<LifeTrail> {
  const { dir, runtime, home, projectDir = null, runtimes = {}, limits = {}, config = {}, signal, calls = [] } = plugin;
  const { withheld = [] } = plugin;
  const run: Run = { ...plugin, config, events: [], log: [] };
  const { events, log } = run;
  const trail = { events, log, failedCalls: [] as string[], storage: new Set<"read" | "write">() };
  await using storage = createStorage({ runtime, home });
  await using supervisor = createSupervisor({
    runtime,
    home,
    runtimes,
    ...limits,
    storageAvailable: isStorageAvailable(runtime),
    onRequest: (client, request, audit) => {
      if (request.method.startsWith("kaged.storage.")) trail.storage.add(READS.has(request.method) ? "read" : "write");
      return storage.handle(client, request, audit);
    },
    onLog: ({ line }) => {
      if (run.log.push(line) > LOG_LINES) run.log.shift();
    },
  });
  supervisor.onAudit((event) => run.events.push(event));
  const { instance } = await supervisor.register({ dir, withheld, config, projectDir });
  const stopEarly = () => void supervisor.stopAll();
  signal?.addEventListener("abort", stopEarly, { once: true });
  try {
    signal?.throwIfAborted(); // It may have come before anyone listened.
    const { failure } = await outcomeOf(supervisor.start(instance));
    signal?.throwIfAborted();
    const info = supervisor.plugin(instance);
    recordHandshake(run, failure, { info, unchecked: await uncheckedTools(info) });
    if (failure) return trail;
    plugin.onRunning?.(info);
    const ping = await outcomeOf(supervisor.call(instance, "ping", {}, { timeoutMs: PING_TIMEOUT_MS }));
    signal?.throwIfAborted();
    if (!recordPing(run, ping)) return trail;
    for (const { method, params } of calls) {
      const { failure } = await outcomeOf(supervisor.call(instance, method, params));
      if (failure) trail.failedCalls.push(`Calling ${method} failed: ${failure.message}`);
      signal?.throwIfAborted();
    }
    const askedMs = runtime.clock.monotonic();
    await supervisor.stop(instance);
    recordShutdown(run, runtime.clock.monotonic() - askedMs);
    recordStdout(run);
    return trail;
  } finally {
    signal?.removeEventListener("abort", stopEarly);
  }
}

/** Records the rules of the handshake, up to the one that `failure` belongs to. */
function recordHandshake(run: Run, failure: HostError | null, offer: Offer): void {
  const { manifest, recorder, config, log } = run;
  const { command, name, version, kaged_api, capabilities } = manifest;
  const broken = failure && ruleOf(failure);
  const ignored = eventsOf(run, "plugin.config_rejected").map((data) => data.error_message);
  const details: Partial<Record<CheckId, string>> = {
    "spawn": command.join(" "),
    "initialize": "Answered",
    "initialize.name": name,
    "initialize.version": version,
    "initialize.api": String(kaged_api),
    "initialize.capabilities": claims(capabilities),
    "config.update": sent(config, manifest),
    ...(speaksMcp(manifest) && mcpDetails(offer.info)),
  };
  for (const id of CHECK_IDS.slice(CHECK_IDS.indexOf("spawn"), CHECK_IDS.indexOf("initialized"))) {
    if (failure && id === broken) return recorder.fail(id, explained(failure, log), log);
    if (id !== "methods") recorder.pass(id, details[id]!, { warnings: id === "config.update" ? ignored : [] });
    // The audit shows what the process offers once it runs, and not before.
    else if (broken) recorder.skip(id, broken);
    else recordMethods(run, offer);
  }
}

const claims = (capabilities: readonly string[]): string =>
  capabilities.length === 0 ? "Claims none" : "Claims no more than the manifest asks for";

/** Shows the config that was sent, without the operator's values in it. */
function sent(config: Readonly<Record<string, unknown>>, manifest: Manifest): string {
  const isSecret = secretFields(manifest);
  const shown = Object.entries(config).map(([field, value]) => [field, isSecret(field) ? placeholderOf(field) : value]);
  return shown.length === 0 ? "Takes an empty config" : `Takes ${JSON.stringify(Object.fromEntries(shown))}`;
}

/** Returns the rule that a failed start breaks. */
function ruleOf(failure: HostError): CheckId {
  const { code, rpc } = failure;
  const rule = mcpRuleOf(failure) ?? RULES_OF_CODES[code];
  if (rule) return rule;
  if (/^(cage|capability|manifest)\./.test(code)) return "spawn";
  return rpc === -32004 ? "config.update" : "initialize";
}

const RULES_OF_CODES: Partial<Record<HostErrorCode, CheckId>> = {
  "initialize.name_mismatch": "initialize.name",
  "initialize.version_mismatch": "initialize.version",
  "initialize.api_mismatch": "initialize.api",
  "initialize.capability_overreach": "initialize.capabilities",
  "plugin.config_invalid": "config.update",
  "protocol.timeout": "config.update", // Of initialize it is initialize.timeout.
};

/** A declared method that the process does not offer breaks a promise; one it merely adds is ignored by the host. */
function recordMethods(run: Run, offer: Offer): void {
  const { recorder, manifest, manifest: { methods } } = run;
  if (speaksMcp(manifest)) return recordTools(run, offer);
  const [found] = eventsOf(run, "plugin.method_unavailable");
  const { missing = [], undeclared = [] } = found ?? {};
  if (missing.length > 0) {
    const message = `The manifest declares ${quoted(missing)}, and the answer to initialize does not list it`;
    const hint = "List it in the answer to initialize, or take it out of the manifest";
    return recorder.fail("methods", new HostError("check.methods_missing", message, { data: { missing }, hint }));
  }
  const named = Object.keys(manifest.kinds ?? {});
  // The methods of a kind stand in a hookspec, which a plugin alone does not have.
  const unknown = named.length > 0 ? [] : undeclared;
  const extra = `The answer to initialize lists ${quoted(undeclared)}, which the manifest does not declare`;
  recorder.pass("methods", methods.join(", ") || "None declared", { warnings: unknown.length > 0 ? [extra] : [] });
}

/** Records the ping, and with it that the plugin took `initialized` well. Returns whether it runs on. */
function recordPing({ recorder, log }: Run, { failure, result }: Outcome): boolean {
  if (failure && hasEnded(failure)) {
    recorder.fail("initialized", explained(failure, log), log);
    return false;
  }
  recorder.pass("initialized", "Runs on");
  if (failure) recorder.fail("ping", failure, log);
  else if ((result as { status?: unknown } | null)?.status === "ok") recorder.pass("ping", '{"status":"ok"}');
  else {
    const message = `Ping was answered ${JSON.stringify(result)?.slice(0, 200)}`;
    recorder.fail("ping", new HostError("check.ping_answer", message, { hint: 'Answer ping with {"status": "ok"}' }));
  }
  return true;
}

/** Points at the plugin's own stderr, where it just ended. */
function explained(failure: HostError, log: readonly string[]): HostError {
  if (failure.code !== "plugin.unavailable") return failure;
  const hint = log.length > 0
    ? "Its last lines on stderr say why"
    : "It wrote nothing to stderr: let it say why it ends";
  const { code, message, data, cause } = failure;
  return new HostError(code, message, { data, cause, hint });
}

/** Whether a call failed because the plugin is gone, rather than by its answer or for want of one. */
function hasEnded({ code }: HostError): boolean {
  return ["plugin.unavailable", "protocol.closed", "protocol.oversize_message"].includes(code);
}

function recordShutdown(run: Run, tookMs: number): void {
  const { recorder, manifest, manifest: { shutdown_timeout_sec: seconds }, log } = run;
  const [ended] = eventsOf(run, "plugin.stopped");
  // From then on SIGTERM is what ends it, whatever its exit code. With no time at all nobody can be late.
  const isLate = seconds > 0 && tookMs >= seconds * 1000;
  if (ended?.exit_code === 0 && !isLate) return recorder.pass("shutdown", "Ends by itself with exit code 0");
  // The protocol allows a server to wait for the signal.
  if (speaksMcp(manifest) && ended && isLate) {
    const waits = `It does not end when its input ends, so that every stop takes ${seconds} s`;
    return recorder.pass("shutdown", "Ends by SIGTERM", { warnings: [waits] });
  }
  const how = !ended
    ? `had to be killed: it ignored shutdown for ${seconds} s, and then SIGTERM`
    : isLate
    ? `had to be ended by SIGTERM: it ignored shutdown for ${seconds} s`
    : `ended ${endingOf({ code: ended.exit_code, signal: ended.signal })} instead of 0`;
  const when = speaksMcp(manifest) ? "When stdin ends" : "On shutdown";
  const hint = `${when}, save what must be kept and exit with 0`;
  recorder.fail("shutdown", new HostError("check.shutdown", `The plugin ${how}`, { hint }), log);
}

function recordStdout(run: Run): void {
  const noise = eventsOf(run, "plugin.stdout_noise").map(({ line }) => `"${line}" is no JSON`);
  const violations = eventsOf(run, "plugin.protocol_violation").map(({ detail }) => detail);
  const odd = [...noise, ...violations];
  if (odd.length === 0) return run.recorder.pass("stdout", "Nothing but messages");
  const message = `Stdout belongs to the protocol: ${odd.slice(0, 3).join("; ")}`;
  const more = odd.length > 3 ? `; and ${odd.length - 3} more` : "";
  const hint = "Write one JSON-RPC message per line on stdout, and everything else to stderr";
  run.recorder.fail("stdout", new HostError("check.stdout_noise", message + more, { hint }));
}

function eventsOf<T extends AuditType>({ events }: Run, type: T): AuditData[T][] {
  return events.filter((event) => event.type === type).map((event) => event.data as AuditData[T]);
}

interface Outcome {
  readonly failure: HostError | null;
  readonly result: unknown;
}

function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  return work.then((result) => ({ failure: null, result }), (thrown) => ({
    failure: asHostError(thrown),
    result: undefined,
  }));
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** Number of tools that a detail names. */
const SHOWN = 20;
/** Tools that the audit names at most: there may be more of them. */
const MOST_REPORTED = 50;
/** Number of tools that are named for each reason why agents do not get them. */
const LEFT_OUT_SHOWN = 3;

/** Returns the details of rules that an MCP server keeps in a way of its own. */
function mcpDetails({ manifest: { name, version }, mcp }: PluginInfo): Partial<Record<CheckId, string>> {
  return {
    "initialize.name": mcp ? `${name}; the server calls itself ${JSON.stringify(mcp.name)}` : name,
    "initialize.version": mcp ? `${version}; the server's is ${JSON.stringify(mcp.version)}` : version,
    "initialize.api": mcp ? `MCP ${mcp.protocol}` : "MCP",
    "initialize.capabilities": "Claims none: the manifest alone says what it gets",
    "config.update": "Takes no config",
  };
}

/** Returns the rule that a failed start of an MCP server breaks, or null where it is no failure of MCP. */
function mcpRuleOf({ code, message }: HostError): CheckId | null {
  if (code === "mcp.version_unsupported") return "initialize.api";
  if (code === "mcp.malformed" && message.includes("initialize")) return "initialize";
  return code.startsWith("mcp.") ? "methods" : null;
}

/** Returns the tools of an MCP server whose schema the host cannot check arguments with. */
async function uncheckedTools({ mcp, tools }: PluginInfo): Promise<string[]> {
  if (!mcp) return [];
  const schemas = await Promise.all(tools.map(({ parameters_schema }) => argumentsSchema(parameters_schema)));
  return tools.filter((_, index) => schemas[index] === ANY_OBJECT).map(({ name }) => name);
}

/** Records the tools that the server lists, and warns of those that agents do not get, or not as they are. */
function recordTools(run: Run, { info: { tools, plugin }, unchecked }: Offer): void {
  const { left_out = [] } = eventsOf(run, "plugin.tools_listed").at(-1) ?? {};
  const named = tools.slice(0, SHOWN).map(({ name }) => `${plugin}.${name}`).join(", ");
  const more = tools.length > SHOWN ? ` and ${tools.length - SHOWN} more` : "";
  const leftOut = leftOutText(tools.length, left_out);
  if (tools.length === 0 && leftOut !== null) {
    const hint = "Mend the tools in the server, or ask its author to";
    return run.recorder.fail("methods", new HostError("check.tools_left_out", leftOut, { data: { left_out }, hint }));
  }
  const warnings = leftOut === null ? [] : [leftOut];
  if (tools.length === 0) warnings.push("The server lists no tools");
  if (unchecked.length > 0) {
    warnings.push(`The host cannot check arguments with the schema of ${unchecked.join(", ")}; the server must`);
  }
  run.recorder.pass("methods", tools.length === 0 ? "No tools" : `Tools: ${named}${more}`, { warnings });
}

/** Returns how many tools agents do not get, and which for which reason; null when they get them all. */
function leftOutText(kept: number, leftOut: AuditData["plugin.tools_listed"]["left_out"]): string | null {
  if (leftOut.length === 0) return null;
  const reasons = [...Map.groupBy(leftOut, ({ reason }) => reason)].map(([reason, some]) => {
    const names = some.slice(0, LEFT_OUT_SHOWN).map(({ tool }) => JSON.stringify(tool)).join(", ");
    const more = some.length > LEFT_OUT_SHOWN ? ` and ${some.length - LEFT_OUT_SHOWN} more` : "";
    return `${reason} (${names}${more})`;
  });
  const all = kept + leftOut.length;
  const least = leftOut.length === MOST_REPORTED ? "At least " : "";
  const count = kept === 0
    ? (all === 1 ? "The only tool is" : `All ${all} tools are`)
    : least + someText(leftOut.length, all);
  return `${count} left out: ${reasons.join("; ")}`;
}

const someText = (count: number, all: number): string => `${count} of ${all} tools ${count === 1 ? "is" : "are"}`;
