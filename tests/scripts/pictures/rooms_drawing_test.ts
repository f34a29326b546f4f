import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf } from "../../../scripts/pictures/layers.ts";
import { layoutOf } from "../../../scripts/pictures/layout.ts";
import { roomOf, roomsOf } from "../../../scripts/pictures/rooms.ts";
import { roomsDrawing } from "../../../scripts/pictures/rooms_drawing.ts";
import { readXml } from "../../support/read_xml.ts";

const HOUSE = [
  { path: "mod.ts", text: 'export { a } from "./src/core/host/a.ts";\nexport type { P } from "./src/core/ports.ts";' },
  {
    path: "src/core/host/a.ts",
    text: 'import { b } from "../cage/b.ts";\nimport { c } from "../cage/c.ts";\nimport { d } from "../yaml/d.ts";',
  },
  { path: "src/core/cage/b.ts", text: 'import {\n  d,\n} from "../yaml/d.ts";\nimport { x } from "./c.ts";' },
  { path: "src/core/cage/c.ts", text: 'import { d } from "../yaml/d.ts";\nimport { E } from "../errors.ts";' },
  {
    path: "src/core/yaml/d.ts",
    text: 'import type { A } from "../host/a.ts";\nconst late = () => import("../cage/c.ts");',
  },
  { path: "src/core/errors.ts", text: 'import { z } from "./cage/generated/z.ts";' },
  { path: "src/core/ports.ts", text: "" },
  { path: "src/core/cage/generated/z.ts", text: 'import { a } from "../../host/a.ts";' },
];

test("a room is a folder of the core, a folder beside it, or the entry", () => {
  assert.deepEqual(
    [
      "src/core/cage/net/gate.ts",
      "src/core/errors/cage.ts",
      "src/core/ports/http.ts",
      "src/mcp/a.ts",
      "src/create_host.ts",
    ]
      .map(roomOf),
    ["cage", "errors", "ports", "src/mcp", "mod.ts"],
  );
});

test("imports between rooms are counted: late ones too, types and generated files not", () => {
  assert.deepEqual(roomsOf(HOUSE), {
    names: ["cage", "errors", "host", "mod.ts", "ports", "yaml"],
    small: ["errors", "ports"],
    imports: [
      { from: "cage", to: "errors", count: 1 },
      { from: "cage", to: "yaml", count: 2 },
      { from: "host", to: "cage", count: 2 },
      { from: "host", to: "yaml", count: 1 },
      { from: "mod.ts", to: "host", count: 1 },
      { from: "yaml", to: "cage", count: 1 },
    ],
  });
});

test("rooms stand above what they import; the fewer imports of a circle go against the order", () => {
  assert.deepEqual(layersOf(roomsOf(HOUSE)), {
    rows: [["mod.ts"], ["host"], ["cage"], ["yaml"]],
    arrows: [
      { from: "cage", to: "yaml", count: 2 },
      { from: "host", to: "cage", count: 2 },
      { from: "mod.ts", to: "host", count: 1 },
    ],
    against: [{ from: "yaml", to: "cage", count: 1 }],
  });
});

test("boxes of a row keep apart, and arrows that need not cross do not", () => {
  const rows = [["a", "b"], ["c", "d"], ["e", "f"]];
  const arrows = [{ from: "a", to: "d" }, { from: "b", to: "c" }, { from: "a", to: "f" }];
  const { middles, routes, width } = layoutOf(rows, arrows, () => 50);
  for (const [left, right] of rows) {
    assert.ok(Math.abs(middles.get(left!)! - middles.get(right!)!) >= 50, `${left} ${right}`);
  }
  const side = (one: string, other: string): number => Math.sign(middles.get(one)! - middles.get(other)!);
  assert.equal(side("a", "b"), side("d", "c"));
  assert.deepEqual(routes, [["a", "d"], ["b", "c"], ["a", "a>f#1", "f"]]);
  assert.ok(width >= 122 && [...middles.values()].every((middle) => middle >= 0 && middle <= width));
});

test("the drawing names every room, has every arrow, and is the same each time", () => {
  const drawing = roomsDrawing(roomsOf(HOUSE));
  const elements = readXml(drawing);
  const texts = new Set(elements.filter(({ name }) => name === "text").map(({ text }) => text));
  for (const room of roomsOf(HOUSE).names) assert.ok(texts.has(room), room);
  const wires = elements.filter(({ attributes }) => /^wire /.test(attributes.class ?? ""));
  // Four in the legend.
  assert.equal(wires.filter(({ attributes }) => attributes.class!.startsWith("wire muted")).length - 3, 3);
  assert.equal(wires.filter(({ attributes }) => attributes.class!.includes("dashed")).length - 1, 1);
  assert.equal(roomsDrawing(roomsOf(HOUSE.toReversed())), drawing);
});
