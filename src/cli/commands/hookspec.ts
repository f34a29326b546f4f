/**
 * `kaged hookspec emit`, `check` and `diff`: the files that follow from a hookspec, and the changes between two of them.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { lineDiff } from "../../core/values/line_diff.ts";
import type { KindDiff } from "../../hookspec/diff/diff_hookspec.ts";
import { claimOut, type FollowingFile, followingFiles, type HookspecFlags } from "../hookspec_files.ts";
import type { Printer, Terminal } from "../terminal.ts";

/** Adds the commands; `exit` takes the exit code of one that ran to its end. */
export function addHookspec(kaged: Command, terminal: Terminal, exit: (code: number) => void): void {
  const hookspec = kaged.command("hookspec")
    .summary("write, check and compare hook contracts")
    .description("Works on a hookspec: the contracts of hooks, as data, and the files that follow from them.");
  addHookspecOptions(hookspec.command("emit"))
    .summary("write the files that follow from a hookspec")
    .description(
      "Writes types, schemas and pages for every kind of a hookspec: TypeScript, Python, Go, OpenRPC and Markdown.\n" +
        "The same hookspec gives the same bytes; a file that holds them already is left alone. A generated file of a\n" +
        "kind that is gone is removed. A folder of --out is one hookspec's: another is refused there.",
    )
    .addHelpText("after", EMIT_EXAMPLES)
    .action((flags: HookspecFlags) => emit(flags, terminal));
  addHookspecOptions(hookspec.command("check"))
    .summary("check a hookspec and the files that follow from it")
    .description(
      "Reads a hookspec and compares the files that follow from it with those that are there, and writes nothing.\n" +
        "Exit code 1 when the hookspec is not in order, a file differs, or a generated one is left over from a kind that\n" +
        "is gone: then it shows what `emit` would change.",
    )
    .addHelpText("after", CHECK_EXAMPLES)
    .action(async (flags: HookspecFlags) => exit(await check(flags, terminal) ? 0 : 1));
  hookspec.command("diff")
    .summary("say what changed between two hookspecs, and which version that needs")
    .description(
      "Compares two hookspecs kind by kind and says of each change whether it is breaking, compatible or wording.\n" +
        "Exit code 1 when a kind's new version is too low for its changes, or a kind is gone.",
    )
    .argument("<old>", "folder of the hookspec before")
    .argument("<new>", "folder of the hookspec now")
    .option("--json", "print JSON")
    .addHelpText("after", DIFF_EXAMPLES)
    .action(async (old: string, now: string, { json }: Pick<HookspecFlags, "json">) => {
      exit(await diff(old, now, json, terminal) ? 0 : 1);
    });
}

/** Adds `--dir`, `--out` and `--json` to a command. */
function addHookspecOptions(command: Command): Command {
  return command
    .option("--dir <dir>", "folder of the hookspec: the one that holds _meta and kinds", "hookspec")
    .option("--out <dir>", "folder for all languages, in place of those in _meta/targets.yaml")
    .option("--json", "print JSON");
}

const EMIT_EXAMPLES = `
Examples:
  kaged hookspec emit
  kaged hookspec emit --dir spec --out build/kinds
With --json it prints { "files": [ { "path", "language", "written" } ], "removed": [ path ] }.`;

const CHECK_EXAMPLES = `
Examples:
  kaged hookspec check
  kaged hookspec check --dir spec --json | jq '.files[] | select(.status != "same") | .path'
With --json it prints { "ok", "files": [ { "path", "language", "status": "same" | "stale" | "missing" | "leftover",
"diff"? } ] }.`;

const DIFF_EXAMPLES = `
Examples:
  kaged hookspec diff ../released/hookspec hookspec
  kaged hookspec diff before after --json | jq '.kinds[] | select(.ok | not)'
With --json it prints { "ok", "kinds": [ { "kind", "from", "to", "needed", "ok", "changes": [ { "path", "effect":
"breaking" | "compatible" | "wording", "message" } ] } ] }.`;

