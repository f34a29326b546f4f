import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { sha256 } from "../../../../src/core/values/sha256.ts";
import { createHookEngine } from "../../../../src/hooks/engine/engine.ts";
import type { HookEvent } from "../../../../src/hooks/engine/types.ts";
import { canCage, hookEvent, hookRepo } from "../../../support/hook_repo.ts";

/**
 * A folder of published scripts, which are not part of this repository: `<owner>__<repo>/<path>`. The table names each
 * with its commit, its licence and its hash, so that anyone can gather the same.
 */
const folder = process.env["KAGED_HOOK_SCRIPTS"];
const path = fileURLToPath(new URL("./agent_scripts.json", import.meta.url));
const table: readonly Row[] = JSON.parse(await readFile(path, "utf8"));
const onScripts = folder === undefined ? () => {} : test;

type Outcome = "pass" | "block" | "ask" | "tell";

/** A script, the hook file that names it, and two events: one that it lets pass, and one that it means to refuse. */
interface Row {
  readonly script: string;
  readonly commit: string;
  readonly licence: string;
  readonly sha256: string;
  readonly file: string;
  readonly hooks: object;
  /** The hook file at the first event, where it is another. */
  readonly allowedHooks?: object;
  /** Files of the project, by path; those of the second event alone. */
  readonly files?: Readonly<Record<string, string>>;
  readonly refusedFiles?: Readonly<Record<string, string>>;
  readonly allowed: Partial<HookEvent>;
  readonly refused: Partial<HookEvent>;
  /** What its agent does at the second event, by its documentation. */
  readonly wants: Outcome;
  readonly documented: string;
}

async function outcome(t: TestContext, row: Row, isRefused: boolean): Promise<Outcome> {
  const [owner, repository, ...rest] = row.script.split("/");
  const script = await readFile(`${folder}/${owner}__${repository}/${rest.join("/")}`, "utf8");
  assert.equal(await sha256(script), row.sha256, `${row.script} @ ${row.commit} (${row.licence})`);
  const hooks = isRefused ? row.hooks : row.allowedHooks ?? row.hooks;
  const repo = await hookRepo(t, {
    [rest.join("/")]: script,
    [row.file]: JSON.stringify(hooks),
    ...row.files,
    ...(isRefused ? row.refusedFiles : {}),
  });
  await repo.trust();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add((await repo.open()).registrations);
  const given = JSON.stringify(isRefused ? row.refused : row.allowed).replaceAll("/project", repo.dir);
  const { hook = "PreToolUse", ...event } = JSON.parse(given) as Partial<HookEvent>;
  const { sessionId, agent } = hookEvent();
  const options = { turnEnd: hook === "SessionEnd", canAsk: true };
  const { asked, blocked, context } = await engine.fire({ sessionId, agent, hook, ...event }, options);
  return asked.length > 0 ? "ask" : blocked ? "block" : context.length > 0 ? "tell" : "pass";
}

// A row that stages files needs a repository, which the cage does not let its hook make.
for (const row of table.filter((row) => !("staged" in row))) {
  onScripts(`N-038 ${row.script} does here what its agent documents: ${row.wants}`, async (t) => {
    if (!await canCage(t)) return;
    assert.equal(await outcome(t, row, false), "pass", "the first event");
    assert.equal(await outcome(t, row, true), row.wants, row.documented);
  });
}

test("N-038 the table of published scripts has at least 25, of six agents", () => {
  assert.ok(table.length >= 25);
  const places = new Set(table.map(({ file }) => file.split("/")[0]));
  assert.deepEqual([...places].sort(), [".claude", ".codex", ".cursor", ".gemini", ".github", ".windsurf", "hooks"]);
});
