/**
 * `kaged hookspec diff`: what has changed between two hookspecs, and which versions that asks for.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { KindDiff } from "../../hookspec/diff/diff_hookspec.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

interface DiffFlags {
  readonly json?: boolean;
}

/** Adds the command; `exit` takes the exit code of a comparison that ran to its end. */
export function addHookspecDiff(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  parent.command("diff")
    .summary("say what changed between two hookspecs, and which version that needs")
    .description(
      "Compares two hookspecs kind by kind and says of each change whether it is breaking, compatible or wording.\n" +
        "Exit code 1 when a kind's new version is too low for its changes, or a kind is gone.",
    )
    .argument("<old>", "folder of the hookspec before")
    .argument("<new>", "folder of the hookspec now")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (old: string, now: string, flags: DiffFlags) =>
      exit(await diff([old, now], flags, terminal) ? 0 : 1)
    );
}

const EXAMPLES = `
Examples:
  kaged hookspec diff ../released/hookspec hookspec
  kaged hookspec diff before after --json | jq '.kinds[] | select(.ok | not)'
With --json it prints { "ok", "kinds": [ { "kind", "from", "to", "needed", "ok", "changes": [ { "path", "effect":
"breaking" | "compatible" | "wording", "message" } ] } ] }.`;

async function diff(dirs: readonly [string, string], flags: DiffFlags, terminal: Terminal): Promise<boolean> {
  const { readHookspec } = await import("../../hookspec/read_hookspec.ts");
  const { diffHookspecs } = await import("../../hookspec/diff/diff_hookspec.ts");
  const { files } = await terminal.runtime();
  const old = await readHookspec(resolve(terminal.cwd, dirs[0]), files);
  const diffs = diffHookspecs(old, await readHookspec(resolve(terminal.cwd, dirs[1]), files));
  const isOk = diffs.every(({ isEnough }) => isEnough);
  if (flags.json) {
    const kinds = diffs.map(({ isEnough: ok, kind, from, to, needed, changes }) => ({
      kind,
      from,
      to,
      needed,
      ok,
      changes,
    }));
    terminal.out.line(JSON.stringify({ ok: isOk, kinds }, null, 2));
  } else for (const each of diffs) print(each, terminal.out);
  return isOk;
}

function print({ kind, from, to, needed, isEnough, changes }: KindDiff, { line, paint }: Printer): void {
  const versions = from === to ? from : [from, to].filter((version) => version !== null).join(" → ");
  const verdict = isEnough
    ? paint.green(changes.length === 0 ? "unchanged" : "enough")
    : paint.red(needed === null ? "gone" : `needs ${needed}`);
  line(`${paint.bold(printable(kind))} ${printable(versions ?? "")}: ${verdict}`);
  const colours = { breaking: paint.red, compatible: paint.green, wording: paint.dim };
  for (const { path, effect, message } of changes) {
    line(`  ${colours[effect](effect.padEnd(10))}  ${printable(path)}: ${printable(message)}`);
  }
}
