import assert from "node:assert/strict";
import { test } from "node:test";
import { importSpecifiers } from "../../../src/operator/check/import_specifiers.ts";

const names = (source: string): string[] => importSpecifiers(source).map(({ specifier }) => specifier);

test("importSpecifiers() finds every form of import, with its line", () => {
  const source = `#!/usr/bin/env node
import "./effect.js";
import one, { two as three } from './names.js';
import * as all from "all";
export { four } from "./four.js";
export * from "./five.js";
const six = await import("./six.js");
const seven = require("seven");
const eight = import(\`./eight.js\`, { with: { type: "json" } });
`;
  assert.deepEqual(importSpecifiers(source), [
    { specifier: "./effect.js", line: 2, dynamic: false },
    { specifier: "./names.js", line: 3, dynamic: false },
    { specifier: "all", line: 4, dynamic: false },
    { specifier: "./four.js", line: 5, dynamic: false },
    { specifier: "./five.js", line: 6, dynamic: false },
    { specifier: "./six.js", line: 7, dynamic: true },
    { specifier: "seven", line: 8, dynamic: true },
    { specifier: "./eight.js", line: 9, dynamic: true },
  ]);
});

test("importSpecifiers() leaves out comments, strings, templates and regular expressions", () => {
  assert.deepEqual(names('// import "a"\n/* import "b"\n */ const s = "import \'c\'";'), []);
  assert.deepEqual(names("const t = `import \"a\" ${f('x')} export * from \"b\"`; import 'c'"), ["c"]);
  assert.deepEqual(names("const t = `${`${{ a: 1 }}`} import 'a'`; import 'c'"), ["c"]);
  assert.deepEqual(names(`const re = /["'\`]/g; import "c"; const half = a / b / "x";`), ["c"]);
  assert.deepEqual(names(`s.replace(/[/"]/, '"'); import "c"`), ["c"]);
});

test("importSpecifiers() leaves out types, which are erased", () => {
  assert.deepEqual(names('import type { A } from "a"; export type { B } from "b"; import type C from "c";'), []);
  assert.deepEqual(names('import type from "a"; import { type B } from "b";'), ["a", "b"]);
});

test("importSpecifiers() leaves out what only looks like an import", () => {
  assert.deepEqual(names('loader.import("a"); x.require("b"); import.meta.url; import(name); import("a" + b)'), []);
  assert.deepEqual(names("import(`./${name}.js`)"), []);
});
