import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import { parseProject } from "../../../src/core/project/read_project.ts";
import { rulesOf } from "../../../src/core/project/tool_rules.ts";
import type { Issue } from "../../../src/core/project/types.ts";

const FILE = "/home/config.toml";
const config = (text: string) => parseOperatorConfig(text, { file: FILE });
const project = (tools: string) => parseProject(`id: harbor\nprimary:\n  tools:\n${tools}`, { dir: "/p" });

async function issuesOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(() => null, (thrown) => thrown as HostError);
  const { issues = [] } = (error?.data ?? {}) as { issues?: readonly Issue[] };
  return issues.map(({ code, line, message, hint }) => `${code} ${line} ${message}; ${hint}`).join("\n");
}

test("[[tool_rules]] are read in their order, each named by its line, and [approvals] over its defaults", async () => {
  const text = `# mail
[[tool_rules]]
tool = "mail.*"
agent = "primary.subagents.*"
project = "harbor"
decision = "deny"

[approvals]
wait_sec = 30
destructive = "ask"

[[tool_rules]]
tool = "mail.send"
decision = "watch"
`;
  const { toolRules, approvals, warnings } = await config(text);
  assert.deepEqual(toolRules, [
    { tool: "mail.*", agent: "primary.subagents.*", project: "harbor", decision: "deny", id: "config.toml:2" },
    { tool: "mail.send", agent: null, project: null, decision: "watch", id: "config.toml:12" },
  ]);
  assert.deepEqual(approvals, { destructive: "ask", waitSec: 30, network: "refuse", sampling: "ask" });
  assert.deepEqual(warnings, []);
  assert.deepEqual((await config("")).approvals, {
    destructive: "allow",
    waitSec: 600,
    network: "refuse",
    sampling: "ask",
  });
  assert.deepEqual((await config("")).toolRules, []);
});

test("a rule that would hold nobody back is refused with its line and the next step", async () => {
  const RULE = '[[tool_rules]]\ntool = "mail.*"\n';
  const cases: readonly [text: string, issue: RegExp][] = [
    [RULE, /config\.invalid_value 1 Field "decision" is missing; Write decision = "ask"/],
    ['[[tool_rules]]\ndecision = "ask"', /config\.invalid_value 1 Field "tool" is missing; Write tool = "mail\.\*"/],
    [
      `${RULE}decision = "aks"`,
      /config\.invalid_value 3 "aks" is none of allow, watch, ask, deny; Did you mean "ask"\?/,
    ],
    [`${RULE}decision = "block"`, /config\.invalid_value 3 .*; Use one of: allow, watch, ask, deny/],
    [`${RULE}decision = true`, /config\.invalid_value 3 true is none of/],
    [
      `${RULE}decision = "ask"\nagents = "primary"`,
      /config\.unknown_key 4 Unknown key "agents"; Did you mean "agent"\?/,
    ],
    [
      '[[tool_rules]]\ntool = "*"\ndecision = "deny"',
      /config\.invalid_value 2 "\*" fits no tool: .*; Write .*"\*\.\*"/,
    ],
    ['[[tool_rules]]\ntool = "mail__send"\ndecision = "deny"', /config\.invalid_value 2 "mail__send" fits no tool/],
    ['[[tool_rules]]\ntool = "Mail.send"\ndecision = "deny"', /config\.invalid_value 2 .*in lower case/],
    ['[[tool_rules]]\ntool = "mail.send.now"\ndecision = "deny"', /config\.invalid_value 2 /],
    ["[[tool_rules]]\ntool = 3\ndecision = 'deny'", /config\.invalid_value 2 3 fits no tool/],
    [`${RULE}agent = "researcher"\ndecision = "ask"`, /config\.invalid_value 3 "researcher" fits no path of an agent/],
    [`${RULE}agent = "primary.*"\ndecision = "ask"`, /config\.invalid_value 3 .*primary\.subagents\.\*/],
    [`${RULE}agent = "primary.agents.a"\ndecision = "ask"`, /config\.invalid_value 3 /],
    [`${RULE}agent = ""\ndecision = "ask"`, /config\.invalid_value 3 /],
    [`${RULE}project = "har*"\ndecision = "ask"`, /config\.invalid_value 3 "har\*" is no id of a project; .*patterns/],
    ['tool_rules = "x"', /config\.wrong_type 1 Expected a list/],
    ["tool_rules = [1]", /config\.wrong_type 1 Expected a map/],
    ['[approvals]\ndestructive = "aks"', /config\.invalid_value 2 .*; Did you mean "ask"\?/],
    ["[approvals]\nwait_sec = 0", /config\.invalid_value 2 It is not a whole number of seconds from 1 to 86400/],
    ["[approvals]\nwait_sec = 86401", /config\.invalid_value 2 /],
    ["[approvals]\nwait_secs = 3", /config\.unknown_key 2 .*; Did you mean "wait_sec"\?/],
    ['[approvals]\nnetwork = "allow"', /config\.invalid_value 2 "allow" is none of refuse, ask/],
  ];
  for (const [text, issue] of cases) assert.match(await issuesOf(config(text)), issue, text);
});

