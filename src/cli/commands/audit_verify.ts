/**
 * `kaged audit verify`: checks the chains of audit trails.
 *
 * @module
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type ChainHead, parseHead } from "../../core/audit/chain.ts";
import type { TrailVerdict } from "../../core/audit/verify_trail.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { trailNamed } from "../audit_options.ts";
import { operateCheck, type Operator } from "../operator.ts";
import { counted, type Printer, type Terminal } from "../terminal.ts";

interface VerifyFlags {
  readonly head?: boolean;
  readonly against?: ChainHead;
}

export function addAuditVerify(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("verify")
    .summary("check that nothing was removed or changed")
    .description(
      "Checks the chain of a trail, or of every trail of the home: each line against the one before, the last\n" +
        "against the head file. It names the first line that does not fit, and ends with 1.",
    )
    .argument("[trail]", "id of the project, or _operator; all of them where none is named")
    .option("--head", "print only the head of a trail that passes, to be kept elsewhere")
    .addOption(
      new Option("--against <head>", "a head of this trail that was kept elsewhere").argParser((text) => {
        const head = parseHead(text);
        if (head === null) throw new InvalidArgumentError("It takes a head as --head prints it: <number>:<sha256>");
        return head;
      }),
    )
    .addHelpText("after", EXAMPLES);
  operateCheck(command, { terminal, exit }, verify);
}

const EXAMPLES = `
Examples:
  kaged audit verify
  kaged audit verify my-project --head > /mnt/elsewhere/head
  kaged audit verify my-project --against "$(cat /mnt/elsewhere/head)"
Whoever may write to the home can write a whole new chain: only a head kept elsewhere shows that.
With --json it prints { "ok", "trails": [ { "project", "ok", "broken", "files", "lines", "head", "mended", "expired",
"lost", "torn_bytes", "unchained" } ] }.`;

async function verify(
  operator: Operator,
  named: string | undefined,
  { head: onlyHead = false, against }: VerifyFlags,
): Promise<boolean> {
  const { home, json, runtime: { files }, terminal: { out, err } } = operator;
  if (named === undefined && (onlyHead || against)) {
    const hint = "Name the trail: a head is of one trail";
    throw new HostError("host.misuse", "--head and --against need the name of a trail", { hint });
  }
  const [{ verifyTrail }, { trailsIn }] = await Promise.all([
    import("../../core/audit/verify_trail.ts"),
    import("../../core/audit/trail_files.ts"),
  ]);
  const projects = named === undefined ? await trailsIn(home, files) : [await trailNamed(named, home, files)];
  const verdicts: TrailVerdict[] = [];
  for (const project of projects) {
    verdicts.push(await verifyTrail({ home, project }, files, against === undefined ? {} : { against }));
  }
  const ok = verdicts.every((verdict) => verdict.ok);
  if (json) out.json({ ok, trails: verdicts });
  else if (onlyHead && ok) out.line(verdicts[0]?.head ?? "");
  else for (const verdict of verdicts) printVerdict(verdict, onlyHead ? err : out);
  if (verdicts.length === 0 && !json) err.line("No host or command has written here yet");
  return ok;
}

/** Prints a verdict and everything that the trail itself says is not in it. */
export function printVerdict(verdict: TrailVerdict, printer: Printer): void {
  const { project, ok, broken, files, lines, mended, expired, lost, torn_bytes, unchained } = verdict;
  const { line, paint } = printer;
  if (ok) printer.done(`${project}: ${counted(lines, "line")} in ${counted(files, "file")} fit`);
  if (broken !== null) {
    const { file, line: number, seq, reason, message } = broken;
    const place = `${file}:${number}${seq === null ? "" : `, seq ${seq}`}`;
    line(`${paint.red("✗")} ${project}: ${message} [${reason}] (${place})`);
  }
  const notes = [
    ...mended > 0 ? [`mended after a crash: ${counted(mended, "time")}`] : [],
    ...expired > 0 ? [`deleted by retention: ${counted(expired, "file")}`] : [],
    ...lost > 0 ? [`could not be written: ${counted(lost, "event")}`] : [],
    ...torn_bytes > 0 ? [`unfinished last line: ${counted(torn_bytes, "byte")}; the next start mends it`] : [],
    ...unchained.length > 0 ? [`from before the chain, not verified: ${unchained.join(", ")}`] : [],
  ];
  for (const note of notes) line(paint.dim(`  ${note}`));
}
