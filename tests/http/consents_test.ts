import assert from "node:assert/strict";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { putInstalled } from "../support/installed.ts";
import { failed, type Served, served } from "../support/served.ts";

const CONSENTS = "/api/v1/consents";

/** A host whose project declares a plugin in its own folder that nobody installed yet. */
async function asking(): Promise<Served> {
  const s = await served({
    yaml: { primary: { plugins: { e: { package: "@test/echo", source: "./plugins/echo" } } } },
    start: false,
  });
  const manifest = {
    capabilities: ["kaged:storage:write", "net:*"],
    system_config_schema: { type: "object", properties: { pin: { type: "string" } } },
    secrets: { pin: { exposed: true } },
  } as const;
  await using plugin = await fixturePlugin("echo", { manifest });
  await mkdir(join(s.h.dir, "plugins"));
  await cp(plugin.dir, join(s.h.dir, "plugins/echo"), { recursive: true });
  await s.h.host.start();
  return s;
}

const post = (s: Served, path: string, json: unknown = {}) => s.ask(`${CONSENTS}/${path}`, { method: "POST", json });

test("K-053 a request for consent describes the capabilities and secrets of a plugin in plain words", async () => {
  await using s = await asking();
  const { body: { consents: [request] } } = await s.ask(CONSENTS);
  assert.deepEqual([request.package, request.source, request.step, request.state], [
    "@test/echo",
    "./plugins/echo",
    "grant",
    "waiting",
  ]);
  assert.deepEqual(request.offer.added, ["kaged:storage:write", "net:*"]);
  assert.equal(request.offer.source, join(s.h.dir, "plugins/echo"));
  const [storage, net] = request.offer.capabilities;
  assert.deepEqual([storage.text, storage.danger], ["Can keep rows in tables of its own", null]);
  assert.match(net.danger, /every machine/);
  const danger = "It can keep the value and pass it on wherever it may connect";
  assert.deepEqual(request.offer.secrets, [{ key: "pin", text: "Sees the secret itself: your pin", danger }]);
});

test("K-053 a plugin is installed and started only when each capability is granted by name, for the files seen", async () => {
  await using s = await asking();
  const { body: { consents: [{ id, offer: { hash, added: grant } }] } } = await s.ask(CONSENTS);
  assert.deepEqual(failed(await post(s, `${id}/approve`, { hash, grant: [grant[0]] })), [
    403,
    "install.consent_missing",
  ]);
  assert.deepEqual(failed(await post(s, `${id}/approve`, { hash: "sha256:0", grant })), [409, "install.changed"]);
  assert.equal((await s.ask(CONSENTS)).body.consents[0].error.code, "install.changed");
  const { status, body } = await post(s, `${id}/approve`, { hash, grant });
  assert.deepEqual([status, body.state], [200, "installed"]);
  assert.deepEqual((await s.ask(CONSENTS)).body.consents, []);
  const { body: { plugins } } = await s.ask("/api/v1/plugins");
  assert.deepEqual(plugins.map((one: { plugin: string; state: string }) => [one.plugin, one.state]), [
    ["echo", "running"],
  ]);
  assert.deepEqual((await s.ask("/api/v1/plugins/echo")).body.secrets, ["Sees the secret itself: your pin"]);
});

test("K-053 a request that is declined stays, can be asked for again, and an id that is none is a 404", async () => {
  await using s = await asking();
  const { body: { consents: [{ id }] } } = await s.ask(CONSENTS);
  const { status, body } = await post(s, `${id}/decline`, undefined);
  assert.deepEqual([status, body.state], [200, "declined"]);
  assert.equal((await s.ask(CONSENTS)).body.consents[0].state, "declined");
  assert.equal((await post(s, `${id}/ask-again`, undefined)).body.state, "waiting");
  assert.equal((await s.ask(CONSENTS)).body.consents[0].state, "waiting");
  for (const act of ["approve", "decline", "ask-again"]) {
    assert.deepEqual(failed(await post(s, `con_none/${act}`, act === "approve" ? {} : undefined)), [
      404,
      "consent.unknown",
    ]);
  }
});

test("a capability can be withheld over HTTP: the plugin runs without it, and its page says so", async () => {
  await using s = await asking();
  const { body: { consents: [{ id, offer }] } } = await s.ask(CONSENTS);
  const { hash } = offer;
  assert.deepEqual(offer.withheld, []);
  const answers: [unknown, [number, string]][] = [
    [{ hash, grant: ["kaged:storage:write"], withhold: [] }, [403, "install.consent_missing"]],
    [{ hash, grant: ["kaged:storage:write", "net:*"], withhold: ["net:b.example:1"] }, [
      422,
      "install.capability_unknown",
    ]],
    [{ hash, grant: ["kaged:storage:write", "net:*"], withhold: ["net:*"] }, [422, "install.withhold_granted"]],
    [{ hash, grant: ["kaged:storage:write"], withhold: "net:*" }, [400, "http.input_invalid"]],
  ];
  for (const [json, expected] of answers) assert.deepEqual(failed(await post(s, `${id}/approve`, json)), expected);
  const { body } = await post(s, `${id}/approve`, { hash, grant: ["kaged:storage:write"], withhold: ["net:*"] });
  assert.equal(body.state, "installed");
  const { body: plugin } = await s.ask("/api/v1/plugins/echo");
  const names = (list: { capability: string }[]): string[] => list.map(({ capability }) => capability);
  assert.deepEqual([names(plugin.capabilities), names(plugin.withheld)], [["kaged:storage:write"], ["net:*"]]);
  assert.equal(plugin.instances[0].state, "running");
});

test("K-055 the answer to an upgrade that could not start says why, and which version is installed now", async () => {
  await using v1 = await fixturePlugin("echo");
  await using v2 = await fixturePlugin("exits_on_initialize", { manifest: { name: "echo", version: "2.0.0" } });
  const declared = { package: "@test/echo", source: "./p", version: "^2" };
  await using s = await served({ yaml: { primary: { plugins: { e: declared } } }, start: false });
  await putInstalled(s.h.home, "echo", v1.dir, 'version = "1.0.0"\nenabled = true\nprojects = ["music"]');
  await cp(v2.dir, join(s.h.dir, "p"), { recursive: true });
  await s.h.host.start();
  const { body: { consents: [{ id, offer: { hash } }] } } = await s.ask(CONSENTS);
  const { status, body } = await post(s, `${id}/approve`, { hash });
  assert.deepEqual([status, body.code], [409, "install.upgrade_failed"]);
  assert.match(body.detail, /^"echo" is at 1\.0\.0 again: version 2\.0\.0 could not start\. /);
  const { plugin, version, kept, reason } = body.data;
  assert.deepEqual([plugin, version, kept], ["echo", "2.0.0", "1.0.0"]);
  assert.match(reason, /^[a-z_]+\.[a-z_]+$/);
  const { body: { consents: [open] } } = await s.ask(CONSENTS);
  assert.deepEqual([open.id, open.state, open.error.code], [id, "waiting", "install.upgrade_failed"]);
  assert.equal(open.error.message, body.detail);
  const { body: { entries } } = await s.ask("/api/v1/events?plugin=echo");
  const undone = entries.find(({ data }: { data: { type: string } }) => data.type === "plugin.upgrade_undone");
  assert.deepEqual([undone.data.data.version, undone.data.data.failed_version], ["1.0.0", "2.0.0"]);
});
