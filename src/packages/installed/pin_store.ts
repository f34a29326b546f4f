/**
 * Writes the pinned tools of installed MCP servers, under the lock of the home.
 *
 * @module
 */
import { withHomeLock } from "../../core/files/file_lock.ts";
import { HostError } from "../../core/errors/host_error.ts";
import {
  type PinFile,
  pinFile,
  pinFileText,
  readPinFile,
  withApproved,
  withVersion,
} from "../../core/pins/pin_file.ts";
import { type PinnedTools, type ToolChanges, toolChanges, type VersionPins } from "../../core/pins/tool_pins.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { canonicalText } from "../../core/values/canonical_text.ts";

/** The home, and the ports that writing to it needs. */
export interface PinPorts {
  readonly home: string;
  readonly runtime: Pick<Runtime, "files" | "ids" | "clock" | "databases">;
}

/** Pins that were written, and how they differ from those of the version before; null where none is known. */
export interface PinnedVersion {
  readonly pins: VersionPins;
  readonly changes: ToolChanges | null;
  /** False where the version had pins already: those hold. */
  readonly isNew: boolean;
}

/** Pins the tools of a version, unless it has pins: the first process that lists the tools decides. */
export async function pinVersion(
  plugin: string,
  hash: string,
  tools: PinnedTools,
  ports: PinPorts,
): Promise<PinnedVersion> {
  const { clock } = ports.runtime;
  let isNew = false;
  const file = await changePins(plugin, ports, (before) => {
    if (before.some((one) => one.hash === hash)) return before;
    isNew = true;
    return withVersion(before, {
      hash,
      pinned_at: new Date(clock.now()).toISOString(),
      tools,
      quarantined: {},
      missing: [],
    });
  });
  const pins = file.find((one) => one.hash === hash)!;
  const older = file.find((one) => one.hash !== hash);
  return { pins, changes: older ? toolChanges(older.tools, pins.tools) : null, isNew };
}

/** Notes how the newest listing of a version differs from its pins; returns the pins as they are now. */
export async function noteDrift(
  plugin: string,
  pins: VersionPins,
  drift: Pick<VersionPins, "quarantined" | "missing">,
  ports: PinPorts,
): Promise<VersionPins> {
  const file = await changePins(plugin, ports, (before) => {
    const own = before.find(({ hash }) => hash === pins.hash) ?? pins;
    // A tool that was approved meanwhile, in the very form that was listed, is not held again.
    const held = Object.entries(drift.quarantined).filter(([name, { sha256 }]) => own.tools[name]?.sha256 !== sha256);
    return withVersion(before, { ...own, ...drift, quarantined: Object.fromEntries(held) });
  });
  return file[0]!;
}

/**
 * Approves quarantined tools: `wanted` gives for each the hash of the definition that was shown. Returns the pins before
 * and after.
 *
 * @throws {HostError} `tool.not_quarantined`, or `tool.approval_stale` when the server lists another definition by now.
 */
export async function approvePins(
  plugin: string,
  hash: string,
  wanted: Readonly<Record<string, string>>,
  ports: PinPorts,
): Promise<{ readonly before: VersionPins; readonly after: VersionPins }> {
  let own: VersionPins | undefined;
  const file = await changePins(plugin, ports, (before) => {
    own = before.find((one) => one.hash === hash);
    for (const [tool, sha256] of Object.entries(wanted)) requireShown(plugin, tool, sha256, own);
    return withVersion(before, withApproved(own!, Object.keys(wanted)));
  });
  return { before: own!, after: file[0]! };
}

function requireShown(plugin: string, tool: string, sha256: string, pins: VersionPins | undefined): void {
  const held = Object.keys(pins?.quarantined ?? {});
  if (!held.includes(tool)) throw notQuarantined(plugin, tool, held);
  const listed = pins!.quarantined[tool]!.sha256;
  if (listed === sha256) return;
  throw new HostError("tool.approval_stale", `"${plugin}.${tool}" is listed with another definition by now`, {
    data: { plugin, tool, approved: sha256, listed },
    hint: "Look at it again, then decide",
  });
}

/** The error of an approval of a tool that is not held. */
export function notQuarantined(plugin: string, tool: string, held: readonly string[]): HostError {
  return new HostError("tool.not_quarantined", `No tool "${tool}" of "${plugin}" is quarantined`, {
    data: { plugin, tool, quarantined: held },
    hint: held.length === 0 ? "None is: there is nothing to approve" : `Quarantined: ${held.join(", ")}`,
  });
}

/**
 * Changes the pins of a plugin; returns them as they are then. A file that cannot be read is set aside, as if the plugin
 * had a version whose pins are lost: nothing of it is trusted.
 */
async function changePins(
  plugin: string,
  { home, runtime }: PinPorts,
  change: (before: PinFile) => PinFile,
): Promise<PinFile> {
  const { files, ids } = runtime;
  return await withHomeLock(home, runtime, async () => {
    const path = pinFile(home, plugin);
    const before = await readPinFile(home, plugin, files).catch(() => null);
    const after = change(before ?? []);
    if (before !== null && canonicalText(before) === canonicalText(after)) return after;
    await files.makeDir(`${home}/pins`, { recursive: true, mode: 0o700 });
    if (before === null) await files.rename(path, `${path}.unreadable`);
    const fresh = `${home}/pins/.${ids.create("pins")}`;
    await files.write(fresh, pinFileText(after));
    await files.rename(fresh, path);
    return after;
  });
}
