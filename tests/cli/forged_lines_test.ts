import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createPrinter, paint } from "../../src/cli/terminal.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { writtenSources } from "../support/sources.ts";

const FORGED = "\n✓ Installed safe 1.0\r\u001b[2K\u001b[32m✓ Installed safe 1.0\u202e\u200b";

/** Every line that a terminal would show, and every character it would obey or hide. */
function checkLines(text: string, command: string): void {
  for (const line of text.split("\n")) assert.doesNotMatch(line, /^✓ Installed safe/, command);
  assert.doesNotMatch(text, /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, command);
}

function printed(write: (out: ReturnType<typeof createPrinter>) => void, colours = false): string {
  let text = "";
  write(createPrinter((more) => text += more, paint(colours)));
  return text;
}

test("every way of printing makes a plugin's text one line without escapes", () => {
  const ways: Parameters<typeof printed>[0][] = [
    ({ line }) => line(FORGED),
    ({ line, paint }) => line(`${paint.green("✓")} ${paint.dim(FORGED)}`),
    ({ json }) => json({ [FORGED]: [FORGED] }),
    ({ json }) => json(FORGED, { isLine: true }),
    ({ quote }) => quote(FORGED),
    ({ done }) => done(FORGED),
    ({ warning }) => warning(FORGED),
    ({ hint }) => hint(FORGED),
  ];
  for (const way of ways) checkLines(printed(way), String(way));
});

test("a terminal shows the command's own colours, and none of a plugin's", () => {
  assert.equal(printed(({ line, paint }) => line(paint.red("x")), true), "\u001b[31mx\u001b[39m\n");
  assert.equal(
    printed(({ line, paint }) => line(paint.red("\u001b[32mx")), true),
    "\u001b[31m\\u001b[32mx\u001b[39m\n",
  );
  assert.equal(printed(({ line, paint }) => line(paint.red("x"))), "x\n");
});

test("a line whose bytes count is exact in a pipe, and printable on a terminal", () => {
  const shown = (isTerminal: boolean): string => {
    let text = "";
    createPrinter((more) => text += more, paint(false), undefined, isTerminal).exact('{"a":"\u202e"}');
    return text;
  };
  assert.equal(shown(false), '{"a":"\u202e"}\n');
  assert.equal(shown(true), '{"a":"\\u202e"}\n');
});

test("JSON for a program holds the text as the plugin wrote it", () => {
  assert.deepEqual(JSON.parse(printed(({ json }) => json({ [FORGED]: FORGED }))), { [FORGED]: FORGED });
});

