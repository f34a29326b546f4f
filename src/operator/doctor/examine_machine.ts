/**
 * Finds out whether this machine can cage plugins and hold them to their limits, and what to install where it cannot.
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import { chooseTier } from "../../core/cage/limits/choose_tier.ts";
import { cageRows, judgeLimits, judgeUser } from "./cage_rows.ts";
import { installCommand, interpreterRows } from "./interpreter_rows.ts";
import { kernelRows } from "./kernel_rows.ts";
import type { MachineReport, MachineRow } from "./report.ts";

/** Architectures the cage's filter is written for. */
const ARCHITECTURES = new Set(["x86_64", "aarch64"]);

/**
 * Examines the machine.
 *
 * @param runtime The runtime of this process.
 * @param home A folder the cage may use for the length of the examination, absolute.
 * @param runtimes Programs that the operator named: `[runtimes]` of config.toml.
 */
export async function examineMachine(
  runtime: Runtime,
  home: string,
  runtimes: Readonly<Record<string, string>> = {},
): Promise<MachineReport> {
  const install = await installCommand(runtime);
  const { bubblewrap, cage, network, error } = await cageRows(runtime, home, { install, runtimes });
  // On another system the rest has nothing to look at.
  if (runtime.platform !== "linux") return { ok: false, checks: [platformRow(runtime), cage] };
  const rows: MachineRow[] = [
    platformRow(runtime),
    judgeUser(runtime.uid, error),
    bubblewrap,
    ...await kernelRows(runtime, error),
    judgeLimits(await chooseTier(runtime), runtime.uid),
    cage,
    ...(network === null ? [] : [network]),
    sqliteRow(runtime),
    ...await interpreterRows(runtime, { install, runtimes }),
  ];
  return { ok: rows.every((row) => row.status !== "missing" || row.optional), checks: rows };
}

function platformRow({ platform, arch, name, version }: Runtime): MachineRow {
  const detail = `${platform} ${arch}, on ${name} ${version}`;
  if (platform !== "linux") {
    const hint = "Plugins are caged with Linux namespaces: use a Linux machine or a VM";
    return { id: "platform", status: "missing", detail, hint, code: "cage.unsupported" };
  }
  if (!ARCHITECTURES.has(arch)) {
    return { id: "platform", status: "missing", detail, hint: "Use a machine with an x86_64 or aarch64 processor" };
  }
  return { id: "platform", status: "ok", detail };
}

function sqliteRow({ databases, name }: Runtime): MachineRow {
  const version = databases.version();
  if (version !== null) return { id: "sqlite", status: "ok", detail: `SQLite ${version}, built into ${name}` };
  return {
    id: "sqlite",
    status: "degraded",
    detail: `This ${name} has no SQLite: plugins get no storage`,
    hint: "Use an official build of the runtime",
  };
}
