/**
 * What this machine can enforce, and what to install where it cannot.
 *
 * @module
 */
import type { Runtime } from "../ports.ts";
import { cageRows } from "./cage_rows.ts";
import { installCommand } from "./install_command.ts";
import { interpreterRows } from "./interpreter_rows.ts";
import { namespaceRow } from "./namespace_row.ts";
import type { MachineReport, MachineRow } from "./report.ts";

/** Architectures the cage's filter is written for. */
const ARCHITECTURES = new Set(["x86_64", "aarch64"]);

/**
 * Examines the machine.
 *
 * @param runtime The runtime of this process.
 * @param home A folder the cage may use for the length of the examination, absolute.
 */
export async function examineMachine(runtime: Runtime, home: string): Promise<MachineReport> {
  const install = await installCommand(runtime);
  const [bubblewrap, cage] = await cageRows({ runtime, home, install });
  const rows: MachineRow[] = [
    platformRow(runtime),
    bubblewrap,
    await namespaceRow(runtime),
    cage,
    sqliteRow(runtime),
    ...await interpreterRows(runtime, install),
  ];
  return { ok: rows.every((row) => row.status !== "missing" || row.optional), checks: rows };
}

function platformRow({ platform, arch, name, version }: Runtime): MachineRow {
  const detail = `${platform} ${arch}, on ${name} ${version}`;
  if (platform !== "linux") {
    return { id: "platform", status: "missing", detail, hint: "Plugins need Linux: use a Linux machine or a VM" };
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