test("no text of a plugin becomes a line of the command, whatever the command", async (t) => {
  if (!await canCage(t)) return;
  const dir = await scratchDir(t);
  const tool = { name: "forge", description: `Forges${FORGED}`, parameters_schema: { type: "object", title: FORGED } };
  const manifest = { hooks: ["on_session_start"], tools: [tool], author: "\u0410nna" };
  await using plugin = await fixturePlugin("forges_lines", { manifest: manifest as never });
  await using wrong = await fixturePlugin("forges_lines", { manifest: { author: FORGED, license: FORGED } });
  await mkdir(join(dir, "music/.claude"), { recursive: true });
  const use = { package: "forges-lines", version: "^1.0.0" };
  await writeFile(join(dir, "music/project.yaml"), JSON.stringify({ primary: { plugins: { memory: use } } }));
  const hook = { matcher: "Bash", hooks: [{ type: "command", command: `echo${FORGED}` }] };
  await writeFile(join(dir, "music/.claude/settings.json"), JSON.stringify({ hooks: { PreToolUse: [hook] } }));
  const entry = { timestamp: "2026-01-01T00:00:00.000Z", instance: `forges-lines${FORGED}`, line: FORGED };
  await mkdir(join(dir, "home/logs"), { recursive: true });
  await writeFile(join(dir, "home/logs/forges-lines.jsonl"), `${JSON.stringify(entry)}\n`);
  const home = ["--home", join(dir, "home")];
  const project = ["--project", join(dir, "music")];
  const local = ["--plugin", `forges-lines=${plugin.dir}`];
  const commands: string[][] = [
    ["plugin", "check", wrong.dir],
    ["plugin", "check", plugin.dir],
    ["plugin", "check", plugin.dir, "--conformance"],
    ["plugin", "call", plugin.dir, "fixture.call", "{}", ...home],
    ["plugin", "call", plugin.dir, "fixture.call", "{}", "--json", ...home],
    ["plugin", "call", plugin.dir, `unknown${FORGED}`, "{}", ...home],
    ["plugin", "install", plugin.dir, ...home],
    ["plugin", "list", "--verbose", ...home],
    ["plugin", "info", "forges-lines", ...home],
    ["plugin", "logs", "forges-lines", ...home],
    ["project", "resolve", join(dir, "music"), ...home, ...local],
    ["project", "load", join(dir, "music"), ...home],
    ["hooks", "fire", "on_session_start", ...project, ...home, ...local],
    ["hooks", "list", "--dir", join(dir, "music"), ...home],
    ["hooks", "trust", "--dir", join(dir, "music"), ...home],
    ["doctor", ...home],
    [`nonsense${FORGED}`],
  ];
  let reached = 0;
  for (const args of commands) {
    const { stdout, stderr } = await runKaged(args, { cwd: dir });
    checkLines(stdout + stderr, args.join(" "));
    const isThere = /Installed safe 1\.0/.test(stdout + stderr);
    if (isThere) reached++;
    if (/^(?:plugin logs|plugin call|hooks)/.test(args.join(" "))) {
      assert.ok(isThere, `${args.join(" ")}: ${stdout}${stderr}`);
    }
  }
  assert.ok(reached >= 10, `${reached} commands printed it`);
});

test("a plugin's stack is shown as lines of its own, below the error and behind a margin", async (t) => {
  if (!await canCage(t)) return;
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("forges_lines");
  const { stderr } = await runKaged(["plugin", "call", plugin.dir, "fixture.call", "{}", "--home", join(dir, "home")]);
  assert.match(stderr, /\n {2}stack:\n {2}│ Error: No\n {2}│ ✓ Installed safe[^\n]*\n {2}│ {5}at forges-lines\n/);
});

/** Code without comments. */
const codeOf = (text: string): string => text.replace(/^[ \t]*\/\*[^]*?\*\//gm, "").replace(/^\s*\/\/.*$/gm, "");

test("nothing of the host prints but through the printer, the questions and the warning", async () => {
  const found = async (pattern: RegExp): Promise<string[]> =>
    (await writtenSources()).filter(({ text }) => pattern.test(codeOf(text))).map(({ path }) => path);
  assert.deepEqual(await found(/\bconsole\s*(?:\.|\?\.|\[)|= console\b/), [
    "src/addons/console_logger.ts", // Lines that it made printable.
    "src/cli/bin.ts", // Before anything is loaded: its own words alone.
    "src/core/values/printable.ts",
    "src/sdk/mod.ts", // Runs in the plugin.
  ]);
  assert.deepEqual(await found(/\b(?:stdout|stderr)\b[^;\n]*\.write\(|\{ (?:stdout|stderr)[^}]* \} = process/), [
    "src/adapters/shared/kernel_files_child.ts", // Answers for the host that started it, in JSON.
    "src/cli/questions.ts", // Texts that it made printable.
    "src/sdk/mod.ts",
  ]);
  assert.deepEqual(await found(/\bprocess\.(?:stdout|stderr)\b/), [
    "src/adapters/shared/kernel_files_child.ts",
    "src/cli/commands/serve.ts", // Looks whether it is a terminal.
    "src/cli/questions.ts",
    "src/cli/terminal.ts",
    "src/sdk/mod.ts",
  ]);
  // Lines whose bytes count, as those of a chain do; on a terminal they are made printable too.
  assert.deepEqual(await found(/\.exact\(/), ["src/cli/commands/audit_export.ts"]);
  // A document has lines without a margin, so it may hold nothing but the command's own text, or the result itself.
  assert.deepEqual(await found(/\.document\(/), ["src/cli/commands/hooks_convert.ts", "src/cli/main.ts"]);
});
