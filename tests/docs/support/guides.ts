/**
 * Every guide of the repository.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { type Block, readGuide } from "./read_guide.ts";

const root = new URL("../../../", import.meta.url);
/** Folders whose Markdown is for readers. Generated pages hold no blocks and cost nothing. */
const FOLDERS = ["docs", "examples", "plugins", "sdk"];

/** File → its blocks in order. */
export async function allGuides(): Promise<Map<string, Block[]>> {
  const files = ["README.md", "CONTRIBUTING.md"];
  for (const folder of FOLDERS) {
    const entries = await readdir(new URL(folder, root), { recursive: true }).catch(() => []);
    files.push(...entries.filter((entry) => entry.endsWith(".md")).map((entry) => `${folder}/${entry}`).sort());
  }
  const guides = new Map<string, Block[]>();
  for (const file of files) guides.set(file, readGuide(file, await readFile(new URL(file, root), "utf8")));
  return guides;
}

/** The blocks of a guide that this test is said to run, in order. */
export async function blocksFor(test: string, file: string): Promise<string[]> {
  const blocks = readGuide(file, await readFile(new URL(file, root), "utf8"));
  return blocks.filter(({ said }) => said.elsewhere === test).map(({ text }) => text);
}

/** The first block of a guide in one language. */
export async function guideBlock(file: string, language: string): Promise<string> {
  const blocks = readGuide(file, await readFile(new URL(file, root), "utf8"));
  const block = blocks.find((each) => each.language === language);
  if (block === undefined) throw new Error(`${file} has no ${language} block`);
  return block.text;
}
