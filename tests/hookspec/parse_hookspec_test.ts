import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { DISPATCH_CLASSES } from "../../src/hookspec/types.ts";
import { changed, issuesOf, KIND_TEXT, kindOf, ownHookspec, problems, SAMPLE } from "./sample_hookspec.ts";

const KIND = "kinds/greeter/v1.yaml";
const kindWith = (from: string | RegExp, to: string) => changed({ [KIND]: KIND_TEXT.replace(from, to) });

test("D-001 a kind is one YAML file and the schemas it names", async () => {
  const { kind, major, file, hooks, types } = await kindOf(new Map(Object.entries(SAMPLE)));
  assert.deepEqual([kind, major, file], ["greeter", 1, KIND]);
  assert.deepEqual(hooks.map(({ name, input, output }) => [name, input, output]), [[
    "greet",
    "GreetInput",
    "GreetOutput",
  ]]);
  assert.deepEqual(types.map(({ name }) => name), ["GreetInput", "GreetOutput"]);
});

test("D-002 every field of a hook is read", async () => {
  const more = `    mcp_tool_name_template: "{kind}.{plugin}.{hook}"
    execution_model: thread_cpu_bound
    portable_name: Greeting
    aliases: { claude: [Hello, Hi] }
    scope: primary
    default_timeout_ms: 250
`;
  const { hooks, version, description } = await kindOf(
    changed({ [KIND]: KIND_TEXT.replace("mcp_exposed: false", "mcp_exposed: true") + more }),
  );
  assert.deepEqual([version, description], ["1.2.3", "Greets people."]);
  assert.deepEqual(hooks, [{
    name: "greet",
    dispatch: "singleton",
    description: "Says hello.",
    input: "GreetInput",
    output: "GreetOutput",
    wireMethod: null,
    mcpToolName: "greeter.{plugin}.greet",
    executionModel: "thread_cpu_bound",
    portableName: "Greeting",
    aliases: { claude: ["Hello", "Hi"] },
    scope: "primary",
    defaultTimeoutMs: 250,
  }]);
});

test("D-002 a field that is missing, unknown or of another type is an issue with its place", async () => {
  assert.deepEqual(await problems(kindWith("    description: Says hello.\n", "")), [
    "hookspec.missing_field v1.yaml:5:5 hooks[0].description",
  ]);
  const [issue] = await issuesOf(kindWith("mcp_exposed: false", "mcp_expose: false"));
  assert.deepEqual([issue?.code, issue?.line, issue?.hint], ["hookspec.missing_field", 5, "Add it"]);
  const [, unknown] = await issuesOf(kindWith("mcp_exposed: false", "mcp_expose: false"));
  assert.deepEqual([unknown?.code, unknown?.line, unknown?.column, unknown?.hint], [
    "hookspec.unknown_key",
    10,
    5,
    'Did you mean "mcp_exposed"?',
  ]);
  assert.deepEqual(await problems(kindWith("false", "perhaps")), [
    "hookspec.wrong_type v1.yaml:10:18 hooks[0].mcp_exposed",
  ]);
  assert.deepEqual(await problems(kindWith(/hooks:[^]*/, "hooks: []\n")), ["hookspec.wrong_type v1.yaml:4:8 hooks"]);
  assert.deepEqual((await problems(kindWith("kind: greeter\n", "- kind\n")))[0], "hookspec.yaml_syntax v1.yaml:2:1");
});

test("D-003 there are five dispatch classes, and a hook may use no other", async () => {
  assert.equal(DISPATCH_CLASSES.length, 5);
  for (const dispatch of DISPATCH_CLASSES) {
    assert.equal((await kindOf(kindWith("singleton", dispatch))).hooks[0]?.dispatch, dispatch);
  }
  const [issue] = await issuesOf(kindWith("singleton", "singelton"));
  assert.deepEqual([issue?.code, issue?.file, issue?.line, issue?.column, issue?.hint], [
    "hookspec.unknown_dispatch",
    `hookspec/${KIND}`,
    6,
    15,
    'Did you mean "singleton"?',
  ]);
});

