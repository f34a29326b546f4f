/**
 * `kaged audit`: reads the trails of a home, whether a host runs or not.
 *
 * @module
 */
import type { Command } from "commander";
import type { StoredEvent, TrailPage, TrailQuery } from "../../core/audit/read_trail.ts";
import type { Files } from "../../core/ports/ports.ts";
import { defined } from "../../core/values/plain_data.ts";
import { addEventOptions, type EventFlags, queryOf, TRAIL_ARGUMENT, trailNamed } from "../audit_options.ts";
import { operate, type Operator } from "../operator.ts";
import { wholeNumber } from "../options.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { addAuditExport } from "./audit_export.ts";
import { addAuditVerify } from "./audit_verify.ts";

interface PageFlags extends EventFlags {
  readonly lines: number;
  readonly cursor?: string;
}

export function addAudit(kaged: Command, terminal: Terminal, exit: (code: number) => void): void {
  const audit = kaged.command("audit")
    .summary("read, export and verify the audit trails")
    .description(
      "Reads the audit trails of a home: what hosts, plugins and commands did. Each project has a trail of\n" +
        "security and lifecycle events, chained so that a change shows, and one of calls; _operator is the\n" +
        "trail of commands.",
    );
  const list = audit.command("list")
    .summary("show the newest events")
    .description("Shows the newest events of a trail, the newest first.")
    .argument("[trail]", TRAIL_ARGUMENT)
    .addHelpText("after", EXAMPLES);
  operate(
    addPageOptions(list),
    terminal,
    (operator: Operator, trail: string | undefined, flags: PageFlags) => show(operator, trail, flags),
  );
  const search = audit.command("search")
    .summary("show events that contain a text")
    .description("Shows the events of a trail that contain a text, whatever its case; the newest first.")
    .argument("<text>", "the text")
    .argument("[trail]", TRAIL_ARGUMENT)
    .addHelpText("after", EXAMPLES);
  operate(
    addPageOptions(search),
    terminal,
    (operator: Operator, text: string, trail: string | undefined, flags: PageFlags) =>
      show(operator, trail, flags, text),
  );
  addAuditExport(audit, terminal, exit);
  addAuditVerify(audit, terminal, exit);
}

const EXAMPLES = `
Examples:
  kaged audit list my-project --type 'plugin.storage_*' --since 2026-11-01
  kaged audit list my-project --calls --plugin notes -n 20
  kaged audit search 192.168 my-project
With --json it prints { "events": [ … ], "next": "<cursor>" | null }; pass the cursor with --cursor for older events.`;

function addPageOptions(command: Command): Command {
  return addEventOptions(command)
    .option("-n, --lines <count>", "how many events", wholeNumber("a number from 1 to 1000", 1, 1000), 50)
    .option("--cursor <cursor>", "go on where the page before ended");
}

async function show(operator: Operator, named: string | undefined, flags: PageFlags, text?: string): Promise<void> {
  const { home, json, runtime: { files }, terminal: { out, err } } = operator;
  const project = await trailNamed(named, home, files);
  const query = { ...queryOf(flags), ...defined({ text, cursor: flags.cursor }) };
  const { events, next } = await readPage({ home, project }, query, flags.lines, files);
  if (json) return out.json({ events, next });
  for (const event of events) out.line(eventLine(event, out));
  if (events.length === 0) err.line("No event fits");
  if (next !== null) err.line(err.paint.dim(`older events: --cursor ${next}`));
}

/** Reads until the page is full: one call of the reader looks at a part of a long trail. */
async function readPage(
  place: { readonly home: string; readonly project: string },
  query: TrailQuery,
  limit: number,
  files: Files,
): Promise<TrailPage> {
  const { readTrail } = await import("../../core/audit/read_trail.ts");
  const events: StoredEvent[] = [];
  let { cursor } = query;
  for (;;) {
    const asked = { ...query, limit: limit - events.length, ...defined({ cursor }) };
    const page = await readTrail(place, asked, files);
    events.push(...page.events);
    if (page.next === null || events.length >= limit) return { events, next: page.next };
    cursor = page.next;
  }
}

function eventLine({ timestamp, type, name, instance, data, seq }: StoredEvent, { paint }: Printer): string {
  const subject = name === "host" ? "host" : instance;
  const facts = Object.entries(data).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(" ");
  const number = seq === undefined ? "" : `${seq} `;
  return `${paint.dim(`${number}${timestamp}`)} ${type} ${subject} ${paint.dim(facts)}`.trimEnd();
}
