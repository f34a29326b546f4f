/**
 * Pinned tools of an MCP server, for a person: how many there are, and how those that are held differ.
 *
 * @module
 */
import { readPinFile } from "../core/pins/pin_file.ts";
import { type QuarantinedTool, quarantinedTools, toolDiff } from "../core/pins/tool_diff.ts";
import { type ToolChanges, toolChanges, type VersionPins } from "../core/pins/tool_pins.ts";
import type { Files } from "../core/ports/ports.ts";
import type { DiffLine } from "../core/values/line_diff.ts";
import { counted, type Printer } from "./terminal.ts";

/** The pins of an installed version, as commands show them. */
export interface ShownPins {
  readonly pins: VersionPins;
  /** Pins of the version before; null where none are known. */
  readonly older: VersionPins | null;
}

/**
 * Returns the pins of an installed version; null where nothing is pinned yet.
 *
 * @throws {HostError} `plugin.pins_unreadable`.
 */
export async function shownPins(home: string, plugin: string, hash: string, files: Files): Promise<ShownPins | null> {
  const file = await readPinFile(home, plugin, files);
  const pins = file.find((one) => one.hash === hash);
  return pins ? { pins, older: file.find((one) => one.hash !== hash) ?? null } : null;
}

/** Returns pins as JSON for a program. */
export function pinsJson({ pins, older }: ShownPins): Record<string, unknown> {
  const { pinned_at, tools, missing } = pins;
  const changes = older && toolChanges(older.tools, tools);
  return { pinned_at, count: Object.keys(tools).length, missing, quarantined: quarantinedTools(pins), changes };
}

/** Prints how many tools are pinned, and those that are held, each with its difference. */
export function printPins(plugin: string, shown: ShownPins, out: Printer): void {
  const { pins } = shown;
  const { tools, missing, pinned_at } = pins;
  const held = quarantinedTools(pins);
  out.line(`  tools: ${counted(Object.keys(tools).length, "tool")} pinned on ${pinned_at.slice(0, 10)}`);
  printToolChanges(shown, out);
  if (missing.length > 0) out.line(`    not listed any more: ${missing.join(", ")}`);
  if (held.length === 0) return;
  out.line(out.paint.yellow(`  quarantined: ${counted(held.length, "tool")}, which agents do not get`));
  for (const one of held) printQuarantined(plugin, one, out);
  out.hint(`Take them as they are: kaged plugin approve-tools ${plugin}`);
}

/** Prints one tool that is held, with the lines that differ. */
export function printQuarantined(plugin: string, { tool, kind, diff }: QuarantinedTool, out: Printer): void {
  const why = kind === "new" ? "new: you never agreed to it" : "other than you agreed to";
  out.line(`    ${out.paint.bold(`${plugin}.${tool}`)}  ${out.paint.yellow(why)}`);
  printDiff(diff, out);
}

/** Prints how the tools of a version differ from those of the version before. */
export function printToolChanges({ pins, older }: ShownPins, out: Printer): void {
  if (!older) return;
  const { added, changed, removed }: ToolChanges = toolChanges(older.tools, pins.tools);
  const parts: [string, readonly string[]][] = [["new", added], ["changed", changed], ["gone", removed]];
  const texts = parts.flatMap(([word, names]) => names.length > 0 ? [`${word} ${names.join(", ")}`] : []);
  if (texts.length > 0) out.line(`  tools since the version before: ${texts.join("; ")}`);
  for (const name of changed) {
    out.line(`    ${out.paint.bold(name)}`);
    printDiff(toolDiff(older.tools[name]!, pins.tools[name]!), out);
  }
}

function printDiff(diff: readonly DiffLine[], { line, paint }: Printer): void {
  for (const { mark, text } of diff) {
    const shown = `      ${mark} ${text}`;
    line(mark === "+" ? paint.green(shown) : mark === "-" ? paint.red(shown) : paint.dim(shown));
  }
}
