/**
 * `kaged hooks trust`: shows the commands of a repository's hook files, and asks whether they may run.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { JudgedHookFile, OpenedHookFiles } from "../../hooks/open_hook_files.ts";
import { describeCage, describeGate, describeHook, describeTool } from "../../hooks/files/describe_hook.ts";
import { type HeldHookFile, heldText } from "../../hooks/files/held_gates.ts";
import { servedTool } from "../../hooks/files/mcp_server.ts";
import { lineDiff } from "../../core/values/line_diff.ts";
import { shellWord } from "../../hooks/files/shell_words.ts";
import { utf8Text } from "../../core/documents/read_text.ts";
import { readTrust, trustHookFile, untrustHookFile } from "../../hooks/files/trust_store.ts";
import type { HookGate } from "../../hooks/files/types.ts";
import { addHookOptions, type HookFlags, openHooks, printIssues } from "../hook_places.ts";
import { interruptible } from "../interrupt.ts";
import { placesOf } from "../options.ts";
import { type Questions, questions } from "../questions.ts";
import type { Printer, Terminal } from "../terminal.ts";

interface TrustFlags extends HookFlags {
  readonly yes?: readonly string[];
}

/** Fewest characters of a hash that `--yes` accepts. */
const MIN_HASH = 12;

/** Adds the command; `exit` takes the exit code. */
export function addHooksTrust(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("trust")
    .summary("look at hook files and let them run")
    .description(
      "Shows every command of the hook files that are not trusted as they are now, what changed in them, and asks.\n" +
        "Trust is for this exact content: the hook file and the scripts in the repository that its commands name.\n" +
        "Files that those scripts use in turn are not covered. Exit code 1 when a file stays untrusted.",
    )
    .argument("[file...]", "hook files as kaged hooks list names them; without any, all")
    .option("--yes <hash...>", "trust the content with this hash without being asked; where there is no terminal");
  addHookOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((names: string[], flags: TrustFlags) =>
      interruptible(async (signal) => {
        const ask = questions(terminal, { json: flags.json ?? false, signal });
        exit(await trust(names, flags, ask, terminal));
      })
    );
}

/** Adds the command that ends trust. */
export function addHooksUntrust(parent: Command, terminal: Terminal): void {
  const command = parent.command("untrust")
    .summary("end the trust in hook files, and the gates of those that are gone")
    .description(
      'Ends your trust in hook files: they do not run until you trust them again. A trusted hook with onFailure: "block"\n' +
        "goes on blocking when its file or its script changes or is gone: this command ends that too.",
    )
    .argument("<file...>", "hook files as kaged hooks list names them");
  addHookOptions(command)
    .addHelpText("after", "\nExample:\n  kaged hooks untrust .github/hooks/guard.json")
    .action((names: string[], flags: HookFlags) => untrust(names, flags, terminal));
}

async function untrust(names: readonly string[], flags: HookFlags, terminal: Terminal): Promise<void> {
  const { runtime, home } = await placesOf(flags, terminal);
  const given = resolve(terminal.cwd, flags.dir);
  const real = (path: string): Promise<string> => runtime.files.realPath(path).catch(() => path);
  // A repository that is gone keeps the name under which it was trusted.
  const dir = await real(given);
  const userHome = await real(runtime.env("HOME") ?? given);
  const store = await readTrust(home, runtime);
  const roots = Object.entries(store).flatMap(([root, files]) => Object.keys(files).map((name) => ({ root, name })));
  // Names of plugins' files are whole paths, and those of the operator's home begin with a tilde.
  const isHere = ({ root, name }: { readonly root: string; readonly name: string }): boolean =>
    name.startsWith("/") || root === (name.startsWith("~/") ? userHome : dir);
  const rootOf = (name: string): string => roots.find((one) => one.name === name && isHere(one))?.root ?? dir;
  const known = roots.filter(isHere).map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new HostError("hook.untrusted", `No trusted hook file of "${dir}" is called "${unknown}"`, {
      data: { dir, trusted: known },
      hint: `Trusted: ${known.join(", ") || "none"}`,
    });
  }
  for (const name of names) await untrustHookFile({ home, dir: rootOf(name), name }, runtime);
  if (flags.json) return terminal.out.json({ dir, untrusted: names });
  for (const name of names) terminal.out.line(`no longer trusted: ${name}`);
}

const EXAMPLES = `
Examples:
  kaged hooks trust
  kaged hooks trust .github/hooks/guard.json --yes 3f1c0a9b2d4e`;

