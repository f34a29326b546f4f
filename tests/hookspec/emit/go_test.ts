import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { emitGo } from "../../../src/hookspec/emit/go.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { KIND_TEXT, kindOf, ownHookspec, withOutput } from "../sample_hookspec.ts";

const run = promisify(execFile);

/** Writes files into a module of their own; returns its folder, or null where there is no Go. */
async function goModule(t: TestContext, files: Readonly<Record<string, string>>): Promise<string | null> {
  const isThere = await run("/usr/bin/gofmt", ["-h"]).then(() => true, ({ code }) => code === 2);
  if (!await requireOrSkip(t, "Go", isThere, "install golang-go")) return null;
  const dir = await scratchDir(t);
  for (const [path, text] of Object.entries({ "go.mod": "module example.com/kinds\n\ngo 1.18\n", ...files })) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

/** Runs a command of Go that reaches for no network and leaves nothing behind. */
async function go(dir: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: dir,
    GOCACHE: join(dir, ".cache"),
    GOFLAGS: "-mod=mod",
    GOPROXY: "off",
  };
  return (await run("go", args, { cwd: dir, env })).stdout;
}

const emitted = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await ownHookspec()).kinds.map((spec) => [`${spec.kind}/${spec.kind}.go`, emitGo(spec)]));

test("D-005 the emitted Go is as gofmt writes it", async (t) => {
  const hostile = 'ends */ here `x` "\n var y int // z';
  const texts = withOutput({
    type: "object",
    description: hostile,
    properties: { a: { type: "string", description: hostile }, b: {}, longer: { type: "integer" } },
  });
  texts.set("kinds/greeter/v1.yaml", KIND_TEXT.replace("Says hello.", JSON.stringify(hostile)));
  const dir = await goModule(t, { ...await emitted(), "greeter/greeter.go": emitGo(await kindOf(texts)) });
  if (dir !== null) assert.deepEqual(await run("/usr/bin/gofmt", ["-e", "-l", dir]), { stdout: "", stderr: "" });
});

test("D-005 the emitted Go compiles, passes go vet, and speaks the same JSON", async (t) => {
  const dir = await goModule(t, {
    ...await emitted(),
    "main.go": `package main

import (
	"encoding/json"
	"fmt"

	"example.com/kinds/agent_lifecycle"
	"example.com/kinds/tool"
)

type plugin struct{}

func (plugin) GetSchema() (tool.GetSchemaOutput, error) { return nil, nil }
func (plugin) Execute(input tool.ExecuteInput) (tool.ExecuteOutput, error) {
	return tool.ExecuteOutput{Result: input.Args["a"], ElapsedMs: 3}, nil
}

var _ tool.ToolPlugin = plugin{}

func main() {
	var input tool.ExecuteInput
	if err := json.Unmarshal([]byte(\`{"name":"add","args":{"a":1}}\`), &input); err != nil {
		panic(err)
	}
	output, _ := plugin{}.Execute(input)
	text, _ := json.Marshal(output)
	fmt.Println(string(text))
	branch := "main"
	text, _ = json.Marshal(agentlifecycle.HookEvent{Hook: "OnError", SessionId: "s", Branch: &branch})
	fmt.Println(string(text))
}
`,
  });
  if (dir === null) return;
  await go(dir, "vet", "./...");
  assert.equal(
    await go(dir, "run", "."),
    '{"result":1,"elapsed_ms":3}\n{"hook":"OnError","timestamp":"","sessionId":"s","agent":"","branch":"main"}\n',
  );
});
