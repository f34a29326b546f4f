/**
 * Prints a plugin before it is installed: its manifest, its capabilities, and the changes that an upgrade makes.
 *
 * @module
 */
import { type CapabilityDescription, describeCapability } from "../packages/consent/describe_capability.ts";
import { describeExposure, isExposure, type SecretDescription } from "../packages/consent/describe_secret.ts";
import { withWithheld } from "../packages/consent/withholding.ts";
import { contributionsOf } from "../packages/install/consent_offer.ts";
import type { Contributions } from "../packages/install/consent_types.ts";
import type { InstallPlan } from "../packages/install/plan.ts";
import { sourceText } from "../packages/install/source.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import { speaksMcp } from "../core/manifest/speaks_mcp.ts";
import type { Operator } from "./operator.ts";
import type { Printer } from "./terminal.ts";

/** Prints the plan that the operator is asked about; `withheld` is left out whatever the answer. */
export function printPlan(plan: InstallPlan, withheld: readonly string[], operator: Operator): void {
  const { out } = operator.terminal;
  const isOpen = (capability: string): boolean => !withheld.includes(capability);
  if (plan.installed) printUpgrade(plan, isOpen, operator);
  else {
    const { name, version, kaged_api, description, author, license, homepage } = plan.manifest;
    out.line("Validating manifest...");
    const source = sourceText(plan.source);
    printFacts({ name, version, kaged_api, description, author, license, homepage, source }, out);
    const capabilities = plan.manifest.capabilities.filter(isOpen);
    printCapabilities(describeAll({ name, capabilities }, operator), out);
  }
  printContributions(contributionsOf(plan.manifest), out);
  printWithheld(describeAll({ name: plan.manifest.name, capabilities: withheld }, operator), out);
  for (const { path, message } of plan.warnings) {
    out.line(out.paint.yellow(`  warning: ${path === "" ? "" : `${path}: `}${message}`));
  }
  out.line();
}

function printUpgrade(plan: InstallPlan, isOpen: (capability: string) => boolean, operator: Operator): void {
  const { manifest: { name, version, license }, installed, diff: { removed }, source } = plan;
  const added = plan.diff.added.filter(isOpen);
  const { out } = operator.terminal;
  const { line, paint } = out;
  const { record } = installed!;
  line(`Plugin ${name} is already installed (version ${installed!.version}).`);
  line(`New version: ${version}` + (version === installed!.version ? ", with other files" : ""));
  if (license !== undefined) line(`License: ${license}`);
  if (record.source !== undefined && record.source !== sourceText(source)) {
    line(`Source: ${sourceText(source)} (was ${record.source})`);
  }
  if (installed!.isTampered) line(paint.yellow("Its installed files were changed: every capability counts as new."));
  line();
  if (added.length + removed.length === 0) return line("Capability changes: none");
  line("Capability changes:");
  const width = Math.max(...[...added, ...removed].map((capability) => capability.length)) + 2;
  const capabilities = added.filter((one) => !isExposure(one));
  const described = [
    ...describeAll({ name, capabilities }, operator).map((one) => withWithheld(one, record.withheld)),
    ...added.filter(isExposure).map(describeExposure),
  ];
  for (const description of described) {
    line(paint.green(`  + ${description.capability.padEnd(width)}(NEW)`));
    explain(description, out);
  }
  for (const capability of removed) line(paint.red(`  - ${capability.padEnd(width)}(REMOVED)`));
}

/** Returns the capabilities of a plugin in plain words, for whatever project uses it. */
export function describeAll(
  { name, capabilities }: Pick<Manifest, "name" | "capabilities">,
  { home, runtime }: Operator,
): CapabilityDescription[] {
  const paths = { installDir: `${home}/plugins/${name}`, home, projectDir: null, userHome: runtime.env("HOME") };
  return capabilities.map((capability) => describeCapability(capability, { paths }));
}

/** Prints the facts that are known, one on each line. */
export function printFacts(facts: Readonly<Record<string, unknown>>, { line }: Printer): void {
  for (const [key, value] of Object.entries(facts)) {
    if (value !== undefined && value !== null) line(`  ${key}: ${value}`);
  }
}

/** Prints capabilities, each with its meaning and its danger below it; those in `added` are marked as new. */
export function printCapabilities(
  capabilities: readonly CapabilityDescription[],
  out: Printer,
  added: readonly string[] = [],
): void {
  out.line(capabilities.length === 0 ? "  capabilities: none" : "  capabilities:");
  for (const description of capabilities) {
    const { capability } = description;
    out.line(`    - ${shownCapability(capability)}${added.includes(capability) ? "  (NEW)" : ""}`);
    explain(description, out);
  }
}

/** Prints the hosts that a plugin was granted beyond what it asks for. */
export function printAdded(added: readonly CapabilityDescription[], out: Printer): void {
  if (added.length > 0) out.line("  added by you:");
  for (const description of added) {
    out.line(`    - ${shownCapability(description.capability)}`);
    explain(description, out);
  }
}

/** Prints the capabilities that a plugin asks for and runs without. */
export function printWithheld(withheld: readonly CapabilityDescription[], { line, paint }: Printer): void {
  if (withheld.length > 0) line("  withheld:");
  for (const { capability, text } of withheld) {
    line(`    - ${capability}`);
    line(paint.dim(`      ${text.replace(/^Can /, "Cannot ")}`));
  }
}

/** Prints the secrets, roles, hooks and tools of a plugin, which need no grant and still reach into the agent's work. */
export function printContributions(
  { roles, hooks, tools, protocol, server, secrets }: Contributions,
  out: Printer,
): void {
  const { line } = out;
  printServer(server, out);
  printSecrets(secrets, out);
  const named = speaksMcp({ runtime: protocol })
    ? ["an MCP server lists them when it runs"]
    : tools.map(({ name }) => name);
  for (const [what, names] of Object.entries({ roles, hooks, tools: named })) {
    if (names.length > 0) line(`  ${what}: ${names.join(", ")}`);
  }
}

/** Prints where a server elsewhere is, and that nothing of it runs here. */
export function printServer(url: string | undefined, { line }: Printer): void {
  if (url !== undefined) line(`  server: talks to ${url}; nothing of it runs on this machine`);
}

/** Prints what becomes of each value that the operator is asked for. */
export function printSecrets(secrets: readonly SecretDescription[], { line, paint }: Printer): void {
  if (secrets.length > 0) line("  secrets:");
  for (const { text, danger } of secrets) {
    line(`    - ${text}`);
    if (danger !== null) line(paint.yellow(`      danger: ${danger}`));
  }
}

function explain({ text, danger }: CapabilityDescription, { line, paint }: Printer): void {
  line(paint.dim(`      ${text}`));
  if (danger !== null) line(paint.yellow(`      danger: ${danger}`));
}

/** Returns a capability as manifests write it, where that differs: `net: []`. */
export function shownCapability(capability: string): string {
  return capability === "net:[]" ? "net: []" : capability;
}
