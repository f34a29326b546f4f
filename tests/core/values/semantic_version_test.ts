import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { isSemanticVersion } from "../../../src/core/values/semantic_version.ts";

type Fixtures = Record<"valid-versions" | "invalid-versions" | "comparisons", unknown[][]>;
const corpus = new URL("../../corpora/semver/fixtures.json", import.meta.url);
const fixtures: Fixtures = JSON.parse(await readFile(corpus, "utf8"));

test("K-040 isSemanticVersion() agrees with the semver corpus, save for the v that SemVer 2.0.0 does not know", () => {
  const compared = fixtures.comparisons.flatMap(([a, b]) => [a, b] as string[]);
  for (const version of [...fixtures["valid-versions"].map(([version]) => version as string), ...compared]) {
    assert.equal(isSemanticVersion(version), !version.startsWith("v"), version);
  }
  for (const [version] of fixtures["invalid-versions"]) {
    if (typeof version === "string") assert.equal(isSemanticVersion(version), false, version);
  }
});

test("K-040 isSemanticVersion() follows the grammar of SemVer 2.0.0 to the letter", () => {
  const valid = [
    "0.0.0",
    "1.2.3-0",
    "1.0.0-alpha.1",
    "1.0.0--",
    "1.0.0-0a",
    "1.0.0+001",
    "1.0.0-x.7.z.92+a.b-c",
    `1.2.3-${"a".repeat(250)}`,
  ];
  const invalid = [
    ...["", "1", "1.2", "1.2.3.4", "01.2.3", "1.02.3", "1.2.03", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+"],
    ...["1.2.3+a+b", "1.2.3 ", " 1.2.3", "1.2.3\n", "-1.2.3", "1.2.x", "1.2.3-é", "=1.2.3", "^1.2.3", "1.2.3+a..b"],
    `1.2.3-${"a".repeat(251)}`,
  ];
  for (const version of valid) assert.equal(isSemanticVersion(version), true, version);
  for (const version of invalid) assert.equal(isSemanticVersion(version), false, version);
});
