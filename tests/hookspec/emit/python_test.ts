import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { emitPython } from "../../../src/hookspec/emit/python.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { KIND_TEXT, kindOf, ownHookspec, withOutput } from "../sample_hookspec.ts";

const run = promisify(execFile);

/** Debian's Python, and another one where there is one: the two may have different versions of pydantic. */
async function pythons(): Promise<string[]> {
  const found: string[] = [];
  for (const python of ["/usr/bin/python3", "python3"]) {
    const version = await run(python, ["-c", "import pydantic, sys; print(sys.executable, pydantic.VERSION)"]).catch(
      () => null,
    );
    if (version && !found.some((known) => version.stdout.startsWith(`${known} `))) {
      found.push(version.stdout.split(" ")[0]!);
    }
  }
  return found;
}

/** Runs a program on every Python with the emitted modules beside it; warnings are errors. */
async function runPython(
  t: TestContext,
  modules: Readonly<Record<string, string>>,
  program: string,
): Promise<string[]> {
  const found = await pythons();
  if (!await requireOrSkip(t, "Python with pydantic", found.length > 0, "install python3-pydantic")) return [];
  const dir = await scratchDir(t);
  for (const [name, text] of Object.entries({ ...modules, program })) await writeFile(join(dir, `${name}.py`), text);
  return await Promise.all(found.map(async (python) => {
    const env = { PYTHONDONTWRITEBYTECODE: "1", PATH: "/usr/bin:/bin" };
    return (await run(python, ["-W", "error", join(dir, "program.py")], { env })).stdout;
  }));
}

const emitted = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await ownHookspec()).kinds.map((spec) => [spec.kind, emitPython(spec)]));

test("D-005 the emitted Python imports and validates, under pydantic 1 and 2 alike", async (t) => {
  const outputs = await runPython(
    t,
    await emitted(),
    `
import tool, orchestrator, agent_lifecycle
from pydantic import ValidationError

def refused(make):
    try:
        make()
    except ValidationError:
        return True
    return False

call = tool.ExecuteInput(**{"name": "add", "args": {"a": 1}})
assert call.name == "add" and call.args == {"a": 1}
done = tool.ExecuteOutput(**{"result": None, "elapsed_ms": 3, "more": "kept"})
assert done.elapsed_ms == 3 and done.more == "kept"
assert refused(lambda: tool.ExecuteOutput(**{"elapsed_ms": 3})), "result is required, though it may be anything"
assert refused(lambda: tool.ExecuteOutput(**{"result": 1, "elapsed_ms": -1}))
assert refused(lambda: tool.ExecuteInput(**{"name": "add"}))
assert refused(lambda: orchestrator.EnqueueInput(**{"task": "", "args": {}, "idempotency_key": "k"}))
assert refused(lambda: orchestrator.StatusOutput(**{"run_id": "r", "state": "lost", "attempts": 0}))
event = agent_lifecycle.HookEvent(**{
    "hook": "PreToolUse", "timestamp": "2026-01-01T00:00:00Z", "sessionId": "ses_1", "agent": "primary",
    "tool": {"name": "shell"}, "input": {"command": "ls"},
})
assert event.tool.name == "shell" and event.branch is None
assert refused(lambda: agent_lifecycle.HookEvent(**{"hook": "PreToolUse"}))
assert refused(lambda: agent_lifecycle.HookResponse(**{"action": "explode"}))
class Holder(agent_lifecycle.BaseModel):
    answer: agent_lifecycle.PreCompactOutput
window = {"role": "compactor", "messages": [{"role": "user", "content": "hi"}], "superseded": ["m1"]}
assert isinstance(Holder(answer=window).answer, agent_lifecycle.CompactorResult)
assert isinstance(Holder(answer={"retain": ["x"]}).answer, agent_lifecycle.ObserverResult)
assert Holder(answer="text").answer == "text"
assert Holder(answer=None).answer is None
print("fine")
`,
  );
  for (const output of outputs) assert.equal(output, "fine\n");
});

test("D-005 the emitted Protocol is one a plugin can be tested against", async (t) => {
  const outputs = await runPython(
    t,
    await emitted(),
    `
import tool
class Good:
    def get_schema(self): return []
    def execute(self, input): return tool.ExecuteOutput(result=1, elapsed_ms=0)
class Bad:
    def execute(self, input): return None
print(isinstance(Good(), tool.ToolPlugin), isinstance(Bad(), tool.ToolPlugin), tool.HOOKS["execute"]["dispatch"], tool.KIND_API_VERSION)
`,
  );
  for (const output of outputs) assert.equal(output, "True False singleton 1.0.0\n");
});

