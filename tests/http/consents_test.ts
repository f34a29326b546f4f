import assert from "node:assert/strict";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
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