test("a rule that one above it always matches first is warned of, at its line", async () => {
  const rules = (...all: string[]) => all.map((one) => `[[tool_rules]]\n${one}`).join("\n");
  const warned = async (...all: string[]) =>
    (await config(rules(...all))).warnings.map(({ code, line, message }) => `${code} ${line} ${message}`);
  const any = 'tool = "mail.*"\ndecision = "ask"';
  assert.deepEqual(await warned(any, 'tool = "mail.send"\ndecision = "allow"'), [
    "config.rule_covered 4 The rule never decides: the one at line 1 matches whatever it matches",
  ]);
  assert.equal((await warned(any, any)).length, 1);
  assert.equal((await warned(any, 'tool = "mail.*_a"\nagent = "primary"\nproject = "p"\ndecision = "deny"')).length, 1);
  const mine = 'tool = "mail.*"\nagent = "primary.subagents.*"\ndecision = "ask"';
  assert.equal((await warned(mine, 'tool = "mail.x"\nagent = "primary.subagents.a"\ndecision = "deny"')).length, 1);
  assert.deepEqual(await warned(mine, any, 'tool = "*.*"\ndecision = "deny"'), []);
  assert.deepEqual(await warned('tool = "mail.*"\nproject = "a"\ndecision = "ask"', any), []);
});

test("approval: of a project's tools is read beside enabled:, by name or pattern, for each agent", async () => {
  const text = `    "mail.send": { approval: ask }
    "mail.read": { enabled: false, approval: watch }
    "mail.*": { approval: deny }
    "notes.add": { color: red }
  subagents:
    helper:
      tools: { "mail.*": { approval: watch } }
`;
  const read = await project(text);
  assert.deepEqual(read.agents.map(({ tools, approvals }) => ({ tools, approvals })), [
    {
      tools: { "mail.send": { enabled: true }, "mail.read": { enabled: false }, "notes.add": { enabled: true } },
      approvals: { "mail.send": "ask", "mail.read": "watch", "mail.*": "deny" },
    },
    { tools: {}, approvals: { "mail.*": "watch" } },
  ]);
  const operator = await config(`[[tool_rules]]\ntool = "a.b"\nproject = "other"\ndecision = "ask"
[[tool_rules]]\ntool = "a.b"\nproject = "harbor"\ndecision = "ask"
[[tool_rules]]\ntool = "a.c"\ndecision = "ask"\n`);
  const rules = rulesOf(operator, read);
  assert.deepEqual(rules.operator.map(({ id }) => id), ["config.toml:5", "config.toml:9"]);
  assert.deepEqual(rules.project.map(({ id, agent, decision }) => [id, agent, decision]), [
    ["project.yaml:primary:mail.send", "primary", "ask"],
    ["project.yaml:primary:mail.read", "primary", "watch"],
    ["project.yaml:primary:mail.*", "primary", "deny"],
    ["project.yaml:primary.subagents.helper:mail.*", "primary.subagents.helper", "watch"],
  ]);
  assert.equal(rules.settings, operator.approvals);
});

test("a project that would loosen, misspells or means no tool is refused with line and hint", async () => {
  const cases: readonly [tools: string, issue: RegExp][] = [
    [
      '    "a.b": { approval: allow }',
      /project\.invalid_value 4 A project can only tighten.*; Write watch, ask or deny/,
    ],
    [
      '    "a.b": { approval: aks }',
      /project\.invalid_value 4 "aks" is none of watch, ask, deny; Did you mean "ask"\?/,
    ],
    ['    "a.b": { approval: true }', /project\.invalid_value 4 true is none of watch, ask, deny/],
    ['    "a.b": { aproval: ask }', /project\.unknown_key 4 Unknown key "aproval"; Write "a\.b": .*approval: ask/],
    ['    "a": { approval: ask }', /project\.invalid_value 4 "a" fits no tool/],
    ['    "*": { approval: ask }', /project\.invalid_value 4 "\*" fits no tool.*"\*\.\*"/],
    [
      '    "a.*": { enabled: false }',
      /project\.invalid_value 4 A pattern switches no tools.*; Write an entry for each/,
    ],
  ];
  for (const [tools, issue] of cases) assert.match(await issuesOf(project(`${tools}\n`)), issue, tools);
});
