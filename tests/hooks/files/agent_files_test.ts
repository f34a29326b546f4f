import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { sha256 } from "../../../src/core/values/sha256.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { Issue } from "../../../src/core/project/types.ts";

/**
 * A folder of published hook files, which are not part of this repository: `<agent>/<owner>__<repo>/<path>`. The table
 * names each with its commit, its licence and its hash, so that anyone can gather the same.
 */
const folder = process.env["KAGED_HOOK_CORPUS"];
const table: Table = JSON.parse(await readFile(fileURLToPath(new URL("./agent_files.json", import.meta.url)), "utf8"));
const onCorpus = folder === undefined ? () => {} : test;

type Read = "whole" | "part" | "not";

interface Row {
  readonly file: string;
  readonly commit: string;
  readonly licence: string;
  readonly sha256: string;
  /** Whether all of its hooks run, some, or none because the file is refused. */
  readonly read: Read;
  /** Number of hooks that run, and the dialect that the file was read as. */
  readonly hooks?: string;
  /** Why something of it does not run. */
  readonly why?: readonly string[];
}

interface Table {
  readonly counts: Readonly<Record<string, Readonly<Record<Read, number>>>>;
  readonly files: readonly Row[];
}

async function reading(file: string, text: string): Promise<Pick<Row, "read" | "hooks" | "why">> {
  const name = file.split("/").slice(2).join("/");
  try {
    const { dialect, hooks, unused = [], warnings } = await parseHookFile(text, { file: `/repository/${name}`, name });
    const off = warnings.filter(({ code }) => code === "hook.all_disabled").map(({ message }) => message);
    const why = [...new Set([...unused.map(({ reason }) => reason), ...off])];
    const count = `${hooks.length} of ${dialect}`;
    return why.length === 0 ? { read: "whole", hooks: count } : { read: "part", hooks: count, why };
  } catch (error) {
    assert.ok(error instanceof HostError && error.code === "hook.invalid", `${file}: ${error}`);
    const { issues } = error.data as { issues: Issue[] };
    return { read: "not", why: issues.slice(0, 3).map(({ line, code, message }) => `${line} ${code}: ${message}`) };
  }
}

onCorpus(
  "N-038 published hook files are read whole, in part or not, each with the reason that the table has",
  async () => {
    for (const { file, commit, licence, sha256: hash, ...wanted } of table.files) {
      const text = await readFile(`${folder}/${file}`, "utf8");
      assert.equal(await sha256(text), hash, `${file} @ ${commit} (${licence})`);
      assert.deepEqual(await reading(file, text), wanted, file);
    }
  },
);

test("N-038 the table of published hook files has at least 120 of seven agents, and its counts are those of its rows", () => {
  const counts: Record<string, Record<Read, number>> = {};
  for (const { file, read } of table.files) {
    (counts[file.split("/")[0]!] ??= { whole: 0, part: 0, not: 0 })[read]++;
  }
  assert.deepEqual(table.counts, counts);
  assert.ok(table.files.length >= 120);
  for (const agent of ["claude", "codex", "copilot", "cursor", "gemini", "opencode", "windsurf"]) {
    assert.ok(counts[agent], agent);
  }
  assert.ok(table.files.every(({ read, why }) => read === "whole" || why!.length > 0), "a reason for each");
  for (const { file, commit, licence, sha256: hash } of table.files) {
    assert.match(file, /^[\w-]+\/[\w.-]+__[\w.-]+(@[0-9a-f]{8})?\/./, "agent, owner, repository and path");
    assert.match(`${commit} ${hash}`, /^[0-9a-f]{40} [0-9a-f]{64}$/, file);
    assert.match(licence, /^(MIT|Apache-2\.0|BSD-3-Clause)( OR MIT)?$/, file);
  }
});
