/**
 * Holds every block of a guide to what it shows.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runtimeName } from "../../support/require_or_skip.ts";
import { checkData } from "./check_data.ts";
import { linkedProgram } from "./program.ts";
import type { Block } from "./read_guide.ts";
import { isShown, shownCommands } from "./shown_output.ts";
import type { Workshop } from "./workshop.ts";

/** What was done with a block. */
export type Outcome = "ran" | "read" | "written" | "types" | "elsewhere" | "skipped";

/** Runs, reads or writes a block in the workshop; throws where it does not hold. */
export async function runBlock(block: Block, workshop: Workshop): Promise<Outcome> {
  const { place, language, text, said } = block;
  if (said.skip !== undefined) return "skipped";
  if (said.types !== undefined) return "types";
  if (said.elsewhere !== undefined) return await isNamedIn(said.elsewhere, place);
  if (said.runtime !== undefined && !said.runtime.split(",").includes(runtimeName)) return "elsewhere";
  const isData = ["yaml", "toml", "json"].includes(language);
  if (isData) await checkData(language, text).catch((error) => assert.fail(`${place}: ${error.message}`));
  if (said.file !== undefined) await workshop.write(said.file, text);
  if (isData || said.file !== undefined) return said.file === undefined ? "read" : "written";
  if (language === "ts" || language === "js") return await runProgram(block, workshop);
  if (["sh", "bash", "run"].includes(language)) return await runScript(block, workshop);
  if (said.output !== undefined) return await runShown(block, [{ command: said.output, output: text }], workshop);
  if (text.startsWith("$ ")) return await runShown(block, shownCommands(text), workshop);
  throw new Error(
    `${place}: nobody knows how to test a block of "${language}"; put before it one of\n` +
      `  <!-- test: output="kaged …" -->, <!-- test: file=path -->, <!-- test: skip reason="…" --> (see CONTRIBUTING.md)`,
  );
}

async function runProgram(block: Block, workshop: Workshop): Promise<Outcome> {
  const file = `block_${block.place.replaceAll(/\W/g, "_")}.${block.language}`;
  await workshop.write(file, await linkedProgram(block));
  const { until } = block.said;
  const { code, output } = await workshop.program(file, until === undefined ? {} : { until });
  if (until === undefined) {
    assert.ok(code === Number(block.said.exit ?? 0), `${block.place} ends with ${code}:\n${output}`);
  } else assert.ok(output.includes(until), `${block.place} never prints ${until}:\n${output}`);
  return "ran";
}

async function runScript({ place, text, said: { until, exit = "0" } }: Block, workshop: Workshop): Promise<Outcome> {
  const { code, output } = await workshop.script(text, until === undefined ? {} : { until });
  if (until === undefined) assert.ok(code === Number(exit), `${place} ends with ${code}:\n${output}`);
  else assert.ok(output.includes(until), `${place} never prints ${until}:\n${output}`);
  return "ran";
}

async function runShown(
  { place, said: { exit = "0" } }: Block,
  commands: ReturnType<typeof shownCommands>,
  workshop: Workshop,
): Promise<Outcome> {
  for (const { command, output: shown } of commands) {
    const { code, output } = await workshop.script(command);
    assert.ok(code === Number(exit), `${place}: ${command} ends with ${code}:\n${output}`);
    if (shown !== null) {
      assert.ok(isShown(shown, output), `${place}: ${command} prints\n${output}\nand the guide shows\n${shown}`);
    }
  }
  return "ran";
}

async function isNamedIn(test: string, place: string): Promise<Outcome> {
  const text = await readFile(new URL(`../../../${test}`, import.meta.url), "utf8");
  const guide = place.slice(0, place.indexOf(":"));
  assert.ok(text.includes(guide), `${place}: ${test} does not name ${guide}`);
  return "elsewhere";
}
