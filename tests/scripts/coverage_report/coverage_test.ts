import assert from "node:assert/strict";
import { test } from "node:test";
import { coverageTable } from "../../../scripts/coverage_report/coverage_table.ts";
import { coverageOf } from "../../../scripts/coverage_report/read_lcov.ts";
import { runtimeName } from "../../support/require_or_skip.ts";

const record = (file: string, [lh, lf, brh, brf]: readonly number[]): string =>
  `SF:${file}\nDA:1,1\nLH:${lh}\nLF:${lf}\nBRH:${brh}\nBRF:${brf}\nend_of_record\n`;

test("a file that stands in a report twice counts once, with its best figures", () => {
  const lcov = record("src/core/b.ts", [2, 4, 0, 0]) + record("src/core/a.ts", [1, 1, 1, 2]) +
    record("src/core/b.ts", [3, 4, 0, 0]);
  assert.deepEqual(coverageOf(lcov), [
    { file: "src/core/a.ts", lines: { hit: 1, of: 1 }, branches: { hit: 1, of: 2 } },
    { file: "src/core/b.ts", lines: { hit: 3, of: 4 }, branches: { hit: 0, of: 0 } },
  ]);
});

test("the table adds up rooms and the whole, and lists files below 95 %, the worst first", () => {
  const table = coverageTable(coverageOf(
    record("src/core/cage/a.ts", [99, 100, 1, 1]) + record("src/core/cage/b.ts", [0, 100, 1, 1]) +
      record("src/jobs/sqlite/feed.ts", [94, 100, 20, 20]),
  ));
  assert.deepEqual(table.split("\n"), [
    "| room | lines | branches |",
    "| --- | ---: | ---: |",
    "| src/core/cage | 49.5 % | 100.0 % |",
    "| src/jobs | 94.0 % | 100.0 % |",
    "| **whole** | 64.3 % | 100.0 % |",
    "",
    "2 of 3 files are below 95 %:",
    "",
    "| file | lines | branches |",
    "| --- | ---: | ---: |",
    "| src/core/cage/b.ts | 0.0 % | 100.0 % |",
    "| src/jobs/sqlite/feed.ts | 94.0 % | 100.0 % |",
  ]);
});

// Coverage is measured on Node, which strips types by itself; the others cannot.
const onNode = runtimeName === "node" ? test : () => {};
onNode("a file that no test loads counts with all its lines; one without code does not", async () => {
  const { unloadedFiles } = await import("../../../scripts/coverage_report/unloaded_files.ts");
  const text =
    '/** A. */\nimport { b } from "./b.ts";\nexport interface T {\n  a: 1;\n}\nexport const a: T = b;\n// end\n';
  const sources = [
    { path: "src/core/a.ts", text },
    { path: "src/core/seen.ts", text },
    { path: "src/core/generated/g.ts", text },
    { path: "src/core/types.ts", text: "/** Only types. */\nexport interface T {\n  a: 1;\n}\n" },
    { path: "src/core/mod.ts", text: 'export {\n  a,\n} from "./a.ts";\nexport type { T } from "./types.ts";\n' },
  ];
  const loaded = coverageOf(record("src/core/seen.ts", [1, 1, 0, 0]));
  assert.deepEqual(unloadedFiles(sources, loaded), [
    { file: "src/core/a.ts", lines: { hit: 0, of: 1 }, branches: { hit: 0, of: 1 } },
  ]);
});
