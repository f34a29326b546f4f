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
    { specifier: "./effect.js", line: 2, dynamic: false, lazy: false },
    { specifier: "./names.js", line: 3, dynamic: false, lazy: false },
    { specifier: "all", line: 4, dynamic: false, lazy: false },
    { specifier: "./four.js", line: 5, dynamic: false, lazy: false },
    { specifier: "./five.js", line: 6, dynamic: false, lazy: false },
    { specifier: "./six.js", line: 7, dynamic: true, lazy: false },
    { specifier: "seven", line: 8, dynamic: true, lazy: false },
    { specifier: "./eight.js", line: 9, dynamic: true, lazy: false },
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

test("importSpecifiers() says of each call whether it may never be made when the file is loaded", () => {
  const lazy = (source: string): boolean[] => importSpecifiers(source).map((one) => one.lazy);
  const later = [
    'page.evaluate(() => import("https://esm.example/x.js"));',
    'page.evaluate(async () => { const x = await import("x"); });',
    'function go() { return [{ a: import("x") }]; }',
    'class A { go() { require("x"); } }',
    'try { require("x") } catch {}',
    'if (a) { require("x") }',
    'const load = async () => (await import("x")).a',
    'const t = `${a => import("x")}`;',
  ];
  for (const source of later) assert.deepEqual(lazy(source), [true], source);
  const now = [
    'const a = require("x");',
    'const { a } = (await import("x"));',
    'module.exports = { a: require("x"), b: [require("y")] };',
    'const f = () => 1\nconst a = require("x")',
    'const f = () => 1, a = require("x")',
    'const f = () => { g() }\nconst t = `${f()}`, a = require("x")',
  ];
  for (const source of now) assert.ok(lazy(source).length > 0 && !lazy(source).includes(true), source);
});

test("importSpecifiers() reads a regular expression behind a condition as one", () => {
  const source =
    "if (x) /`/.test(y);\nconst page = `<script type=module>import a from 'https://esm.example/a.js'</script>`;";
  assert.deepEqual(names(source), []);
});
