/**
 * Finds rules of `[[net_rules]]` that limit nobody: a slip in a name would leave the operator without the limit.
 *
 * @module
 */
import { readCapabilities } from "../manifest/capability.ts";
import { readManifest } from "../manifest/read_manifest.ts";
import type { Files } from "../ports/ports.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { readLocalConfig } from "./local_config.ts";
import type { NetRule, RulePlace } from "./net_rules.ts";
import type { OperatorConfig } from "./operator_config.ts";
import type { Issue } from "./types.ts";

/** A plugin that rules may be about. */
export interface RuledPlugin {
  readonly plugin: string;
  /** Undefined where nothing says which it came from. */
  readonly package?: string | undefined;
  /** Null where its manifest is not at hand: rules about it are then not judged by their host. */
  readonly capabilities: readonly string[] | null;
}

/** Returns a warning for each rule whose plugin is none of `plugins`, or is not granted the rule's host. */
export function netRuleWarnings(rules: readonly NetRule[], plugins: readonly RuledPlugin[]): Issue[] {
  return rules.flatMap((rule): Issue[] => {
    const { plugin, host, port, written } = rule;
    const meant = plugins.filter((one) => plugin === one.plugin || plugin === one.package);
    if (meant.length === 0) {
      const names = [...new Set(plugins.flatMap((one) => [one.plugin, one.package ?? one.plugin]))];
      const message = `The rule limits nobody: no plugin ${JSON.stringify(plugin)} is installed`;
      const hint = didYouMean(plugin, names, "Correct plugin, install the plugin, or remove the rule");
      return [{ code: "config.net_rule_plugin", message, ...placeIn(written.plugin), hint }];
    }
    if (meant.some(({ capabilities }) => capabilities === null || isGranted(rule, capabilities))) return [];
    const granted = [...new Set(meant.flatMap(({ capabilities }) => grantedHosts(capabilities ?? [])))];
    const target = `${host}:${port}`;
    const message = `The rule limits nothing: plugin ${JSON.stringify(plugin)} is not granted net:${target}`;
    const otherwise = granted.length > 0 ? `Its hosts: ${granted.join(", ")}` : "It has no hosts: remove the rule";
    return [{
      code: "config.net_rule_host",
      message,
      ...placeIn(written.host),
      hint: didYouMean(target, granted, otherwise),
    }];
  });
}

/** Returns the warnings about a config for the plugins that are installed in a home. */
export async function homeRuleWarnings(
  home: string,
  { netRules }: Pick<OperatorConfig, "netRules">,
  files: Files,
): Promise<Issue[]> {
  if (netRules.length === 0) return [];
  const { records } = await readLocalConfig(home, files);
  const plugins = await Promise.all([...records.values()].map(async ({ name, package: pkg }) => {
    const found = await readManifest(`${home}/plugins/${name}`, files).catch(() => null);
    return { plugin: name, package: pkg, capabilities: found?.manifest.capabilities ?? null };
  }));
  return netRuleWarnings(netRules, plugins);
}

/** Returns a warning as one line for a person. */
export function warningLine({ file, line, column, message, hint }: Issue): string {
  return `${file}:${line}:${column}: ${message}${hint === undefined ? "" : `. ${hint}`}`;
}

const placeIn = ({ file, line, column, path }: RulePlace): RulePlace => ({ file, line, column, path });

function isGranted({ host, port }: NetRule, capabilities: readonly string[]): boolean {
  return readCapabilities(capabilities).some((one) =>
    one.kind === "net" && one.scope === "host" && one.host === host && (one.port === "*" || one.port === port)
  );
}

const grantedHosts = (capabilities: readonly string[]): string[] =>
  readCapabilities(capabilities).flatMap((one) =>
    one.kind === "net" && one.scope === "host" ? [`${one.host}:${one.port}`] : []
  );
