import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { test } from "node:test";
import { blocksFor } from "./support/guides.ts";

interface Walk {
  readonly name: string;
  readonly rooms: { readonly room: string; readonly files: string[] }[];
}

/** `name: from … until …`, then a line for each room; a line that is indented further goes on with the one before. */
function walksIn(text: string): Walk[] {
  const walks: Walk[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const [, indent, head, rest] = /^( *)(?:([a-z][a-z/ ]*): )?(.*)$/.exec(line)!;
    const words = rest!.split(" ");
    if (indent === "") walks.push({ name: head!, rooms: [] });
    else if (head === undefined) walks.at(-1)!.rooms.at(-1)!.files.push(...words);
    else walks.at(-1)!.rooms.push({ room: head, files: words });
  }
  return walks;
}

const [block] = await blocksFor("tests/docs/walks_test.ts", "docs/architecture.md");
const walks = walksIn(block!);

test("docs/architecture.md has the seven walks, and every file on them is there", async () => {
  const names = ["handshake", "tool call", "session start", "storage insert", "failing compactor", "knob", "hook file"];
  assert.deepEqual(walks.map(({ name }) => name), names);
  for (const { name, rooms } of walks) {
    for (const { room, files } of rooms) {
      for (const file of files) {
        await assert.doesNotReject(
          access(new URL(`../../src/${room}/${file}.ts`, import.meta.url)),
          `${name}: ${file}`,
        );
      }
    }
  }
});

test("no walk is longer than 14 files, and none goes back into a room it left", () => {
  for (const { name, rooms } of walks) {
    const files = rooms.flatMap(({ room, files }) => files.map((file) => `${room}/${file}`));
    assert.ok(files.length <= 14, `${name} has ${files.length} files`);
    assert.equal(new Set(files).size, files.length, name);
    assert.equal(new Set(rooms.map(({ room }) => room)).size, rooms.length, name);
  }
});
