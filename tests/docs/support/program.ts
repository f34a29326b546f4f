/**
 * A block of TypeScript as a program of its own.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import type { Block } from "./read_guide.ts";

const root = new URL("../../../", import.meta.url);

/** Entry of the package → its source file. */
export async function entries(): Promise<Map<string, URL>> {
  const { name, exports } = JSON.parse(await readFile(new URL("deno.json", root), "utf8"));
  return new Map(
    Object.entries<string>(exports).map(([entry, file]) => [`${name}${entry.slice(1)}`, new URL(file, root)]),
  );
}

/** The program that is type-checked: the given lines of the comment, then the block. */
export const programOf = ({ text, said: { given = "" } }: Block): string => `${given}\n${text}`;

/** The same with every package found from this repository, wherever the program lies. */
export async function linkedProgram(block: Block): Promise<string> {
  const known = await entries();
  return programOf(block).replace(
    /(\bfrom |\bimport\(|^import )"([^."/][^"]*)"/gm,
    (_, before: string, name: string) => {
      const entry = known.get(name)?.href;
      if (entry === undefined && name.startsWith("@kaged/")) throw new Error(`${block.place}: no entry ${name}`);
      return `${before}"${entry ?? import.meta.resolve(name)}"`;
    },
  );
}
