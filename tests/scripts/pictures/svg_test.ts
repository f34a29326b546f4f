import assert from "node:assert/strict";
import { test } from "node:test";
import { element, escapeXml, label, svgFile } from "../../../scripts/pictures/svg.ts";
import { readXml } from "../../support/read_xml.ts";

const picture = (...body: string[]): string => svgFile({ width: 10, height: 10, title: "<a & b>", body });

test("a picture is well-formed whatever its texts and attributes hold", () => {
  const hostile = `</text><script>alert(1)</script> & "quoted" 'too' \u0000\ud800 ÷ ×`;
  const elements = readXml(picture(label(hostile, { x: 1, class: hostile })));
  const text = elements.find(({ name }) => name === "text");
  const kept = `</text><script>alert(1)</script> & "quoted" 'too' ?\ufffd ÷ ×`;
  assert.deepEqual(text, { name: "text", attributes: { x: "1", class: kept }, text: kept });
  assert.ok(!elements.some(({ name }) => name === "script"));
});

test("a picture says what it shows to those who do not see it", () => {
  assert.equal(readXml(picture()).find(({ name }) => name === "title")?.text, "<a & b>");
});

test("a picture has colours for a dark page, and loads nothing", () => {
  const text = picture();
  assert.match(text, /@media\(prefers-color-scheme:dark\)/);
  assert.doesNotMatch(text.replace('xmlns="http://www.w3.org/2000/svg"', ""), /https?:|@import|href/);
});

test("numbers are rounded, so that every machine writes the same picture", () => {
  assert.equal(element("rect", { x: 1 / 3, y: 2, width: "3.14159" }), '<rect x="0.3" y="2" width="3.14159"/>');
});

test("escapeXml() leaves plain text alone", () => {
  assert.equal(escapeXml("calls/s ÷ 1.5 — ünï"), "calls/s ÷ 1.5 — ünï");
});