async function emit(flags: HookspecFlags, terminal: Terminal): Promise<void> {
  const { all, leftovers, files } = await followingFiles(flags, terminal);
  const stale = all.filter(({ text, found }) => text !== found);
  for (const { file, text } of stale) {
    await files.makeDir(dirname(file), { recursive: true, mode: 0o755 });
    await files.write(file, text, 0o644);
  }
  for (const { file } of leftovers) await files.remove(file);
  if (flags.out !== undefined) {
    await claimOut({ out: resolve(terminal.cwd, flags.out), dir: resolve(terminal.cwd, flags.dir) }, files);
  }
  if (flags.json) {
    const removed = leftovers.map(({ path }) => path);
    const rows = all.map(({ path, language, text, found }) => ({ path, language, written: text !== found }));
    return terminal.out.json({ files: rows, removed });
  }
  for (const { path } of stale) terminal.out.line(`wrote ${path}`);
  for (const { path } of leftovers) terminal.out.line(`removed ${path}`);
  const removed = leftovers.length > 0 ? `, ${leftovers.length} removed` : "";
  terminal.out.line(`${all.length} files, ${stale.length} written${removed}`);
}

async function check(flags: HookspecFlags, terminal: Terminal): Promise<boolean> {
  const { all, leftovers } = await followingFiles(flags, terminal);
  const stale = all.filter(({ text, found }) => text !== found);
  const isOk = stale.length === 0 && leftovers.length === 0;
  if (flags.json) {
    const extra = leftovers.map(({ path, language }) => ({ path, language, status: "leftover" }));
    terminal.out.json({ ok: isOk, files: [...all.map(row), ...extra] });
    return isOk;
  }
  const { line, paint } = terminal.out;
  for (const file of stale) printDrift(file, terminal.out);
  for (const { path } of leftovers) {
    line(`${paint.bold(path)} is left over: nothing gives it any more`);
    line();
  }
  const summary = isOk ? `${all.length} files follow from the hookspec` : [
    ...(stale.length > 0 ? [`${stale.length} of ${all.length} files differ`] : []),
    ...(leftovers.length > 0 ? [`${leftovers.length} left over`] : []),
  ].join(", ");
  line((isOk ? paint.green : paint.red)(summary));
  terminal.out.hint(isOk ? undefined : "Run kaged hookspec emit");
  return isOk;
}

function row(file: FollowingFile): Record<string, unknown> {
  const { path, language, text, found } = file;
  if (found === null) return { path, language, status: "missing" };
  return text === found ? { path, language, status: "same" } : { path, language, status: "stale", diff: diffOf(file) };
}

function diffOf({ text, found }: FollowingFile): string[] {
  return lineDiff(found ?? "", text).map((line) => `${line.mark}${line.text}`);
}

function printDrift(file: FollowingFile, { line, paint }: Printer): void {
  line(paint.bold(file.path) + (file.found === null ? " is missing" : ""));
  for (const text of file.found === null ? [] : diffOf(file)) {
    const colour = text.startsWith("+") ? paint.green : text.startsWith("-") ? paint.red : paint.dim;
    line(colour(text));
  }
  line();
}

async function diff(before: string, after: string, json = false, terminal: Terminal): Promise<boolean> {
  const { readHookspec } = await import("../../hookspec/read_hookspec.ts");
  const { diffHookspecs } = await import("../../hookspec/diff/diff_hookspec.ts");
  const { files } = await terminal.runtime();
  const old = await readHookspec(resolve(terminal.cwd, before), files);
  const diffs = diffHookspecs(old, await readHookspec(resolve(terminal.cwd, after), files));
  const isOk = diffs.every(({ isEnough }) => isEnough);
  if (json) {
    const kinds = diffs.map(({ isEnough: ok, changes, ...versions }) => ({ ...versions, ok, changes }));
    terminal.out.json({ ok: isOk, kinds });
  } else for (const each of diffs) printKind(each, terminal.out);
  return isOk;
}

function printKind({ kind, from, to, needed, isEnough, changes }: KindDiff, { line, paint }: Printer): void {
  const versions = from === to ? from : [from, to].filter((version) => version !== null).join(" → ");
  const verdict = isEnough
    ? paint.green(changes.length === 0 ? "unchanged" : "enough")
    : paint.red(needed === null ? "gone" : `needs ${needed}`);
  line(`${paint.bold(kind)} ${versions ?? ""}: ${verdict}`);
  const colours = { breaking: paint.red, compatible: paint.green, wording: paint.dim };
  for (const { path, effect, message } of changes) {
    line(`  ${colours[effect](effect.padEnd(10))}  ${path}: ${message}`);
  }
}
