/**
 * `kaged plugin info`: what a plugin keeps, what it may use, and who holds it to that.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { resolveLimits } from "../../core/cage/limits/cage_limits.ts";
import { chooseTier } from "../../core/cage/limits/choose_tier.ts";
import type { CageLimitStatus } from "../../core/cage/limits/limit_tier.ts";
import { homeFolder } from "../../core/home.ts";
import { hostLimits } from "../../core/host/host_limits.ts";
import { printable, type Terminal } from "../terminal.ts";
import { withStorage } from "../with_storage.ts";

interface InfoFlags {
  readonly home?: string;
  readonly json?: boolean;
}

/** Adds the command. */
export function addPluginInfo(parent: Command, terminal: Terminal): void {
  parent.command("info")
    .summary("show what a plugin keeps and may use")
    .description(
      "Shows a plugin's tables with their rows, and the bytes they take, indexes and search data included; " +
        "and the limits of its cage, with who holds it to them on this machine.",
    )
    .argument("<name>", "the plugin's name")
    .option("--home <dir>", "operator's folder (default: $KAGED_HOME, else ~/.local/share/kaged)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action((name: string, flags: InfoFlags) => showInfo(name, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged plugin info notes
  kaged plugin info notes --json
With --json it prints { "name", "limits": { "tier", "memory_mb", "cpu_shares", "pids" },
"storage": { "tables": [ { "name", "rows", "bytes" } ], "bytes" } }.`;

async function showInfo(name: string, flags: InfoFlags, terminal: Terminal): Promise<void> {
  const home = flags.home === undefined ? undefined : resolve(terminal.cwd, flags.home);
  const report = await withStorage({ home, plugin: name }, (storage) => storage.report(name));
  const limits = await limitsOf(name, home);
  if (flags.json) {
    terminal.out.line(JSON.stringify({ name, limits, storage: report }, null, 2));
    return;
  }
  const { tier, memory_mb, cpu_shares, pids } = limits;
  terminal.out.line(`${name}: ${memory_mb} MB, ${cpu_shares} CPU shares, ${pids} processes and threads, by ${tier}`);
  const { tables, bytes } = report;
  terminal.out.line(`${name}: ${tables.length} ${tables.length === 1 ? "table" : "tables"}, ${bytes} bytes`);
  for (const table of tables) {
    terminal.out.line(printable(`  ${table.name}  ${table.rows ?? "?"} rows, ${table.bytes} bytes`));
  }
}

/** The limits of the plugin's cage by config.toml, and who would enforce them here. */
async function limitsOf(name: string, given: string | undefined): Promise<CageLimitStatus> {
  const { detectRuntime } = await import("../../adapters/default.ts");
  const { readOperatorConfig } = await import("../../core/project/operator_config.ts");
  const runtime = await detectRuntime();
  const operator = await readOperatorConfig(homeFolder(given, runtime.env), runtime.files);
  const { limits, pluginLimits } = hostLimits({}, operator);
  const { tier } = await chooseTier(runtime);
  return { tier: tier.name, ...resolveLimits(limits, Object.hasOwn(pluginLimits, name) ? pluginLimits[name] : {}) };
}
