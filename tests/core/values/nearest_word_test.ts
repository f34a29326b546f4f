import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearestWord } from "../../../src/core/values/nearest_word.ts";

test("nearestWord() finds the known word that was meant", () => {
  const known = ["name", "tools", "knobs", "description", "hooks"];
  assert.equal(nearestWord("nmae", known), "name");
  assert.equal(nearestWord("tool", known), "tools");
  assert.equal(nearestWord("TOOLS", known), "tools");
  assert.equal(nearestWord("knob", known), "knobs");
  assert.equal(nearestWord("hookz", known), "hooks");
  assert.equal(nearestWord("descrip", known), null);
  assert.equal(nearestWord("discripton", known), "description");
  assert.equal(nearestWord("", ["ab"]), null);
  assert.equal(nearestWord("x".repeat(65), ["x".repeat(64)]), null);
});

test("nearestWord() takes the nearest, and of equals the first", () => {
  assert.equal(nearestWord("cats", ["bats", "cat", "rats"]), "bats");
  assert.equal(nearestWord("cat", ["cart", "cat"]), "cat");
});

test("didYouMean() offers something else when nothing is near", () => {
  assert.equal(didYouMean("hoks", ["hooks"], "Read the guide"), 'Did you mean "hooks"?');
  assert.equal(didYouMean("colour", ["hooks"], "Read the guide"), "Read the guide");
});