async function trust(
  names: readonly string[],
  flags: TrustFlags,
  ask: Questions,
  terminal: Terminal,
): Promise<number> {
  const { out, err } = terminal;
  const places = await placesOf(flags, terminal);
  await using opened = await openHooks(flags, terminal, places);
  const asked = chosen(names, opened);
  // A file that is gone cannot be looked at: its gates block until it is back, or its trust is ended.
  const lost = opened.held.filter(({ name, why }) => why !== "changed" && (names.length === 0 || names.includes(name)));
  // Files in the home that nobody trusts here are for another agent: a script that trusts a repository's is not stopped.
  const isNews = ({ file, trust }: JudgedHookFile): boolean =>
    trust === "changed" || (trust === "untrusted" && (file.origin !== "user" || names.length > 0 || ask.canAsk));
  const isGiven = ({ evidence }: JudgedHookFile): boolean =>
    (flags.yes ?? []).some((hash) => evidence.hash.startsWith(hash));
  const waiting = asked.filter((judged) => isNews(judged) || (judged.trust === "untrusted" && isGiven(judged)));
  const yes = flags.yes ?? [];
  for (const hash of yes) requireKnown(hash, asked);
  const stays: JudgedHookFile[] = [];
  for (const judged of waiting) {
    const { evidence } = judged;
    if (!flags.json) show(judged, opened, out);
    const isYes = isGiven(judged) || await ask.confirm(`Let ${evidence.name} run?`);
    if (isYes) await trustHookFile({ home: places.home, dir: judged.file.root, evidence }, places.runtime);
    else stays.push(judged);
    if (!flags.json && isYes) out.line(`${out.paint.green("trusted")} ${evidence.name}`);
  }
  if (flags.json) out.json(asJson(asked, stays, opened));
  else {
    printIssues(opened.found.errors, "error", err);
    for (const file of lost) printHeld(file, opened.found.dir, out);
  }
  if (!flags.json && waiting.length + lost.length === 0) {
    out.line(out.paint.dim("Nothing to decide: every hook file is trusted as it is"));
  }
  if (stays.length > 0 && !flags.json && !ask.canAsk) throw needsYes(stays, flags);
  return stays.length + lost.length > 0 ? 1 : 0;
}

function chosen(names: readonly string[], { judged, held }: OpenedHookFiles): JudgedHookFile[] {
  const foreign = judged.filter(({ trust }) => trust !== "own");
  const isHeld = (name: string): boolean => held.some((file) => file.name === name);
  const unknown = names.find((name) =>
    !isHeld(name) && !foreign.some(({ file }) => file.name === name || file.file === name)
  );
  if (unknown !== undefined) {
    throw new HostError("host.misuse", `There is no hook file "${unknown}"`, {
      hint: `Hook files: ${foreign.map(({ file }) => file.name).join(", ") || "none"}`,
    });
  }
  return foreign.filter(({ file }) => names.length === 0 || names.includes(file.name) || names.includes(file.file));
}

function requireKnown(hash: string, asked: readonly JudgedHookFile[]): void {
  const isHash = new RegExp(`^[0-9a-f]{${MIN_HASH},64}$`).test(hash);
  if (isHash && asked.some(({ evidence }) => evidence.hash.startsWith(hash))) return;
  throw new HostError("hook.untrusted", `No hook file has the hash "${hash}" now`, {
    data: { hashes: asked.map(({ evidence: { name, hash } }) => ({ name, hash })) },
    hint: `Look again: kaged hooks trust; a hash has at least ${MIN_HASH} characters of 0-9a-f`,
  });
}

function needsYes(stays: readonly JudgedHookFile[], { dir }: TrustFlags): HostError {
  const hashes = stays.map(({ evidence }) => evidence.hash.slice(0, 16));
  const where = dir === "." ? "" : `--dir ${shellWord(dir)} `;
  const count = stays.length === 1 ? "1 hook file is" : `${stays.length} hook files are`;
  return new HostError("hook.untrusted", `${count} not trusted, and there is no terminal to ask at`, {
    data: { files: stays.map(({ evidence: { name, hash } }) => ({ name, hash })) },
    hint: `Read what is shown above, then: kaged hooks trust ${where}--yes ${hashes.join(" ")}`,
  });
}

