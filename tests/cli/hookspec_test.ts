import assert from "node:assert/strict";
import { cp, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const OWN = fileURLToPath(new URL("../../hookspec", import.meta.url));

/** A copy of the project's hookspec that writes everything below its own folder. */
async function hookspecCopy(t: TestContext, name = "hookspec"): Promise<string> {
  const dir = await scratchDir(t);
  await cp(OWN, join(dir, name), { recursive: true });
  await rm(join(dir, name, "generated"), { recursive: true });
  await rm(join(dir, name, "_meta/targets.yaml"));
  return dir;
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  assert.ok(text.includes(from), `${file} holds no "${from}"`);
  await writeFile(file, text.replace(from, to));
}

test("D-006 kaged hookspec emit writes every file once, and what it wrote passes the check", async (t) => {
  const cwd = await hookspecCopy(t);
  const missing = await runKaged(["hookspec", "check"], { cwd });
  assert.equal(missing.code, 1);
  assert.match(missing.stdout, /^hookspec\/generated\/python\/tool_v1\.py is missing$/m);
  const first = await runKaged(["hookspec", "emit"], { cwd });
  assert.deepEqual([first.code, first.stderr], [0, ""]);
  assert.match(first.stdout, /^wrote hookspec\/generated\/go\/tool\/v1\/tool\.go$/m);
  assert.match(first.stdout, /^15 files, 15 written\n$/m);
  assert.equal((await stat(join(cwd, "hookspec/generated/python/tool_v1.py"))).mode & 0o777, 0o644);
  assert.equal((await runKaged(["hookspec", "emit"], { cwd })).stdout, "15 files, 0 written\n");
  const check = await runKaged(["hookspec", "check"], { cwd });
  assert.deepEqual([check.code, check.stdout], [0, "15 files follow from the hookspec\n"]);
});

test("D-006 kaged hookspec check shows what differs and exits 1, whoever changed it", async (t) => {
  const cwd = await hookspecCopy(t);
  await runKaged(["hookspec", "emit"], { cwd });
  const python = join(cwd, "hookspec/generated/python/tool_v1.py");
  await edit(python, "    name: StrictStr", "    nom: StrictStr");
  const { code, stdout } = await runKaged(["hookspec", "check"], { cwd });
  assert.equal(code, 1);
  assert.match(stdout, /^hookspec\/generated\/python\/tool_v1\.py$/m);
  assert.match(stdout, /^- {4}nom: StrictStr = Field\(\.\.\.\)\n\+ {4}name: StrictStr = Field\(\.\.\.\)$/m);
  assert.match(stdout, /^1 of 15 files differ\n {2}hint: Run kaged hookspec emit\n$/m);
  assert.match(await readFile(python, "utf8"), /nom: StrictStr/, "it writes nothing");
});

test("D-006 kaged hookspec check --json names each file and how it stands", async (t) => {
  const cwd = await hookspecCopy(t);
  await runKaged(["hookspec", "emit", "--out", "out"], { cwd });
  await rm(join(cwd, "out/go/tool/v1/tool.go"));
  await edit(join(cwd, "hookspec/kinds/tool/v1.yaml"), "Runs one tool", "Runs a tool");
  const { code, stdout } = await runKaged(["hookspec", "check", "--out", "out", "--json"], { cwd });
  const { ok, files } = JSON.parse(stdout);
  assert.deepEqual([code, ok, files.length], [1, false, 15]);
  const byPath = new Map<string, { status: string; diff?: string[] }>(
    files.map((file: { path: string }) => [file.path, file]),
  );
  assert.equal(byPath.get("out/go/tool/v1/tool.go")?.status, "missing");
  assert.equal(byPath.get("out/python/orchestrator_v1.py")?.status, "same");
  const stale = byPath.get("out/python/tool_v1.py");
  assert.equal(stale?.status, "stale");
  assert.ok(stale?.diff?.includes('+        """Runs a tool with its arguments."""'), stale?.diff?.join("\n"));
});

test("D-006 files left over from a kind that is gone are reported by check and removed by emit; files of other hands stay", async (t) => {
  const cwd = await hookspecCopy(t);
  await runKaged(["hookspec", "emit"], { cwd });
  await rm(join(cwd, "hookspec/kinds/orchestrator"), { recursive: true });
  const own = join(cwd, "hookspec/generated/python/helpers.py");
  await writeFile(own, "# Written by hand\n");
  const { code, stdout } = await runKaged(["hookspec", "check"], { cwd });
  assert.equal(code, 1);
  const left = ["typescript/orchestrator.ts", "python/orchestrator_v1.py", "go/orchestrator/v1/orchestrator.go"];
  left.push("openrpc/orchestrator-v1.json", "markdown/orchestrator-v1.md");
  for (const path of left) {
    assert.ok(stdout.includes(`hookspec/generated/${path} is left over: nothing gives it any more`));
  }
  assert.match(stdout, /^5 left over\n {2}hint: Run kaged hookspec emit\n$/m);
  const emitted = await runKaged(["hookspec", "emit"], { cwd });
  assert.match(emitted.stdout, /^removed hookspec\/generated\/go\/orchestrator\/v1\/orchestrator\.go$/m);
  assert.match(emitted.stdout, /^10 files, 0 written, 5 removed\n$/m);
  assert.equal((await runKaged(["hookspec", "check"], { cwd })).stdout, "10 files follow from the hookspec\n");
  assert.equal(await readFile(own, "utf8"), "# Written by hand\n");
});

test("D-001 a hookspec that is not in order stops every command, with each place and what to do", async (t) => {
  const cwd = await hookspecCopy(t);
  await edit(join(cwd, "hookspec/kinds/tool/v1.yaml"), "dispatch: singleton", "dispatch: singelton");
  await edit(
    join(cwd, "hookspec/kinds/tool/schemas/execute.input.json"),
    '"type": "string"',
    '"$ref": "../../../../x.json"',
  );
  for (const args of [["emit"], ["check"], ["diff", "hookspec", "hookspec"]]) {
    const { code, stderr, stdout } = await runKaged(["hookspec", ...args], { cwd });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^error\[hookspec\.invalid\]: Hookspec has 2 issues, first at .*execute\.input\.json:/);
    assert.match(stderr, /execute\.input\.json:\d+:\d+ \[hookspec\.schema_outside\] properties\.name\.\$ref: /);
    assert.match(stderr, /v1\.yaml:15:15 \[hookspec\.unknown_dispatch\] .*\(Did you mean "singleton"\?\)/);
  }
});

