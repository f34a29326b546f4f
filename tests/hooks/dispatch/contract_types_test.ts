import assert from "node:assert/strict";
import { test } from "node:test";
import * as lifecycle from "../../../src/core/contract/generated/agent_lifecycle.ts";
import * as tool from "../../../src/core/contract/generated/tool.ts";
import { dispatchCollect, dispatchSingleton, type HookContract, type Participant } from "../../../src/hooks/mod.ts";

test("D-009 N-039 an element of HOOKS beside its HOOK_SCHEMAS is a contract, without a cast", async () => {
  const execute = tool.HOOKS.find(({ name }) => name === "execute")!;
  const runner: Participant<tool.ExecuteInput, tool.ExecuteOutput> = {
    name: "runner",
    call: ({ name }) => ({ result: `ran ${name}`, elapsed_ms: 1 }),
  };
  const input = { name: "ls", args: {} };
  assert.deepEqual(await dispatchSingleton({ ...execute, ...tool.HOOK_SCHEMAS.execute }, [runner], input), {
    result: "ran ls",
    elapsed_ms: 1,
  });
  const wrong = { name: 7 } as unknown as tool.ExecuteInput;
  assert.throws(() => dispatchSingleton({ ...execute, ...tool.HOOK_SCHEMAS.execute }, [runner], wrong), {
    code: "hook.input_invalid",
  });
  const contracts: HookContract[] = lifecycle.HOOKS.map((hook) => ({ ...hook, ...lifecycle.HOOK_SCHEMAS[hook.name] }));
  const { answers } = await dispatchCollect(contracts[0]!, [], {});
  assert.deepEqual(answers, []);
});
