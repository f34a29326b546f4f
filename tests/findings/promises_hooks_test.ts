/**
 * A hook command is held by the walls that hold a plugin. A device node is only ever given the mode that it has.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { canCage, guard, hookRepo } from "../support/hook_repo.ts";

// With a root host a trusted hook could change the node of the whole machine.
test("N-007 a hook command cannot change the mode of a device node, also where root runs the host", async (t) => {
  if (!await canCage(t)) return;
  const run =
    "for node in null zero full; do chmod $(stat -c %a /dev/$node) /dev/$node 2>&1 && echo changed; done > seen; true";
  const repo = await hookRepo(t, { ".github/hooks/guard.json": guard(run) });
  await repo.trust();
  await repo.fire();
  const seen = (await readFile(join(repo.dir, "seen"), "utf8")).split("\n").filter(Boolean);
  assert.deepEqual([seen.length, seen.filter((line) => line === "changed")], [3, []]);
});
