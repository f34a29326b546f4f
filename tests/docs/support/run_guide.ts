/**
 * Holds every block of a guide to what it shows.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { runtimeName } from "../../support/require_or_skip.ts";
import { checkData } from "./check_data.ts";
import { linkedProgram } from "./program.ts";
import type { Block } from "./read_guide.ts";
import { isShown, shownCommands } from "./shown_output.ts";
import type { Workshop } from "./workshop.ts";

/** The way in which a block was tested. */
export type Outcome = "ran" | "read" | "written" | "elsewhere" | "skipped";

/** Blocks that are run together: programs that follow one another share a process, as they cost one start then. */
export function stepsOf(blocks: readonly Block[]): Block[][] {
  const steps: Block[][] = [];
  let programs: Block[] | null = null;
  for (const block of blocks) {
    if (isPlainProgram(block)) {
      if (programs === null) steps.push(programs = []);
      programs.push(block);
    } else {
      if (needsWorkshop(block)) programs = null; // What it does may matter to the programs after it.
      steps.push([block]);
    }
  }
  return steps;
}

/** Says whether a block is run or written, and not only looked at. */
export function needsWorkshop({ language, said }: Block): boolean {
  const isLookedAt = [said.skip, said.elsewhere].some((word) => word !== undefined);
  const isMade = said.file !== undefined || said.output !== undefined;
  return !isLookedAt && (isMade || !DATA.includes(language));
}

/** Runs, reads or writes the blocks of a step in the workshop; throws where one does not hold. */
export async function runBlocks(step: readonly Block[], workshop: Workshop): Promise<Outcome> {
  const [block] = step;
  return isPlainProgram(block!) ? await runPrograms(step, workshop) : await runBlock(block!, workshop);
}

/** The same for a block by itself. */
export async function runBlock(block: Block, workshop: Workshop): Promise<Outcome> {
  const { place, language, text, said } = block;
  if (said.skip !== undefined) return await hasReason(said.reason ?? "", place);
  if (said.elsewhere !== undefined) return await isNamedIn(said.elsewhere, place);
  if (said.runtime !== undefined && !said.runtime.split(",").includes(runtimeName)) return "elsewhere";
  if (said.output !== undefined) return await runShown(block, [{ command: said.output, output: text }], workshop);
  const isData = DATA.includes(language);
  if (isData) await checkData(language, text).catch((error) => assert.fail(`${place}: ${error.message}`));
  if (said.file !== undefined) await workshop.write(said.file, text);
  if (isData || said.file !== undefined) return said.file === undefined ? "read" : "written";
  if (said.printed !== undefined) return await wasPrinted(block, workshop);
  if (said.stays !== undefined) {
    await workshop.stay(text, said.stays).catch((error) => assert.fail(`${place}: ${error.message}`));
    return "ran";
  }
  if (PROGRAM.includes(language)) return await runPrograms([block], workshop);
  if (["sh", "bash", "run"].includes(language)) return await runScript(block, workshop);
  if (text.startsWith("$ ")) return await runShown(block, shownCommands(text), workshop);
  throw new Error(
    `${place}: nobody knows how to test a block of "${language}"; put before it one of\n` +
      `  <!-- test: output="kaged …" -->, <!-- test: file=path -->, <!-- test: skip reason="…" --> (see CONTRIBUTING.md)`,
  );
}

const DATA = ["yaml", "toml", "json"];
const PROGRAM = ["ts", "js"];

function isPlainProgram({ language, said }: Block): boolean {
  return PROGRAM.includes(language) && Object.keys(said).every((word) => word === "given");
}

/** Each is a module of its own; the last line printed of where we are says which one failed. */
async function runPrograms(blocks: readonly Block[], workshop: Workshop): Promise<Outcome> {
  const { until, exit = "0" } = blocks[0]!.said;
  const imports: string[] = [];
  for (const block of blocks) {
    const file = `block_${block.place.replaceAll(/\W/g, "_")}.${block.language}`;
    await workshop.write(file, await linkedProgram(block));
    imports.push(`console.log("▶ ${block.place}");\nawait import("./${file}");\n`);
  }
  const all = `${imports[0]!.match(/block_\w+/)![0]}_and_on.mjs`;
  await workshop.write(all, imports.join(""));
  const { code, output } = await workshop.program(all, until === undefined ? {} : { until });
  const place = [...output.matchAll(/^▶ (.+)$/gm)].at(-1)?.[1] ?? blocks[0]!.place;
  if (until === undefined) assert.ok(code === Number(exit), `${place} ends with ${code}:\n${output}`);
  else assert.ok(output.includes(until), `${place} never prints ${until}:\n${output}`);
  assert.ok(!/^Assertion failed/m.test(output), `${place}: a console.assert() does not hold:\n${output}`);
  return "ran";
}

async function runScript({ place, text, said }: Block, workshop: Workshop): Promise<Outcome> {
  const { until, prints, exit = "0" } = said;
  const printed = prints === undefined ? null : workshop.printed(prints);
  printed?.catch(() => {}); // Awaited below, after the script.
  const { code, output } = await workshop.script(text, until === undefined ? {} : { until });
  if (until === undefined) assert.ok(code === Number(exit), `${place} ends with ${code}:\n${output}`);
  else assert.ok(output.includes(until), `${place} never prints ${until}:\n${output}`);
  await printed?.catch((error) => assert.fail(`${place}: ${error.message}`));
  return "ran";
}

/** The lines shown are all that the program which stays has printed since it was ready. */
async function wasPrinted({ place, text, said: { printed = "" } }: Block, workshop: Workshop): Promise<Outcome> {
  const output = await workshop.printed(printed).catch((error) => assert.fail(`${place}: ${error.message}`));
  assert.ok(isShown(text, output), `${place}: it prints\n${output}\nand the guide shows\n${text}`);
  return "ran";
}

async function runShown(
  { place, said: { exit = "0", until } }: Block,
  commands: ReturnType<typeof shownCommands>,
  workshop: Workshop,
): Promise<Outcome> {
  for (const { command, output: shown } of commands) {
    const { code, output } = await workshop.script(command, until === undefined ? {} : { until });
    assert.ok(until !== undefined || code === Number(exit), `${place}: ${command} ends with ${code}:\n${output}`);
    if (shown !== null) {
      assert.ok(isShown(shown, output), `${place}: ${command} prints\n${output}\nand the guide shows\n${shown}`);
    }
  }
  return "ran";
}

/** A reason that names tests must name real ones. */
async function hasReason(reason: string, place: string): Promise<Outcome> {
  for (const [path] of reason.matchAll(/\btests\/[\w/]+(\.ts)?/g)) {
    await stat(new URL(`../../../${path}`, import.meta.url)).catch(() => assert.fail(`${place}: there is no ${path}`));
  }
  return "skipped";
}

async function isNamedIn(test: string, place: string): Promise<Outcome> {
  const text = await readFile(new URL(`../../../${test}`, import.meta.url), "utf8");
  const guide = place.slice(0, place.indexOf(":"));
  assert.ok(text.includes(guide), `${place}: ${test} does not name ${guide}`);
  return "elsewhere";
}
