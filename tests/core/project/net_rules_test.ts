import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { netLimitsOf } from "../../../src/core/project/net_rules.ts";
import { netRuleWarnings, warningLine } from "../../../src/core/project/net_rule_warnings.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import type { Issue } from "../../../src/core/project/types.ts";

const FILE = "/home/config.toml";
const RULE = '[[net_rules]]\nplugin = "github"\nhost = "API.github.com:443"\n';

async function issuesOf(text: string): Promise<string[]> {
  const error = await parseOperatorConfig(text, { file: FILE }).then(() => null, (thrown) => thrown as HostError);
  const { issues = [] } = (error?.data ?? {}) as { issues?: readonly Issue[] };
  return issues.map(({ code, line, message, hint }) => `${code} ${line} ${message}${hint ? `; ${hint}` : ""}`);
}

test("K-048 [[net_rules]] limit methods, paths and bytes for one host of one plugin, by its name or package", async () => {
  const text = `${RULE}methods = ["GET"]\npaths = ["/repos/*", "/user"]\nup_kib_per_min = 512
[[net_rules]]\nplugin = "@x/github"\nhost = "uploads.github.com:443"\ndown_kib_per_min = 1\n
[[net_rules]]\nplugin = "other"\nhost = "[::1]:8080"\nmethods = ["POST"]\n`;
  const { netRules } = await parseOperatorConfig(text, { file: FILE });
  assert.deepEqual(netLimitsOf(netRules, { plugin: "github", package: "@x/github" }), [
    {
      host: "api.github.com",
      port: 443,
      methods: ["GET"],
      paths: ["/repos/*", "/user"],
      upBytesPerMinute: 512 * 1024,
      downBytesPerMinute: null,
    },
    {
      host: "uploads.github.com",
      port: 443,
      methods: null,
      paths: null,
      upBytesPerMinute: null,
      downBytesPerMinute: 1024,
    },
  ]);
  assert.equal(netLimitsOf(netRules, { plugin: "other", package: "other" })[0]?.host, "[::1]");
  assert.deepEqual((await parseOperatorConfig("", { file: FILE })).netRules, []);
});

test("K-048 a rule that would not hold is refused with its file, line and the next step", async () => {
  const cases: readonly [text: string, issue: RegExp][] = [
    [RULE, /config\.invalid_value 1 The rule limits nothing; Add one of: methods, paths/],
    ['[[net_rules]]\nhost = "a.example:443"\nmethods = ["GET"]', /config\.invalid_value 1 Field "plugin" is missing/],
    ['[[net_rules]]\nplugin = "a"\nmethods = ["GET"]', /config\.invalid_value 1 Field "host" is missing/],
    ['[[net_rules]]\nplugin = "a"\nhost = "a.example"\npaths = ["/"]', /config\.invalid_value 3 .*no host.*:443/],
    ['[[net_rules]]\nplugin = "a"\nhost = "a.example:*"\npaths = ["/"]', /config\.invalid_value 3 /],
    [`${RULE}methods = ["get"]`, /config\.invalid_value 4 It is no HTTP method; Write "GET"/],
    [`${RULE}methods = []`, /config\.invalid_value 4 An empty list would refuse every request/],
    [`${RULE}paths = ["repos"]`, /config\.invalid_value 4 It does not begin with \//],
    [`${RULE}up_kib_per_min = 0`, /config\.invalid_value 4 .*whole number of KiB/],
    [`${RULE}method = ["GET"]`, /config\.unknown_key 4 .*methods/],
    ['net_rules = "x"', /config\.wrong_type 1 Expected a list/],
    ["net_rules = [1]", /config\.wrong_type 1 Expected a map/],
  ];
  for (const [text, issue] of cases) assert.match((await issuesOf(text)).join("\n"), issue, text);
});

test("K-048 a rule that limits nobody is warned of with its file, line and the next step", async () => {
  const text = `${RULE}methods = ["GET"]\n
[[net_rules]]\nplugin = "@x/githib"\nhost = "api.github.com:443"\nmethods = ["GET"]\n
[[net_rules]]\nplugin = "@x/github"\nhost = "api.gihub.com:443"\nmethods = ["GET"]\n
[[net_rules]]\nplugin = "github"\nhost = "other.example:443"\nmethods = ["GET"]\n
[[net_rules]]\nplugin = "offline"\nhost = "other.example:443"\nmethods = ["GET"]\n
[[net_rules]]\nplugin = "unread"\nhost = "other.example:443"\nmethods = ["GET"]\n
[[net_rules]]\nplugin = "nobody-knows"\nhost = "other.example:443"\nmethods = ["GET"]\n`;
  const { netRules } = await parseOperatorConfig(text, { file: FILE });
  const capabilities = ["net:api.github.com:443", "net:uploads.github.com:*"];
  const warnings = netRuleWarnings(netRules, [
    { plugin: "github", package: "@x/github", capabilities },
    { plugin: "offline", capabilities: [] },
    { plugin: "unread", capabilities: null },
  ]);
  assert.deepEqual(warnings.map((one) => `${one.code} ${one.path} ${warningLine(one)}`), [
    "config.net_rule_plugin net_rules[1].plugin " +
    `${FILE}:7:10: The rule limits nobody: no plugin "@x/githib" is installed. Did you mean "@x/github"?`,
    "config.net_rule_host net_rules[2].host " +
    `${FILE}:13:8: The rule limits nothing: plugin "@x/github" is not granted net:api.gihub.com:443. ` +
    'Did you mean "api.github.com:443"?',
    "config.net_rule_host net_rules[3].host " +
    `${FILE}:18:8: The rule limits nothing: plugin "github" is not granted net:other.example:443. ` +
    "Its hosts: api.github.com:443, uploads.github.com:*",
    "config.net_rule_host net_rules[4].host " +
    `${FILE}:23:8: The rule limits nothing: plugin "offline" is not granted net:other.example:443. ` +
    "It has no hosts: remove the rule",
    "config.net_rule_plugin net_rules[6].plugin " +
    `${FILE}:32:10: The rule limits nobody: no plugin "nobody-knows" is installed. ` +
    "Correct plugin, install the plugin, or remove the rule",
  ]);
  const whole = [{ plugin: "github", capabilities: ["net:api.github.com:*"] }];
  assert.deepEqual(netRuleWarnings(netRules.slice(0, 1), whole), []);
});
