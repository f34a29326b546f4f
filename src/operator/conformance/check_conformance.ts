/**
 * Tries the rules of the wire on a plugin in its cage, in whatever language it is written.
 *
 * @module
 */
import { speaksMcp } from "../../core/manifest/speaks_mcp.ts";
import type { CheckOptions } from "../check/report.ts";
import type { CageRequest } from "../../core/cage/cage.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { grantedManifest } from "../../core/manifest/withheld.ts";
import { createStorage, isStorageAvailable } from "../../core/storage/storage.ts";
import { InstanceSecrets } from "../../core/supervisor/instance_secrets.ts";
import { SecretMask } from "../../core/values/secret_mask.ts";
import { openPluginWire } from "../plugin_wire.ts";
import { runConfig } from "../run_config.ts";
import { notOffered } from "./conversation.ts";
import { selectRules } from "./rules.ts";
import { type ConformanceReport, type RuleResult, tryRules } from "./try_rules.ts";

/** The settings of a run, and the rules to try. */
export interface ConformanceOptions
  extends
    Pick<CheckOptions, "runtime" | "home" | "projectDir" | "withheld" | "runtimes" | "limits">,
    Pick<CheckOptions, "config" | "secrets" | "signal"> {
  /** Ids of the rules to try. Default: all. */
  readonly rules?: readonly string[];
  /** Receives each result as it comes. */
  readonly onRule?: (result: RuleResult) => void;
}

/**
 * Tries the rules on the plugin in `dir` (absolute). A plugin that breaks them is a report, not an error.
 *
 * @throws {HostError} `manifest.*`, `capability.*` and `cage.*` when it cannot be started at all,
 * `check.conformance_mcp` for a server of MCP, `check.rule_unknown`, `project.config_invalid` when a required secret is
 * missing.
 */
export async function checkConformance(dir: string, options: ConformanceOptions): Promise<ConformanceReport> {
  const { runtime, home, projectDir = null, runtimes = {}, limits = {}, rules: ids, ...rest } = options;
  const rules = selectRules(ids);
  const manifest = grantedManifest((await readManifest(dir, runtime.files)).manifest, options.withheld ?? []);
  if (speaksMcp(manifest)) {
    const message = `"${manifest.name}" speaks MCP, and these rules are of the plugin wire`;
    throw new HostError("check.conformance_mcp", message, { hint: "Leave --conformance away" });
  }
  const whole = await runConfig(manifest, options, runtime);
  const secrets = new InstanceSecrets(new SecretMask());
  await using storage = createStorage({ runtime, home });
  const client = { plugin: manifest.name, instance: manifest.name, manifest };
  const complete = (request: CageRequest): CageRequest => secrets.inCage(request, () => whole);
  const wire = { runtime, home, runtimes, projectDir, ...limits, dir, manifest, complete };
  return await tryRules({
    ...rest,
    config: secrets.outward(manifest, whole),
    rules,
    manifest,
    clock: runtime.clock,
    storageAvailable: isStorageAvailable(runtime),
    open: (listeners) => openPluginWire(wire, listeners),
    onRequest: async (method, params, signal) => {
      if (!method.startsWith("kaged.storage.")) throw notOffered(method);
      return await storage.handle(client, { method, params, signal });
    },
  });
}
