/**
 * The file of a plugin's pins, `<home>/pins/<plugin>.json`: of the installed version, and of the one before it, so that an
 * upgrade can show how the tools differ and a version that comes back has its pins.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import type { PinnedTool, PinnedTools, VersionPins } from "./tool_pins.ts";

/** Pins by version, the newest first. */
export type PinFile = readonly VersionPins[];

const FORMAT = 1;
const KEPT_VERSIONS = 2;

/** Returns the path of a plugin's pins. */
export function pinFile(home: string, plugin: string): string {
  return `${home}/pins/${plugin}.json`;
}

/**
 * Reads the pins of a plugin; none where there is no file.
 *
 * @throws {HostError} `plugin.pins_unreadable`: nothing can be compared then, so that no tool may be used.
 */
export async function readPinFile(home: string, plugin: string, files: Files): Promise<PinFile> {
  const path = pinFile(home, plugin);
  try {
    if (await files.info(path) === null) return [];
    return parsePins(JSON.parse(await files.readText(path)));
  } catch (cause) {
    throw new HostError("plugin.pins_unreadable", `Cannot read the pinned tools of "${plugin}" in "${path}"`, {
      data: { plugin, file: path },
      hint:
        `A host that starts "${plugin}" sets the file aside and holds every tool; then run kaged plugin approve-tools`,
      cause,
    });
  }
}

/** Returns the text of a file of pins. */
export function pinFileText(versions: PinFile): string {
  return `${JSON.stringify({ format: FORMAT, versions }, null, 1)}\n`;
}

/** Returns the file with the pins of one version put first; the oldest goes. */
export function withVersion(file: PinFile, pins: VersionPins): PinFile {
  return [pins, ...file.filter(({ hash }) => hash !== pins.hash)].slice(0, KEPT_VERSIONS);
}

/** Returns the pins of a version with tools approved: each as it is quarantined is pinned from now on. */
export function withApproved(pins: VersionPins, names: readonly string[]): VersionPins {
  const approved = Object.entries(pins.quarantined).filter(([name]) => names.includes(name));
  const left = Object.entries(pins.quarantined).filter(([name]) => !names.includes(name));
  return {
    ...pins,
    tools: { ...pins.tools, ...Object.fromEntries(approved) },
    quarantined: Object.fromEntries(left),
  };
}

function parsePins(data: unknown): PinFile {
  if (!isMap(data) || data.format !== FORMAT || !Array.isArray(data.versions)) {
    throw new TypeError("It is no file of pins");
  }
  return data.versions.map((one): VersionPins => {
    const isWhole = isMap(one) && typeof one.hash === "string" && typeof one.pinned_at === "string" &&
      Array.isArray(one.missing) && one.missing.every((name) => typeof name === "string");
    if (!isWhole) throw new TypeError("A version is not whole");
    const { hash, pinned_at, missing } = one as unknown as VersionPins;
    return { hash, pinned_at, tools: toolsOf(one.tools), quarantined: toolsOf(one.quarantined), missing };
  });
}

function toolsOf(data: unknown): PinnedTools {
  const isTool = (one: unknown): one is PinnedTool =>
    isMap(one) && typeof one.sha256 === "string" && isMap(one.definition);
  if (!isMap(data) || !Object.values(data).every(isTool)) throw new TypeError("A tool is not whole");
  return data as PinnedTools;
}
