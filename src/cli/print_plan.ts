/**
 * Prints a plugin before it is installed: its manifest, its capabilities, and the changes that an upgrade makes.
 *
 * @module
 */
import { type ConsentPaths, describeCapability } from "../packages/consent/describe_capability.ts";
import type { InstallPlan } from "../packages/install/plan.ts";
import { sourceText } from "../packages/install/source.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import { printable, type Printer } from "./terminal.ts";

/** Prints the plan that the operator is asked about. */
export function printPlan(plan: InstallPlan, out: Printer, paths: Omit<ConsentPaths, "installDir">): void {
  const { manifest, warnings, installed } = plan;
  if (installed) printUpgrade(plan, out, paths);
  else printManifest(manifest, out, paths);
  for (const { path, message } of warnings) {
    out.line(out.paint.yellow(printable(`  warning: ${path === "" ? "" : `${path}: `}${message}`)));
  }
  out.line();
}

function printManifest(manifest: Manifest, out: Printer, paths: Omit<ConsentPaths, "installDir">): void {
  const { name, version, kaged_api, description, author, license, homepage, capabilities } = manifest;
  const { line } = out;
  line("Validating manifest...");
  for (const [key, value] of Object.entries({ name, version, kaged_api, description, author, license, homepage })) {
    if (value !== undefined) line(printable(`  ${key}: ${value}`));
  }
  line(capabilities.length === 0 ? "  capabilities: none" : "  capabilities:");
  for (const capability of capabilities) {
    line(printable(`    - ${shownCapability(capability)}`));
    explain(capability, "      ", out, { ...paths, installDir: manifest.name });
  }
}

function printUpgrade(plan: InstallPlan, out: Printer, paths: Omit<ConsentPaths, "installDir">): void {
  const { manifest: { name, version, license }, installed, diff: { added, removed }, source } = plan;
  const { line, paint } = out;
  const { record } = installed!;
  line(printable(`Plugin ${name} is already installed (version ${installed!.version}).`));
  line(printable(`New version: ${version}`) + (version === installed!.version ? ", with other files" : ""));
  if (license !== undefined) line(printable(`License: ${license}`));
  if (record.source !== undefined && record.source !== sourceText(source)) {
    line(printable(`Source: ${sourceText(source)} (was ${record.source})`));
  }
  if (installed!.isTampered) line(paint.yellow("Its installed files were changed: every capability counts as new."));
  line();
  if (added.length + removed.length === 0) return line("Capability changes: none");
  line("Capability changes:");
  const width = Math.max(...[...added, ...removed].map((capability) => capability.length)) + 2;
  for (const capability of added) {
    line(paint.green(printable(`  + ${capability.padEnd(width)}(NEW)`)));
    explain(capability, "      ", out, { ...paths, installDir: name });
  }
  for (const capability of removed) line(paint.red(printable(`  - ${capability.padEnd(width)}(REMOVED)`)));
}

function explain(capability: string, indent: string, { line, paint }: Printer, paths: ConsentPaths): void {
  const installDir = `${paths.home}/plugins/${paths.installDir}`;
  const { text, danger } = describeCapability(capability, { paths: { ...paths, installDir } });
  line(paint.dim(printable(indent + text)));
  if (danger !== null) line(paint.yellow(printable(`${indent}danger: ${danger}`)));
}

/** Returns a capability as manifests write it, where that differs: `net: []`. */
export function shownCapability(capability: string): string {
  return capability === "net:[]" ? "net: []" : capability;
}
