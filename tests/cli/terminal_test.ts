import assert from "node:assert/strict";
import { test } from "node:test";
import { paint, printable } from "../../src/cli/terminal.ts";

test("paint() colours a terminal and leaves a pipe alone", () => {
  assert.equal(paint(true).red("x"), "\u001b[31mx\u001b[39m");
  assert.equal(paint(false).red("x"), "x");
});

test("printable() disarms what a plugin wrote to fool a terminal", () => {
  assert.equal(printable("\u001b[2J\u0007\u009b31m\rdone\u202e"), "\\u001b[2J\\u0007\\u009b31m\\u000ddone\\u202e");
  assert.equal(printable("plain\ttext\nand ünïcödé ✓"), "plain\ttext\nand ünïcödé ✓");
});
