import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import { createHookEngine } from "../../src/hooks/mod.ts";
import { canCage, hookRepo } from "../support/hook_repo.ts";

const command = (text: string): object[] => [{ hooks: [{ type: "command", command: text }] }];

test("X-17 an entry under Stop runs at the end of a turn, one under SessionEnd at the end of the session, each once", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    ".claude/settings.json": JSON.stringify({
      hooks: { Stop: command("cat >> ran; echo more >&2; exit 2"), SessionEnd: command("cat >> ended") },
    }),
  });
  await repo.trust();
  const opened = await repo.open();
  const engine = createHookEngine();
  engine.add(opened.registrations);
  assert.deepEqual(engine.list("SessionEnd").map(({ turnEnd }) => turnEnd), [true, false]);
  const lines = async (name: string): Promise<Record<string, unknown>[]> => {
    const text = await readFile(`${repo.dir}/${name}`, "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  };

  const turns = agentHooks(engine, { session: "ses_turns" });
  for (const _ of [1, 2]) {
    const { goOn, reason } = await turns.onStop();
    assert.deepEqual([goOn, reason], [true, "more"]);
  }
  assert.deepEqual(
    (await lines("ran")).map(({ hook_event_name, stop_hook_active }) => [hook_event_name, stop_hook_active]),
    [
      ["Stop", false],
      ["Stop", true],
    ],
  );
  assert.deepEqual(await lines("ended"), []);
  assert.equal((await turns.onEnd()).blocked, false);
  assert.deepEqual([(await lines("ran")).length, (await lines("ended")).length], [2, 1]);

  const { blocked, reason } = await agentHooks(engine, { session: "ses_other" }).onEnd();
  assert.deepEqual([blocked, reason], [true, "more"]);
  assert.deepEqual([(await lines("ran")).length, (await lines("ended")).length], [3, 2]);
});
