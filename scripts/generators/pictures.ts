/** Draws docs/img/architecture.svg from the imports of the sources, and docs/img/cage.svg. */
import { readdir, readFile } from "node:fs/promises";
import { cageDrawing } from "../pictures/cage_drawing.ts";
import { roomsDrawing } from "../pictures/rooms_drawing.ts";
import { roomsOf, type Source } from "../pictures/rooms.ts";

async function sources(): Promise<Source[]> {
  const entries = await readdir("src", { recursive: true });
  const paths = entries.filter((entry) => entry.endsWith(".ts")).map((entry) => `src/${entry}`);
  return await Promise.all(["mod.ts", ...paths].map(async (path) => ({ path, text: await readFile(path, "utf8") })));
}

/** Both drawings. */
export const pictures: readonly { path: string; render: () => Promise<string> }[] = [
  { path: "docs/img/architecture.svg", render: async () => roomsDrawing(roomsOf(await sources())) },
  { path: "docs/img/cage.svg", render: () => Promise.resolve(cageDrawing()) },
];
