/**
 * Checks a plugin the way a host meets it: manifest, cage, handshake, ping, shutdown. The plugin runs under the same
 * supervisor and in the same cage as everywhere else.
 *
 * @module
 */
import type { AuditEvent } from "../../core/audit/events.ts";
import type { NetEvent } from "../../core/cage/net/gatekeeper.ts";
import type { RefusalReason } from "../../core/cage/net/judge_target.ts";
import { openCage } from "../../core/cage/open_cage.ts";
import { probeCage } from "../../core/cage/probe_cage.ts";
import { type CapabilityDescription, describeCapability } from "../../packages/consent/describe_capability.ts";
import { asHostError, HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { unlistedCredentials } from "../../core/manifest/secret_rules.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { isRemote } from "../../core/manifest/speaks_mcp.ts";
import { grantedManifest } from "../../core/manifest/withheld.ts";
import type { Files } from "../../core/ports/ports.ts";
import { cageRequest } from "../../core/supervisor/plugin_source.ts";
import { type GrantReport, grantReport, refusedPaths } from "../syscalls/grant_report.ts";
import type { Observed } from "../syscalls/read_strace.ts";
import { watchSyscalls } from "../syscalls/watch_syscalls.ts";
import { runConfig } from "../run_config.ts";
import { checkLife, type LifeTrail } from "./check_life.ts";
import { surveyImports } from "./leaving_imports.ts";
import { type CheckedPlugin, type CheckOptions, CheckRecorder, type CheckReport } from "./report.ts";

/** Imports named in the message; all of them are in the data. */
const SHOWN = 5;

/**
 * Checks the plugin in `dir` (absolute) against every rule. A plugin that breaks them is a report, not an error.
 *
 * @throws {HostError} `project.config_invalid`, `project.variable_missing` or `project.reference_failed` when the caller
 * gave no config it can run with.
 */
export async function checkPlugin(dir: string, options: CheckOptions): Promise<CheckReport> {
  const recorder = new CheckRecorder(options.onCheck);
  const manifest = await checkManifest(dir, recorder, options);
  const config = manifest && await runConfig(manifest, options, options.runtime);
  const plugin = manifest && { ...options, dir, manifest, recorder, config: config! };
  let trace: GrantReport | null = null;
  if (plugin && await checkSurroundings(plugin)) {
    options.signal?.throwIfAborted();
    if (options.trace) trace = await checkWatched(plugin);
    else await checkLife(plugin);
  }
  return { ...recorder.report(), ...(trace && { trace }) };
}

async function checkManifest(
  dir: string,
  recorder: CheckRecorder,
  { runtime, withheld = [] }: CheckOptions,
): Promise<Manifest | null> {
  try {
    const { manifest: written, warnings } = await readManifest(dir, runtime.files);
    const manifest = grantedManifest(written, withheld);
    const said = [
      ...warnings.map(({ line, column, message }) => `${line}:${column} ${message}`),
      ...unlistedCredentials(manifest).map(credentialWarning),
    ];
    recorder.pass("manifest", `${manifest.name} ${manifest.version}`, { warnings: said });
    return manifest;
  } catch (thrown) {
    recorder.fail("manifest", asHostError(thrown));
    return null;
  }
}

/** Says how the author can spare the plugin a credential. */
function credentialWarning(key: string): string {
  return `${key} looks like a credential, which the plugin would see: list it under secrets, with the hosts that it ` +
    "goes to or, where that cannot be, with exposed: true";
}

/** Checks everything that needs no run of the plugin. */
async function checkSurroundings(plugin: CheckedPlugin): Promise<boolean> {
  const { manifest, recorder, runtime, home, runtimes = {} } = plugin;
  if (isRemote(manifest)) return checkElsewhere(plugin);
  const failure = await cageFailure(plugin);
  const isGrant = failure?.code.startsWith("capability.") ?? false;
  if (failure && isGrant) recorder.fail("capabilities", failure);
  // The cage shows whether a grant holds; without any, the cage has nothing to say about them.
  else if (failure && manifest.capabilities.length > 0) recorder.skip("capabilities", "cage");
  else if (manifest.capabilities.length === 0) recorder.pass("capabilities", "None asked for");
  else recorder.pass("capabilities", manifest.capabilities.join(", "), { grants: grantsOf(plugin) });

  await checkImports(plugin);

  if (isGrant) recorder.skip("cage");
  else if (failure) recorder.fail("cage", failure);
  else {
    const { error, version } = await probeCage(runtime, home, runtimes);
    if (error) recorder.fail("cage", error);
    else recorder.pass("cage", `bubblewrap ${version}`);
    return error === null;
  }
  return false;
}

/** A server elsewhere has an address, and neither files nor a cage. */
function checkElsewhere(plugin: CheckedPlugin): boolean {
  const { manifest: { capabilities, url }, recorder } = plugin;
  recorder.pass("capabilities", capabilities.join(", "), { grants: grantsOf(plugin) });
  recorder.pass("imports", "Nothing to look at");
  recorder.pass("cage", `None: it is at ${url}, and nothing of it runs on this machine`);
  return true;
}

/** Returns the capabilities of the plugin in plain words. */
function grantsOf({ dir, manifest, runtime, home, projectDir = null }: CheckedPlugin): CapabilityDescription[] {
  const paths = { installDir: dir, home, projectDir, userHome: runtime.env("HOME") };
  return manifest.capabilities.map((capability) => describeCapability(capability, { paths }));
}

/** Builds the plugin's cage without running anything in it. */
async function cageFailure(plugin: CheckedPlugin): Promise<HostError | null> {
  const { manifest, runtime, home, runtimes = {} } = plugin;
  try {
    const cage = await openCage(cageRequest(manifest, plugin, { home, runtimes }), runtime);
    await cage.close();
    return null;
  } catch (thrown) {
    return asHostError(thrown);
  }
}

async function checkImports({ dir, manifest, recorder, runtime }: CheckedPlugin): Promise<void> {
  const { files, leaving } = await surveyImports(dir, manifest.command, runtime.files);
  if (leaving.length > 0) {
    const named = leaving.map(({ file, line, specifier, reason }) => `${file}:${line} "${specifier}" ${reason}`);
    const more = named.length > SHOWN ? `; and ${named.length - SHOWN} more` : "";
    const message = `Only the plugin's own folder is in the cage: ${named.slice(0, SHOWN).join("; ")}${more}`;
    const hint = "Bundle the plugin into one file, or copy what it imports into its folder";
    return recorder.fail("imports", new HostError("check.imports_leave", message, { data: { leaving }, hint }));
  }
  const read = files.length === 1 ? "1 source file" : `${files.length} source files`;
  recorder.pass("imports", files.length === 0 ? "No JavaScript to look at" : `${read}, none leaves the folder`);
}

/** Like {@link checkLife}, watched from outside the cage. */
async function checkWatched(plugin: CheckedPlugin): Promise<GrantReport> {
  const { manifest, runtime, home, projectDir = null } = plugin;
  const { files } = runtime;
  const installDir = await files.realPath(plugin.dir);
  const watch = await watchSyscalls(runtime, home, installDir);
  let trail: LifeTrail;
  let observed: Observed;
  try {
    trail = await checkLife({ ...plugin, runtime: watch.runtime });
  } finally {
    observed = await watch.finish();
  }
  return grantReport({
    capabilities: manifest.capabilities,
    places: { installDir, home, projectDir },
    observed,
    net: trail.events.flatMap(netEvent),
    texts: [...trail.failedCalls, ...trail.log],
    args: JSON.stringify(plugin.calls ?? []),
    storage: trail.storage,
    files: watch.files,
    notes: [...watch.notes, ...trail.failedCalls],
    existing: await existingOf(observed, files),
  });
}

function netEvent(event: AuditEvent): NetEvent[] {
  if (event.type === "plugin.net_opened") return [{ kind: "opened", ...event.data }];
  if (event.type !== "plugin.net_refused") return [];
  return [{ kind: "refused", ...event.data, reason: event.data.reason as RefusalReason }];
}

/** Returns the refused paths, and their folders, that exist on the host: no capability could grant the others. */
async function existingOf(observed: Observed, files: Files): Promise<Set<string>> {
  const asked = refusedPaths(observed).flatMap(({ path, access }) =>
    access === "write" ? [path, path.slice(0, path.lastIndexOf("/")) || "/"] : [path]
  );
  const found = await Promise.all([...new Set(asked)].map(async (path) => {
    return await files.target(path).catch(() => null) === null ? [] : [path];
  }));
  return new Set(found.flat());
}
