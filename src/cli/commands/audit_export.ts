/**
 * `kaged audit export`: the lines of a trail, as they are, in one file or on standard output.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { TrailPlace } from "../../core/audit/trail_files.ts";
import { HostError } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";
import { defined } from "../../core/values/plain_data.ts";
import { addEventOptions, type EventFlags, queryOf, TRAIL_ARGUMENT, trailNamed } from "../audit_options.ts";
import { operateCheck, type Operator } from "../operator.ts";
import { counted, type Terminal } from "../terminal.ts";
import { printVerdict } from "./audit_verify.ts";

interface ExportFlags extends EventFlags {
  readonly output?: string;
  readonly text?: string;
}

export function addAuditExport(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = addEventOptions(parent.command("export"))
    .summary("write events as lines of JSON, and verify their trail")
    .description(
      "Writes the lines of a trail as they are, the oldest first, and says on standard error whether the trail\n" +
        "passes; ends with 1 where it does not.",
    )
    .argument("[trail]", TRAIL_ARGUMENT)
    .option("--text <text>", "events that contain this text")
    .option("-o, --output <file>", "the file to write, which must not exist (default: standard output)")
    .addHelpText("after", EXAMPLES);
  operateCheck(command, { terminal, exit }, exportTrail);
}

const EXAMPLES = `
Examples:
  kaged audit export my-project -o november.jsonl --since 2026-11-01 --until 2026-12-01
  kaged audit export my-project --type plugin.net_refused | jq .data.host
With --json and -o it prints { "file", "events", "verdict" }, the verdict as kaged audit verify --json has it.`;

/** Characters that are put together before they are written. */
const PIECE = 1024 * 1024;

async function exportTrail(
  operator: Operator,
  named: string | undefined,
  { output, text, ...flags }: ExportFlags,
): Promise<boolean> {
  const { home, json, runtime: { files }, terminal: { out, err, cwd } } = operator;
  const place = { home, project: await trailNamed(named, home, files) };
  const file = output === undefined ? null : resolve(cwd, output);
  if (file !== null && await files.info(file) !== null) {
    throw new HostError("host.misuse", `"${file}" exists already`, { hint: "Name a new file" });
  }
  const { verifyTrail } = await import("../../core/audit/verify_trail.ts");
  const verdict = flags.calls ? null : await verifyTrail(place, files);
  if (file !== null) await files.write(file, "");
  let events = 0;
  let waiting = "";
  for await (const line of chosenLines(place, { ...flags, ...defined({ text }) }, files)) {
    events++;
    if (file === null) out.exact(line);
    else if ((waiting += `${line}\n`).length >= PIECE) {
      await files.append(file, waiting);
      waiting = "";
    }
  }
  if (file !== null) await files.append(file, waiting);
  const isPrinted = json && file !== null;
  if (isPrinted) out.json({ file, events, verdict });
  else if (file !== null) out.line(`${file}: ${counted(events, "event")}`);
  if (verdict !== null && !isPrinted) printVerdict(verdict, err);
  return verdict?.ok ?? true;
}

async function* chosenLines(
  place: TrailPlace,
  { text, ...flags }: EventFlags & { readonly text?: string },
  files: Files,
): AsyncGenerator<string> {
  const [{ eventIn, trailMatcher }, { trailFiles }, { linesForward }] = await Promise.all([
    import("../../core/audit/read_trail.ts"),
    import("../../core/audit/trail_files.ts"),
    import("../../core/files/lines_of_file.ts"),
  ]);
  const query = { ...queryOf(flags), ...defined({ text }) };
  const fits = trailMatcher(query);
  const decoder = new TextDecoder();
  for (const path of (await trailFiles(place, query.trail ?? "audit", files)).reverse()) {
    for await (const { bytes, isWhole } of linesForward(path, files)) {
      if (bytes === null || !isWhole) continue;
      const line = decoder.decode(bytes);
      const event = eventIn(line);
      // Without a choice every line goes along, also one that was damaged: the export is evidence too.
      if (event === null ? Object.keys(query).length === 0 : fits(event, line)) yield line;
    }
  }
}