test("D-001 a folder without a hookspec is reported by its own error", async (t) => {
  const cwd = await scratchDir(t);
  const { code, stdout } = await runKaged(["hookspec", "check", "--json"], { cwd });
  const { error } = JSON.parse(stdout);
  assert.deepEqual([code, error.code, error.hint], [
    1,
    "hookspec.missing",
    "Name the folder that holds _meta and kinds",
  ]);
});

test("D-001 a kind whose file is not found stops every command: nothing of it is taken for left over", async (t) => {
  const cwd = await hookspecCopy(t);
  await rename(join(cwd, "hookspec/kinds/tool/v1.yaml"), join(cwd, "hookspec/kinds/tool/v1.yml"));
  const renamed = await runKaged(["hookspec", "emit"], { cwd });
  assert.equal(renamed.code, 1);
  assert.match(
    renamed.stderr,
    /^error\[hookspec\.missing\]: No kind at ".*\/kinds\/tool": it has no file v<N>\.yaml\n/,
  );
  await rm(join(cwd, "hookspec/kinds"), { recursive: true });
  await mkdir(join(cwd, "hookspec/kinds"));
  const empty = await runKaged(["hookspec", "emit"], { cwd });
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /^error\[hookspec\.missing\]: No hookspec at .*\n {2}hint: Name the folder/);
});

test("D-001 a folder in place of a file is reported by its name and with the next step", async (t) => {
  const cwd = await hookspecCopy(t);
  const kind = join(cwd, "hookspec/kinds/tool/v1.yaml");
  await rm(kind);
  await mkdir(kind);
  const { code, stderr } = await runKaged(["hookspec", "check"], { cwd });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `error[hookspec.unreadable]: "${kind}" is no file\n  hint: Check that it is a file you may read\n`,
  );
});

test("D-001 a file that is a link out of the hookspec is refused, and one within is read", async (t) => {
  const cwd = await hookspecCopy(t);
  const schema = join(cwd, "hookspec/kinds/tool/schemas/execute.input.json");
  await rename(schema, join(cwd, "hookspec/input.json"));
  await symlink("../../../input.json", schema);
  assert.equal((await runKaged(["hookspec", "emit"], { cwd })).code, 0);
  await rename(join(cwd, "hookspec/input.json"), join(cwd, "input.json"));
  await rm(schema);
  await symlink(join(cwd, "input.json"), schema);
  const { code, stderr } = await runKaged(["hookspec", "check"], { cwd });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /execute\.input\.json:1:1 \[hookspec\.schema_outside\] The file leads to ".*\/input\.json" \(Copy/,
  );
});