function show(
  { file, trust, evidence, record }: JudgedHookFile,
  { found, settings }: OpenedHookFiles,
  out: Printer,
): void {
  const { line, paint } = out;
  line(
    `${paint.bold(file.name)}  ${paint.yellow(trust === "changed" ? "changed since you trusted it" : "not trusted")}`,
  );
  for (const hook of file.hooks) {
    line(`  ${describeHook(hook)}  ${paint.dim(`line ${hook.line}`)}`);
    for (const text of hook.script.split("\n")) line(`    ${text}`);
    if (hook.cwd !== undefined && hook.cwd !== ".") line(paint.dim(`    in ${hook.cwd}`));
    showVariables(hook.env, out);
  }
  for (const tool of file.tools) {
    line(`  ${describeTool(tool)}  ${paint.dim(`line ${tool.line}`)}`);
    const server = servedTool(tool.tool, file.servers)?.server;
    line(`    ${(server?.command ?? []).join(" ")}`);
    showVariables(server?.env ?? {}, out);
  }
  if (file.tools.length === 0) {
    for (const { name, command, env } of file.servers ?? []) {
      line(`  Starts the MCP server ${name} when a hook calls a tool of it`);
      line(`    ${(command ?? []).join(" ")}`);
      showVariables(env, out);
    }
  }
  for (const { id, reason } of found.leftOut.filter((left) => left.isMistake && left.id.startsWith(`${file.name}:`))) {
    line(`  ${paint.yellow("Does not run")}: ${id.slice(file.name.length + 1)}: ${reason}`);
  }
  for (const text of describeCage(found.dir, settings)) line(paint.dim(`  ${text}`));
  line(`  Covers ${evidence.files.map(({ path }) => path).join(", ")}`);
  line(paint.dim("  Other files that these use are not covered: they can change without your being asked"));
  if (record !== null) {
    showChanges(record.files, evidence.files, out);
    showEnding(record.gates ?? [], evidence.gates, out);
  }
  line(`  hash ${evidence.hash}`);
}

function showVariables(env: Readonly<Record<string, string>>, { line, paint }: Printer): void {
  for (const [name, value] of Object.entries(env)) line(paint.dim(`    with ${name}=${value}`));
}

function showChanges(
  before: readonly { readonly path: string; readonly sha256: string; readonly text?: string }[],
  now: JudgedHookFile["evidence"]["files"],
  { line, paint }: Printer,
): void {
  for (const path of new Set([...before, ...now].map(({ path }) => path))) {
    const [old, fresh] = [before.find((file) => file.path === path), now.find((file) => file.path === path)];
    if (old?.sha256 === fresh?.sha256) continue;
    line(paint.bold(`  ${fresh === undefined ? "gone" : old === undefined ? "new" : "changed"}: ${path}`));
    const text = fresh === undefined ? "" : utf8Text(fresh.bytes);
    if (text === null || (old !== undefined && old.text === undefined)) {
      line("    its text is too long, or no text, to be compared");
      continue;
    }
    for (const { mark, text: shown } of lineDiff(old?.text ?? "", text)) {
      const colour = mark === "+" ? paint.green : mark === "-" ? paint.red : paint.dim;
      line(colour(`    ${mark}${shown}`));
    }
  }
}

/** Names the gates that trusting the new content ends: a diff shows that less plainly. */
function showEnding(before: readonly HookGate[], now: readonly HookGate[], { line, paint }: Printer): void {
  const left = now.map(describeGate);
  for (const gate of before.map(describeGate)) {
    const at = left.indexOf(gate);
    if (at === -1) line(paint.red(`  no longer blocks on failure: ${gate}`));
    else left.splice(at, 1);
  }
}

/** Prints a file whose gates block. */
export function printHeld(file: HeldHookFile, dir: string, { line, hint: printHint, paint }: Printer): void {
  const { reason, hint } = heldText(file, dir);
  line(paint.red(`held: ${reason}`));
  for (const gate of file.gates) line(`  blocks ${describeGate(gate)}`);
  printHint(hint);
}

function asJson(
  asked: readonly JudgedHookFile[],
  stays: readonly JudgedHookFile[],
  { found, held }: OpenedHookFiles,
): Record<string, unknown> {
  return {
    dir: found.dir,
    held,
    files: asked.map((judged) => ({
      name: judged.file.name,
      trust: stays.includes(judged) ? judged.trust : "trusted",
      hash: judged.evidence.hash,
      covers: judged.evidence.files.map(({ path, sha256 }) => ({ path, sha256 })),
      commands: judged.file.hooks.map((hook) => ({ line: hook.line, when: describeHook(hook), command: hook.script })),
      tools: judged.file.tools.map(({ line, tool, hook }) => ({ line, tool, hook })),
    })),
    errors: found.errors,
  };
}
