import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf } from "../../../scripts/pictures/layers.ts";
import { layoutOf } from "../../../scripts/pictures/layout.ts";
import { circlesOf, roomOf, roomsOf } from "../../../scripts/pictures/rooms.ts";
import { roomsDrawing } from "../../../scripts/pictures/rooms_drawing.ts";
import { readXml } from "../../support/read_xml.ts";

const HOUSE = [
  { path: "mod.ts", text: 'export { a } from "./src/host/a.ts";\nexport type { P } from "./src/core/ports/p.ts";' },
  {
    path: "src/host/a.ts",
    text: 'import { b } from "../core/cage/b.ts";\nimport { c } from "../core/cage/c.ts";\n' +
      'import { d } from "../core/yaml/d.ts";\nimport { E } from "../core/errors/e.ts";',
  },
  { path: "src/core/cage/b.ts", text: 'import {\n  d,\n} from "../yaml/d.ts";\nimport { x } from "./c.ts";' },
  { path: "src/core/cage/c.ts", text: 'import type { D } from "../yaml/d.ts";\nimport { E } from "../errors/e.ts";' },
  {
    path: "src/core/yaml/d.ts",
    text: 'import type { A } from "../../host/a.ts";\nconst late = () => import("../cage/c.ts");',
  },
  { path: "src/core/errors/e.ts", text: 'import { z } from "../cage/generated/z.ts";' },
  { path: "src/core/ports/p.ts", text: "" },
  { path: "src/core/cage/generated/z.ts", text: 'import { a } from "../../../host/a.ts";' },
];

test("a room is a folder of the core, a folder beside it, or the entry", () => {
  const files = ["src/core/cage/net/gate.ts", "src/core/mcp/a.ts", "src/mcp/a.ts", "src/create_host.ts", "mod.ts"];
  assert.deepEqual(files.map(roomOf), ["core/cage", "core/mcp", "mcp", "mod.ts", "mod.ts"]);
});

test("imports between rooms are counted: late ones and types too, generated files not", () => {
  assert.deepEqual(roomsOf(HOUSE), {
    names: ["core/cage", "core/errors", "core/ports", "core/yaml", "host", "mod.ts"],
    ground: ["core/errors", "core/ports"],
    imports: [
      { from: "core/cage", to: "core/errors", count: 1 },
      { from: "core/cage", to: "core/yaml", count: 2 },
      { from: "core/yaml", to: "core/cage", count: 1 },
      { from: "core/yaml", to: "host", count: 1 },
      { from: "host", to: "core/cage", count: 2 },
      { from: "host", to: "core/errors", count: 1 },
      { from: "host", to: "core/yaml", count: 1 },
      { from: "mod.ts", to: "core/ports", count: 1 },
      { from: "mod.ts", to: "host", count: 1 },
    ],
  });
});

test("circlesOf() names what stands on a circle, and is silent where there is none", () => {
  const circles = circlesOf(new Map([["a", ["b", "d"]], ["b", ["c"]], ["c", ["b"]], ["d", []]]));
  assert.deepEqual(circles, [["b", "c", "b"]]);
  assert.deepEqual(circlesOf(new Map([["a", ["b", "c"]], ["b", ["c"]], ["c", []]])), []);
});

test("rooms stand above what they import; a way out of the core or back in a circle goes against the order", () => {
  assert.deepEqual(layersOf(roomsOf(HOUSE)), {
    rows: [["mod.ts"], ["host"], ["core/cage"], ["core/yaml"]],
    coreRow: 2,
    arrows: [
      { from: "core/cage", to: "core/yaml", count: 2 },
      { from: "host", to: "core/cage", count: 2 },
      { from: "mod.ts", to: "host", count: 1 },
    ],
    against: [
      { from: "core/yaml", to: "core/cage", count: 1 },
      { from: "core/yaml", to: "host", count: 1 },
    ],
  });
});

test("every room around the core stands above every room of it, also one that imports nothing", () => {
  const { rows, coreRow } = layersOf(roomsOf([...HOUSE, { path: "src/sdk/mod.ts", text: "" }]));
  assert.deepEqual([rows, coreRow], [[["mod.ts"], ["host", "sdk"], ["core/cage"], ["core/yaml"]], 2]);
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
  for (const room of roomsOf(HOUSE).names) assert.ok(texts.has(room.replace("core/", "")), room);
  const wires = elements.filter(({ attributes }) => /^wire /.test(attributes.class ?? ""));
  // Four in the legend.
  assert.equal(wires.filter(({ attributes }) => attributes.class!.startsWith("wire muted")).length - 3, 3);
  assert.equal(wires.filter(({ attributes }) => attributes.class!.includes("dashed")).length - 1, 2);
  assert.equal(roomsDrawing(roomsOf(HOUSE.toReversed())), drawing);
});
