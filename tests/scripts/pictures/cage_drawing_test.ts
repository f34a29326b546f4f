import assert from "node:assert/strict";
import { test } from "node:test";
import { cageDrawing } from "../../../scripts/pictures/cage_drawing.ts";
import { textWidth } from "../../../scripts/pictures/svg.ts";
import { readXml } from "../../support/read_xml.ts";

test("the cage is drawn with its pipes, the broker, the gatekeeper and what a plugin sees", () => {
  const text = readXml(cageDrawing()).map((element) => element.text).join("\n");
  for (const part of ["stdin", "stdout", "stderr", "Storage broker", "Gatekeeper", "Relay", "All it sees", "Not in"]) {
    assert.ok(text.includes(part), part);
  }
});

test("no text of the cage runs over the box it stands in", () => {
  const elements = readXml(cageDrawing());
  const boxes = elements.filter(({ name, attributes }) => name === "rect" && attributes.x !== undefined)
    .map(({ attributes: { x, y, width, height } }) =>
      [x, y, width, height].map(Number) as [number, number, number, number]
    );
  const lines = elements.filter(({ name, attributes }) => name === "text" && !attributes.class!.includes("middle"));
  assert.ok(lines.length > 20);
  for (const { attributes, text } of lines) {
    const [x, y] = [Number(attributes.x), Number(attributes.y)];
    const around = boxes.filter(([left, top, width, height]) =>
      left < x && x < left + width && top < y && y < top + height
    ).sort((a, b) => a[2] - b[2]);
    const [left, top, width, height] = around[0]!;
    assert.ok(x + textWidth(text, 12) < left + width, text);
    assert.ok(y + 8 < top + height, text);
  }
});
