/**
 * `kaged replay`: run a plugin against a tape and show the first difference.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { IgnoredPlace } from "../../operator/replay/first_difference.ts";
import type { Difference, ReplayReport } from "../../operator/replay/replay_tape.ts";
import type { Tape } from "../../core/wire/tape/tape.ts";
import { collected } from "../options.ts";
import { questions } from "../questions.ts";
import { withPlugin } from "../plugin_place.ts";
import { addRunOptions, printReport, type RunFlags, type RunPlaces, withPlaces } from "../run_options.ts";
import type { Printer, Terminal } from "../terminal.ts";

interface ReplayFlags extends RunFlags {
  readonly ignore?: readonly string[];
}

interface Replayed extends ReplayReport {
  readonly plugin: string;
  readonly version: string;
  readonly notes: readonly string[];
}

/** Adds the command; `exit` takes the exit code of a replay that was made. */
export function addReplay(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("replay")
    .summary("run a plugin against a recorded tape")
    .description(
      "Starts the plugin of a tape in its cage, sends it the host's messages of the tape, answers its requests from the " +
        "tape and shows the first difference.\nExit code 1 when there is one.",
    )
    .argument("<tape>", "a file that kaged plugin call --record or a host with the option record has written")
    .argument("[dir|name]", "the plugin's folder, or the name of an installed plugin (default: the folder on the tape)")
    .option(
      "--ignore <pointer>",
      "a place of messages that may differ, such as /result/time; may be repeated",
      collected(String),
    );
  addRunOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (tape: string, dir: string | undefined, flags: ReplayFlags) => {
      const run = dir === undefined
        ? withPlaces(flags, terminal, (places) => replay({ tape, dir, flags, places }, terminal))
        : withPlugin(
          dir,
          flags,
          terminal,
          (places, { dir, withheld = [] }) => replay({ tape, dir, withheld, flags, places }, terminal),
        );
      exit(await printReport(flags, terminal, run, print));
    });
}

const EXAMPLES = `
Examples:
  kaged plugin call . greetings.list --record greetings.jsonl
  kaged replay greetings.jsonl
  kaged replay greetings.jsonl ./greeter --ignore /result/time --ignore '/result/rows/*/id'
Secrets are not on a tape: give them with --config '{"api_key": "…"}', or type them in when asked.`;

interface Replay {
  readonly tape: string;
  readonly dir: string | undefined;
  /** Capabilities that an installed plugin runs without. */
  readonly withheld?: readonly string[];
  readonly flags: ReplayFlags;
  readonly places: RunPlaces;
}

async function replay(
  { tape: path, dir, withheld = [], flags, places }: Replay,
  terminal: Terminal,
): Promise<Replayed> {
  const { parsePointer } = await import("../../operator/replay/first_difference.ts");
  const { replayTape } = await import("../../operator/replay/replay_tape.ts");
  const { readTape } = await import("../../core/wire/tape/tape.ts");
  const { readManifest } = await import("../../core/manifest/read_manifest.ts");
  const { grantedManifest } = await import("../../core/manifest/withheld.ts");
  const { openPluginWire } = await import("../../operator/plugin_wire.ts");
  const { runtime, limits, signal, ...rest } = places;
  const ignored: IgnoredPlace[] = (flags.ignore ?? []).map(parsePointer);
  const tape = await readTape(resolve(terminal.cwd, path), runtime.files);
  const { dir: folder } = dir === undefined ? tape.header : { dir };
  const { manifest: written } = await readManifest(folder, runtime.files);
  const manifest = grantedManifest(written, [...withheld, ...tape.header.withheld ?? []]);
  if (manifest.name !== tape.header.plugin) {
    const message = `The tape is of "${tape.header.plugin}", and "${folder}" holds "${manifest.name}"`;
    throw new HostError("tape.other_plugin", message, {
      data: { tape: tape.header.plugin, found: manifest.name, dir: folder },
      hint: `Run kaged replay ${path} <folder of ${tape.header.plugin}>`,
    });
  }
  const secrets = await secretsFor(tape, flags, signal, terminal);
  const wire = { runtime, ...rest, ...limits, dir: folder, manifest };
  const report = await replayTape({
    tape,
    manifest,
    open: (listeners) => openPluginWire(wire, listeners),
    clock: runtime.clock,
    ignored,
    secrets,
    signal,
  });
  const { name, version } = manifest;
  return { plugin: name, version, ...report, notes: await notesOn(tape, folder, version, runtime) };
}

/** Returns the secrets, which are not on the tape: from the command line, else from the person at the terminal. */
async function secretsFor(
  { entries }: Tape,
  flags: ReplayFlags,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<Record<string, unknown>> {
  const { neededSecrets } = await import("../../core/wire/tape/secrets.ts");
  const given: Record<string, unknown> = { ...flags.config };
  const missing = neededSecrets(entries).filter((field) => !Object.hasOwn(given, field));
  const ask = questions(terminal, { json: flags.json ?? false, signal });
  if (missing.length > 0 && !ask.canAsk) {
    const fields = missing.map((field) => `"${field}"`).join(", ");
    throw new HostError("tape.secret_missing", `The tape does not hold the secrets ${fields}`, {
      data: { fields: missing },
      hint: `Add --config '${JSON.stringify(Object.fromEntries(missing.map((field) => [field, "…"])))}'`,
    });
  }
  for (const field of missing) given[field] = await ask.secret(`Value of ${field}, which is not on the tape`);
  return given;
}

/** Returns notes about the tape: changes of the plugin since it was made, a missing end. */
async function notesOn({ header, isCut, entries }: Tape, dir: string, version: string, { files }: Runtime) {
  const { hashTree } = await import("../../core/files/tree.ts");
  const hash = await hashTree(dir, files).then((tree) => tree.hash, () => null);
  return [
    ...(isCut ? ["The last line of the tape is cut off, and left out"] : []),
    ...(entries.some((entry) => "exit" in entry) ? [] : ["The tape ends before the plugin did"]),
    ...(version === header.version ? [] : [`It was recorded with version ${header.version}`]),
    ...(hash === header.hash ? [] : ["The files of the plugin have changed since"]),
  ];
}

function print({ ok, plugin, version, sent, matched, difference, notes }: Replayed, out: Printer): void {
  const { line, paint } = out;
  const who = `${plugin} ${version}`;
  if (ok) line(paint.green(`✓ ${who} is as on the tape: ${sent} messages sent, ${matched} compared`));
  else line(paint.red(`✗ ${who} is not as on the tape`));
  if (difference) printDifference(difference, out);
  for (const note of notes) line(paint.dim(`note: ${note}`));
}

function printDifference(difference: Difference, { line, paint }: Printer): void {
  const { line: number, at, detail, expected, came } = difference;
  const part = (what: string, text: string): void => line(`    ${paint.dim(what.padEnd(8))}  ${text}`);
  const place = at === undefined ? "" : ` at ${at}`;
  line(`    ${detail + place}${number === null ? "" : paint.dim(` (line ${number} of the tape)`)}`);
  if (expected !== undefined) part("expected", shortened(expected));
  if (came !== undefined) part("came", shortened(came));
}

/** Characters of a message that are printed; --json has all of them. */
const MAX_CHARS = 1_000;

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}… (${text.length} characters)` : text;
}
