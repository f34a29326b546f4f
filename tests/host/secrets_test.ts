import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { HostError } from "../../mod.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";
import { canCage } from "../support/hook_repo.ts";
import { runKaged } from "../support/run_kaged.ts";
import { served } from "../support/served.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const TOKEN = "tok/en+of-the operator";
const PIN = 84213377;
const LINE = "MIIEvQIBADANBgkqhkiG9w0B";
const LEAK = /tok\/en|tok%2Fen|\b84213377|MIIEvQ/;

const manifest = {
  methods: ["fixture.call", "fixture.give", "fixture.crash"],
  system_config_schema: {
    type: "object",
    properties: { token: { type: "string" }, pin: { type: "integer" }, key: { type: "string" }, refused: {} },
  },
};

/** A host whose one plugin knows three secrets and keeps none of them. */
const leaking = (more = ""): HostedOptions => ({
  primary: { memory: {} },
  fixtures: { "@test/memory": { fixture: "leaks_secrets", manifest: manifest as never } },
  local: `[plugins."@test/memory"]\ntoken = "${TOKEN}"\npin = ${PIN}\nkey = """\n${LINE}\n"""\n${more}`,
});

const thrown = async (work: Promise<unknown>): Promise<HostError> => {
  const error = await work.then(() => null, (error) => error);
  assert.ok(error instanceof HostError);
  return error;
};

const shown = ({ message, data, hint, stack }: HostError): string => JSON.stringify([message, data, hint, stack]);

test("N-017 secrets of the operator are hidden in audit events, noise, logs, crash tails and errors", async (t) => {
  if (!await canCage(t)) return;
  const lines: string[] = [];
  await using h = await hosted({ ...leaking(), audit: [{ write: (event) => void lines.push(JSON.stringify(event)) }] });
  const error = await thrown(h.host.callMethod("leaks-secrets", "fixture.call"));
  assert.equal(error.message, "token [secret:token] pin [secret:pin] key [secret:token]");
  assert.doesNotMatch(shown(error), LEAK);
  await h.next("plugin.stdout_noise");
  await thrown(h.host.callMethod("leaks-secrets", "fixture.crash"));
  const { data } = await h.next("plugin.crashed");
  assert.match(data.last_stderr.join("\n"), /token \[secret:token\] pin \[secret:pin\][^]*\n\[secret:key\]/);
  await h.host.stop();
  const log = await readFile(join(h.home, "logs/leaks-secrets.jsonl"), "utf8");
  assert.match(log, /token \[secret:token\]/);
  for (const text of [log, lines.join("\n"), JSON.stringify(h.events), JSON.stringify(h.logs)]) {
    assert.doesNotMatch(text, LEAK);
  }
});

test("a plugin that refuses its config cannot quote the secrets in it: not to the caller, not over HTTP", async (t) => {
  if (!await canCage(t)) return;
  await using s = await served({ ...leaking("refused = true\n"), start: false });
  const { failed } = await s.h.host.start();
  assert.match(failed[0]!.error.message, /\[secret:token\]/);
  const texts = [shown(failed[0]!.error), JSON.stringify(s.h.events)];
  for (const path of ["plugins", "plugins/leaks-secrets"]) {
    texts.push(JSON.stringify((await s.ask(`/api/v1/${path}`)).body));
  }
  for (const text of texts) assert.doesNotMatch(text, LEAK);
});

test("secrets are hidden in answers over HTTP, results included, and the caller in the program gets them", async (t) => {
  if (!await canCage(t)) return;
  await using s = await served(leaking());
  const given = await s.h.host.callMethod("leaks-secrets", "fixture.give") as { readonly token: string };
  assert.equal(given.token, TOKEN);
  for (const [method, status] of [["fixture.give", 200], ["fixture.call", 422]] as const) {
    const path = `/api/v1/plugins/leaks-secrets/call/${method}`;
    const answer = await s.ask(path, { method: "POST", json: {} });
    const text = JSON.stringify(answer.body);
    assert.equal(answer.status, status, text);
    assert.match(text, /\[secret:token\]/);
    assert.doesNotMatch(text, LEAK);
  }
});

test("secrets are hidden on a host's tapes, as numbers too, and those of its other plugins", async (t) => {
  if (!await canCage(t)) return;
  const record = join(await scratchDir(t), "tapes");
  const { fixtures, ...options } = leaking();
  const both = { ...fixtures, "@test/echo": "echo" };
  await using h = await hosted({ ...options, primary: { memory: {}, echo: {} }, fixtures: both, record });
  await h.host.callMethod("leaks-secrets", "fixture.give");
  await h.host.callMethod("echo", "echo.params", { text: `see ${TOKEN}`, pin: PIN });
  await h.host.stop();
  const tapes = await Promise.all((await readdir(record)).map((name) => readFile(join(record, name), "utf8")));
  assert.equal(tapes.length, 2);
  for (const tape of tapes) {
    assert.match(tape, /\[secret:token\]/);
    assert.doesNotMatch(tape, LEAK);
  }
});

test("kaged plugin call prints no secret, neither in a result nor in an error or a log", async (t) => {
  if (!await canCage(t)) return;
  const home = join(await scratchDir(t), "home");
  await using plugin = await fixturePlugin("leaks_secrets", { manifest: manifest as never });
  const config = ["--config", JSON.stringify({ token: TOKEN, pin: PIN }), "--home", home];
  for (const method of ["fixture.give", "fixture.call"]) {
    for (const json of [[], ["--json"]]) {
      const { stdout, stderr } = await runKaged(["plugin", "call", plugin.dir, method, "{}", ...config, ...json]);
      assert.match(stdout + stderr, /\[secret:token\]/);
      assert.doesNotMatch(stdout + stderr, LEAK);
    }
  }
});

test("a host warns when it is loaded of rules on requests that limit nobody", async () => {
  const warnings: string[] = [];
  const rules = [["echo", "b.example:443"], ["@test/echo", "a.example:443"], ["nobody", "a.example:443"]];
  const config = rules.map(([plugin, host]) =>
    `[[net_rules]]\nplugin = "${plugin}"\nhost = "${host}"\nmethods = ["GET"]\n`
  ).join("");
  const echo = { fixture: "echo", manifest: { capabilities: ["net:a.example:443"] } };
  const options = { primary: { echo: {} }, fixtures: { "@test/echo": echo }, config, start: false };
  await using h = await hosted({ ...options, onWarning: (text) => warnings.push(text) });
  assert.deepEqual(warnings, [
    `${h.home}/config.toml:3:8: The rule limits nothing: plugin "echo" is not granted net:b.example:443. ` +
    'Did you mean "a.example:443"?',
    `${h.home}/config.toml:10:10: The rule limits nobody: no plugin "nobody" is installed. ` +
    "Correct plugin, install the plugin, or remove the rule",
  ]);
});