test("D-003 the list of dispatch classes is closed: a sixth, a missing or a renamed one is refused", async () => {
  const file = "_meta/dispatch_classes.yaml";
  const text = SAMPLE[file]!;
  for (
    const bad of [
      `${text}  - { name: quorum, description: Most of them }\n`,
      text.replace(/ {2}- \{ name: chain.*\n/, ""),
      text.replace("name: chain", "name: pipe"),
    ]
  ) {
    assert.match(
      (await problems(changed({ [file]: bad }))).join(),
      /hookspec.dispatch_classes_changed.*dispatch_classes$/,
    );
  }
  const [missing] = await issuesOf(changed({ [file]: null }));
  assert.deepEqual([missing?.code, missing?.file, missing?.message], [
    "hookspec.dispatch_classes_changed",
    `hookspec/${file}`,
    "The list of dispatch classes is missing",
  ]);
});

test("D-002 a file that holds no map is one issue: nothing more can be missing in it", async () => {
  assert.deepEqual(await problems(changed({ [KIND]: "" })), ["hookspec.not_a_map v1.yaml:1:1"]);
  assert.deepEqual(await problems(changed({ [KIND]: "- kind\n" })), ["hookspec.not_a_map v1.yaml:1:1"]);
});

test("D-004 kind_api_version is SemVer and its major is that of the file", async () => {
  for (const version of ["1.0", "v1.0.0", "1.0.0.0", "01.0.0", "latest"]) {
    const found = (await problems(kindWith("1.2.3", `"${version}"`))).join();
    assert.match(found, /hookspec.invalid_version v1.yaml:2:19 kind_api_version/, version);
  }
  assert.deepEqual(await problems(kindWith("1.2.3", "1.2")), ["hookspec.wrong_type v1.yaml:2:19 kind_api_version"]);
  const [issue] = await issuesOf(kindWith("1.2.3", "2.0.0"));
  assert.deepEqual([issue?.code, issue?.hint], ["hookspec.version_misplaced", "Call the file v2.yaml"]);
});

test("D-004 hooks are snake_case, and a name stands for one hook", async () => {
  for (const name of ["sayHello", "Greet", "greet-all", "_greet", "greet__all", "1greet"]) {
    assert.match((await problems(kindWith("greet\n", `${name}\n`))).join(), /hookspec.invalid_name v1.yaml:5:11/, name);
  }
  assert.match((await problems(kindWith("greet\n", "import\n"))).join(), /hookspec.reserved_name v1.yaml:5:11/);
  const twice = KIND_TEXT + KIND_TEXT.slice(KIND_TEXT.indexOf("  - name"));
  assert.deepEqual(await problems(changed({ [KIND]: twice })), ["hookspec.duplicate_hook v1.yaml:11:11 hooks[1].name"]);
});

test("D-004 X-19 an MCP tool is named {kind}.{plugin}.{hook} and no other way", async () => {
  const template = (text: string) => changed({ [KIND]: `${KIND_TEXT}    mcp_tool_name_template: "${text}"\n` });
  assert.deepEqual(await problems(template("{kind}.{plugin}.{hook}")), []);
  for (const text of ["{kind}.{plugin}.{function}", "{plugin}.{hook}", "{kind}.{plugin}.{hook}!"]) {
    assert.match((await problems(template(text))).join(), /hookspec.invalid_template v1.yaml:11:29/, text);
  }
});

test("D-001 a kind stands in the folder of its name, under a name no language keeps for itself", async () => {
  assert.match(
    (await problems(kindWith("kind: greeter", "kind: greeters"))).join(),
    /hookspec.kind_misplaced v1.yaml:1:7/,
  );
  assert.match(
    (await problems(kindWith("kind: greeter", "kind: Greeter"))).join(),
    /hookspec.invalid_name v1.yaml:1:7/,
  );
  for (const kind of ["type", "greeter_v2"]) {
    assert.match(
      (await problems(kindWith("kind: greeter", `kind: ${kind}`))).join(),
      /hookspec.reserved_name v1.yaml:1:7/,
    );
  }
});

test("D-002 a name on another platform means one hook", async () => {
  const second = KIND_TEXT.slice(KIND_TEXT.indexOf("  - name")).replace("greet\n", "part\n");
  const text =
    `${KIND_TEXT}    aliases: { claude: [Hello] }\n${second}    aliases: { claude: [Bye, Hello], vscode: [Hello] }\n`;
  const [issue, ...others] = await issuesOf(changed({ [KIND]: text }));
  assert.deepEqual([issue?.code, issue?.line, issue?.path], [
    "hookspec.duplicate_alias",
    18,
    "hooks[1].aliases.claude[1]",
  ]);
  assert.equal(issue?.message, '"Hello" of claude is "greet" already');
  assert.deepEqual(others, []);
  assert.match(
    (await problems(changed({ [KIND]: `${KIND_TEXT}    aliases: { claude: ["../x"] }\n` }))).join(),
    /invalid_name/,
  );
  assert.match(
    (await problems(changed({ [KIND]: `${KIND_TEXT}    aliases: { claude: Hello }\n` }))).join(),
    /wrong_type/,
  );
});

test("D-001 mistakes in all files are reported at once, in the order of the files", async () => {
  const texts = changed({
    [KIND]: KIND_TEXT.replace("singleton", "solo"),
    "kinds/greeter/schemas/greet.output.json": '{\n  "type": "strin"\n}',
    "_meta/targets.yaml": "targets: { cobol: generated }\n",
  });
  assert.deepEqual(await problems(texts), [
    "hookspec.unknown_target targets.yaml:1:12 targets.cobol",
    "hookspec.invalid_schema greet.output.json:2:11 type",
    "hookspec.unknown_dispatch v1.yaml:6:15 hooks[0].dispatch",
  ]);
});

test("D-006 what is written stays within the folder that holds the hookspec", async () => {
  const target = (folder: string) => changed({ "_meta/targets.yaml": `targets: { python: "${folder}" }\n` });
  for (const folder of ["generated/python", "../src/generated", ".", "../a/../b"]) {
    assert.deepEqual(await problems(target(folder)), [], folder);
  }
  for (const folder of ["../..", "/tmp", "../../x", "a/../../../x"]) {
    assert.match((await problems(target(folder))).join(), /hookspec.target_outside targets.yaml:1:20/, folder);
  }
});

test("D-008 the kinds tool, orchestrator and agent_lifecycle are described as 1.0.0", async () => {
  const { kinds } = await ownHookspec();
  const facts = kinds.map(({ kind, version, hooks }) => {
    return [
      kind,
      version,
      hooks.map(({ name, dispatch, mcpToolName: tool }) => `${name}: ${dispatch}${tool ? ", exposed" : ""}`),
    ];
  });
  assert.deepEqual(facts.slice(1), [
    ["orchestrator", "1.0.0", ["enqueue: singleton", "status: singleton", "backfill: singleton"]],
    ["tool", "1.0.0", ["get_schema: broadcast_collect", "execute: singleton, exposed"]],
  ]);
  assert.deepEqual(facts[0]?.slice(0, 2), ["agent_lifecycle", "1.0.0"]);
  assert.equal(kinds[0]?.hooks.length, 12);
});

test("D-011 a hook may say how its work is done, in one of four ways", async () => {
  const model = (text: string) => changed({ [KIND]: `${KIND_TEXT}    execution_model: ${text}\n` });
  for (const text of ["async", "sync", "thread_cpu_bound", "process_cpu_bound"]) {
    assert.equal((await kindOf(model(text))).hooks[0]?.executionModel, text);
  }
  const [issue] = await issuesOf(model("thread_cpu"));
  assert.deepEqual([issue?.code, issue?.line, issue?.column], ["hookspec.invalid_value", 11, 22]);
});

test("D-011 the parser of a kind has about 200 lines, and no emitter more than 300", async () => {
  const linesOf = async (path: string) =>
    (await readFile(new URL(`../../src/hookspec/${path}`, import.meta.url), "utf8")).split("\n").length;
  assert.ok(await linesOf("parse_kind.ts") <= 220);
  for (const name of ["typescript", "python", "go", "openrpc", "markdown"]) {
    assert.ok(await linesOf(`emit/${name}.ts`) <= 300, name);
  }
});

test("D-010 the hooks of an orchestrator stay within the process, and those that start work are idempotent", async () => {
  const { hooks, types, wireMethodTemplate } = (await ownHookspec()).kinds.find(({ kind }) => kind === "orchestrator")!;
  assert.equal(wireMethodTemplate, null);
  for (const { mcpToolName } of hooks) assert.equal(mcpToolName, null);
  for (const name of ["EnqueueInput", "BackfillInput"]) {
    const shape = types.find((type) => type.name === name)?.shape;
    assert.ok(shape?.type === "record");
    assert.equal(shape.fields.find((field) => field.name === "idempotency_key")?.isRequired, true);
  }
});
