import assert from "node:assert/strict";
import { test } from "node:test";
import { createPrinter, paint } from "../../src/cli/terminal.ts";
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
  // Texts whose bytes count, as those of a chain and of a result do; on a terminal they are made printable too.
  assert.deepEqual(await found(/\.exact\(/), ["src/cli/commands/audit_export.ts", "src/cli/commands/jobs.ts"]);
  // A document has lines without a margin, so it may hold nothing but the command's own text, or the result itself.
  assert.deepEqual(await found(/\.document\(/), ["src/cli/commands/hooks_convert.ts", "src/cli/main.ts"]);
});