test("D-006 a folder of --out belongs to one hookspec: another can neither write nor check there", async (t) => {
  const cwd = await hookspecCopy(t, "first");
  await cp(join(cwd, "first"), join(cwd, "second"), { recursive: true });
  await rm(join(cwd, "second/kinds/orchestrator"), { recursive: true });
  assert.equal((await runKaged(["hookspec", "emit", "--dir", "first", "--out", "out"], { cwd })).code, 0);
  for (const command of ["emit", "check"]) {
    const { code, stdout, stderr } = await runKaged(["hookspec", command, "--dir", "second", "--out", "out"], { cwd });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(
      stderr,
      `error[hookspec.out_taken]: "${cwd}/out" holds what follows from the hookspec at "${cwd}/first"\n` +
        `  hint: Give each hookspec a folder of its own; if that one has moved, remove ${cwd}/out/.hookspec\n`,
    );
  }
  const check = await runKaged(["hookspec", "check", "--dir", "first", "--out", "out"], { cwd });
  assert.equal(check.stdout, "15 files follow from the hookspec\n", "the first one's are all there");
  await rm(join(cwd, "out/.hookspec"));
  const taken = await runKaged(["hookspec", "emit", "--dir", "second", "--out", "out"], { cwd });
  assert.match(taken.stdout, /^10 files, 0 written, 5 removed\n$/m);
});

test("D-013 kaged hookspec diff says what each change does, and exits 1 when the version is too low", async (t) => {
  const cwd = await hookspecCopy(t, "old");
  await cp(join(cwd, "old"), join(cwd, "new"), { recursive: true });
  const same = await runKaged(["hookspec", "diff", "old", "new"], { cwd });
  assert.deepEqual([same.code, same.stdout.split("\n")[2]], [0, "tool 1.0.0: unchanged"]);
  await edit(
    join(cwd, "new/kinds/tool/schemas/execute.output.json"),
    '"elapsed_ms": {',
    '"note": { "type": "string" },\n    "elapsed_ms": {',
  );
  const low = await runKaged(["hookspec", "diff", "old", "new"], { cwd });
  assert.equal(low.code, 1);
  assert.match(
    low.stdout,
    /^tool 1\.0\.0: needs 1\.1\.0\n {2}compatible {2}execute\.output\.note: is new and optional\n$/m,
  );
  await edit(join(cwd, "new/kinds/tool/v1.yaml"), "1.0.0", "1.1.0");
  const { code, stdout } = await runKaged(["hookspec", "diff", "old", "new", "--json"], { cwd });
  const { ok, kinds } = JSON.parse(stdout);
  assert.deepEqual([code, ok], [0, true]);
  assert.deepEqual(kinds[2], {
    kind: "tool",
    from: "1.0.0",
    to: "1.1.0",
    needed: "1.1.0",
    ok: true,
    changes: [{ path: "execute.output.note", effect: "compatible", message: "is new and optional" }],
  });
});

test("D-008 a hook is added by an edit of the YAML and emit", async (t) => {
  const cwd = await hookspecCopy(t);
  const kind = join(cwd, "hookspec/kinds/agent_lifecycle/v1.yaml");
  const hook = `  - name: on_model_changed
    dispatch: broadcast_notify
    description: When the agent goes on with another model.
    input_schema: schemas/hook_event.json
    output_schema: schemas/ignored.output.json
    mcp_exposed: false
    scope: any
`;
  await writeFile(kind, `${(await readFile(kind, "utf8")).trimEnd()}\n\n${hook}`);
  assert.equal((await runKaged(["hookspec", "emit"], { cwd })).code, 0);
  const generated = await readFile(join(cwd, "hookspec/generated/typescript/agent_lifecycle.ts"), "utf8");
  assert.match(generated, /^ {2}\| "on_model_changed";$/m);
  assert.match(
    generated,
    /onModelChanged\(input: HookEvent\): IgnoredOutput \| Promise<IgnoredOutput>; \/\/ broadcast_notify/,
  );
});

test("D-012 a plugin written for other hooks is refused with the reason, and the project goes on without it", async (t) => {
  const cwd = await scratchDir(t);
  const manifest = (name: string, version: string) =>
    `name: ${name}
version: 0.1.0
kaged_api: 1
kind_api_version: ${version}
description: A plugin
command: [js, ./plugin.js]
capabilities: []
hooks: [on_session_start]
`;
  for (const [name, version] of [["old", "1.0.0"], ["new", "2.0.0"]] as const) {
    await mkdir(join(cwd, name));
    await writeFile(join(cwd, name, "kaged-plugin.yaml"), manifest(name, version));
    await writeFile(join(cwd, name, "plugin.js"), "");
  }
  await writeFile(
    join(cwd, "project.yaml"),
    'primary: { plugins: { old: { package: "old" }, new: { package: "new" } } }\n',
  );
  const plugins = ["--plugin", "old=old", "--plugin", "new=new"];
  const { stdout } = await runKaged(["project", "resolve", ".", "--home", "home", ...plugins, "--json"], { cwd });
  const { agents, errors } = JSON.parse(stdout);
  assert.deepEqual(agents.primary.plugins.old.hooks, ["on_session_start"]);
  assert.match(JSON.stringify(errors), /manifest\.kind_api_mismatch.*2\.x is wanted, and 1\.x is here/);
});