test("D-005 N-039 the emitted models convert nothing, under pydantic 1 and 2 alike", async (t) => {
  const types = { text: "string", whole: "integer", size: "number", flag: "boolean" };
  const properties: Record<string, unknown> = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, { type }]),
  );
  properties.few = { type: "array", items: { type: "integer", minimum: 1, maximum: 9 } };
  properties.half = { type: "number", minimum: 0.5, maximum: 1.5 };
  properties.word = { type: "string", minLength: 1, maxLength: 2 };
  properties.either = { type: ["integer", "string"] };
  properties.named = { type: "object", additionalProperties: { type: "string" } };
  const greeter = emitPython(await kindOf(withOutput({ type: "object", properties })));
  const outputs = await runPython(
    t,
    { greeter },
    `
import json
from greeter import GreetOutput
from pydantic import ValidationError

def taken(field, value):
    try:
        return [getattr(GreetOutput(**{field: value}), field)] == [value]
    except ValidationError:
        return False

right = {"text": ["5", ""], "whole": [5, -1], "size": [5, 5.7], "flag": [True, False], "few": [[], [1, 9]],
         "half": [1, 0.5, 1.5], "word": ["a", "ab"], "either": [5, "5"], "named": [{}, {"a": "b"}]}
wrong = {"text": [5, 5.7, True, b"5"], "whole": ["5", 5.7, 5.0, True], "size": ["5", True], "flag": [1, 0, "true"],
         "few": [[0], [10], ["1"], [True], [1.5]], "half": [0, 2, 0.4, "1", True], "word": ["", "abc", 1],
         "either": [5.7, True], "named": [{"a": 1}]}
print(json.dumps([[field, value] for field in right for value in right[field] if not taken(field, value)]))
print([[field, value] for field in wrong for value in wrong[field] if taken(field, value)])
`,
  );
  for (const output of outputs) assert.equal(output, "[]\n[]\n");
});

test("N-039 an absent field has its default in Python, and records are instances of their models", async (t) => {
  const point = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] };
  const greeter = emitPython(
    await kindOf(withOutput({
      type: "object",
      properties: {
        mode: { enum: ["day", "night"], default: "day" },
        ratio: { type: "number", default: 1e-7 },
        loud: { type: "boolean", default: false },
        none: { type: ["string", "null"], default: null },
        tags: { type: "array", items: { type: "string" }, default: ["a", "b"] },
        path: { anyOf: [{ type: "null" }, { type: "array", items: { $ref: "#/$defs/Point" } }], default: [{ x: 1 }] },
        any: { default: { deep: [true, null, 'a "quote"'] } },
        must: { type: "string", default: "x" },
      },
      required: ["must"],
      $defs: { Point: point },
    })),
  );
  const program = `
from greeter import GreetOutput, Point
one, two = GreetOutput(must="m"), GreetOutput(must="m")
assert (one.mode, one.ratio, one.loud, one.none) == ("day", 1e-7, False, None)
assert one.tags == ["a", "b"] and one.tags is not two.tags
assert one.path == [Point(x=1)] and isinstance(one.path[0], Point)
assert one.any == {"deep": [True, None, 'a "quote"']}
try:
    GreetOutput()
except ValueError:
    print("must is required")
`;
  for (const output of await runPython(t, { greeter }, program)) assert.equal(output, "must is required\n");
});

test("D-006 Python takes whatever a description says as text", async (t) => {
  const hostile = 'ends """ here \\" and \\\\ \'\'\' # \n x = 1 "';
  const texts = withOutput({
    type: "object",
    description: hostile,
    properties: { a: { type: "string", description: hostile } },
  });
  texts.set("kinds/greeter/v1.yaml", KIND_TEXT.replace("Says hello.", JSON.stringify(hostile)));
  const greeter = emitPython(await kindOf(texts));
  const outputs = await runPython(t, { greeter }, "import greeter\nprint(greeter.GreetOutput.__doc__)\n");
  for (const output of outputs) assert.equal(output.trim(), 'ends """ here \\" and \\\\ \'\'\' # x = 1 "');
});
