import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Approval, ApprovalAnswer } from "../../src/core/approvals/types.ts";
import type { HostError } from "../../src/core/errors/host_error.ts";
import type { Network } from "../../src/core/ports/ports.ts";
import { readLocalConfig } from "../../src/core/project/local_config.ts";
import { RULES_LOOK_MS } from "../../src/host/watch_rules.ts";
import { changeGrants } from "../../src/packages/install/change_installed.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { upstream } from "../support/gate.ts";
import { type Hosted, hosted, type HostedOptions } from "../support/hosted.ts";
import { putInstalled } from "../support/installed.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const runtime = await detectRuntime();
const ASK = '[approvals]\nnetwork = "ask"\n';
const PUBLIC = "93.184.216.34";
const MANIFEST = { capabilities: ["net:api.example.com:443"] };
const OPENED = "HTTP/1.1 200 Connection established\r\n\r\nhello";
const ALLOW: ApprovalAnswer = { decision: "allow" };
const DENY: ApprovalAnswer = { decision: "deny" };

/** A network whose names are all public, save those of `.private`, and lead to one server on loopback that says hello. */
async function network(
  t: TestContext,
): Promise<{ network: Network; dialled: string[]; resolved: string[]; arrived: () => number }> {
  const server = await upstream(t, (socket) => void socket.end("hello"));
  const [dialled, resolved]: [string[], string[]] = [[], []];
  let arrived = 0;
  return {
    dialled,
    resolved,
    arrived: () => arrived,
    network: {
      ...runtime.network,
      listen: (path, serve) =>
        runtime.network.listen(path, (socket) => {
          arrived++;
          serve(socket);
        }),
      resolve(name) {
        resolved.push(name);
        return Promise.resolve([name.endsWith(".private") ? "127.0.0.1" : PUBLIC]);
      },
      connect(address, port, signal) {
        dialled.push(`${address}:${port}`);
        return runtime.network.connect("127.0.0.1", server.port, signal);
      },
    },
  };
}

/** A host with a plugin that connects; `targets` calls it, and returns what it heard from each. */
async function connecting(t: TestContext, options: HostedOptions = {}) {
  const { network: own, ...seen } = await network(t);
  const h = await hosted({
    primary: { tunnels: {} },
    fixtures: { "@test/tunnels": { fixture: "tunnels", manifest: MANIFEST } },
    config: ASK,
    ports: { network: own },
    ...options,
  });
  return { h, ...seen, targets: targetsOf(h), [Symbol.asyncDispose]: () => h[Symbol.asyncDispose]() };
}

const targetsOf = (h: Hosted, plugin = "tunnels") => async (...targets: string[]): Promise<string[]> => {
  // Longer than a connection is held: the clock of both is the test's.
  const timeoutMs = 600_000;
  const answer = await h.host.callMethod(plugin, "fixture.call", { targets }, { timeoutMs });
  return (answer as { heard: string[] }).heard;
};

/** Resolves with the requests that wait, the oldest first, once there are so many. */
async function waiting({ host }: Hosted, count = 1): Promise<Approval[]> {
  return await until(async () => {
    const { items } = await host.approvals.list();
    return items.length >= count && items.toReversed();
  }, `${count} requests`) as Approval[];
}

async function answer(h: Hosted, given: ApprovalAnswer): Promise<Approval> {
  const [request] = await waiting(h);
  return await h.host.approvals.answer(request!.id, given, { by: "test" });
}

const isRefused = (heard: string | undefined): boolean => /^HTTP\/1\.1 403 [\s\S]*not-allowed: /.test(heard ?? "");
const requests = ({ host }: Hosted): Promise<number> =>
  host.approvals.list({ state: "all" }).then(({ items }) => items.length);

test("N-026 a connection to a host that nobody granted is held for a person; a yes opens that one, and nothing else", async (t) => {
  await using c = await connecting(t);
  const { h, targets } = c;
  const held = targets("Any.Example:8443");
  const [request] = await waiting(h);
  const { id: _, createdAt, expiresAt, ...rest } = request!;
  assert.deepEqual(rest, {
    projectId: "music",
    agentPath: "primary",
    sessionId: null,
    jobId: null,
    tool: "connect",
    plugin: "tunnels",
    arguments: { host: "any.example", port: 8443 },
    argumentsCut: false,
    changed: null,
    source: { kind: "network", id: "net:any.example:8443" },
    sources: [{ kind: "network", id: "net:any.example:8443" }],
    reason: "tunnels connects to any.example:8443, which is not granted",
    state: "waiting",
    end: null,
  });
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 30_000);
  assert.deepEqual([c.resolved, c.dialled], [[], []]); // A lookup would be a way out already.
  const edited = h.host.approvals.answer(request!.id, { ...ALLOW, arguments: { host: "evil.example", port: 1 } });
  await assert.rejects(edited, ({ code }: HostError) => code === "approval.answer_invalid");
  await answer(h, ALLOW);
  assert.deepEqual(await held, [OPENED]);
  assert.deepEqual(c.dialled, [`${PUBLIC}:8443`]);
  for (const target of ["any.example:8443", "any.example:443", "x.any.example:8443", `${PUBLIC}:8443`]) {
    const other = targets(target);
    await answer(h, DENY);
    assert.ok(isRefused((await other)[0]), target);
  }
  assert.deepEqual(c.dialled, [`${PUBLIC}:8443`]);
  assert.deepEqual(h.all("plugin.net_opened").map(({ data }) => data), [{ host: "any.example", port: 8443 }]);
});

test("a yes to a name that leads to a private address opens nothing, and a private address says what it is", async (t) => {
  await using c = await connecting(t);
  const held = c.targets("db.private:5432");
  await answer(c.h, { ...ALLOW, scope: "session" });
  assert.match((await held)[0]!, /resolves-to-private: /);
  assert.match((await c.targets("db.private:5432"))[0]!, /resolves-to-private: /);
  const near = c.targets("10.0.0.7:80", "localhost:80");
  const reasons = (await waiting(c.h, 2)).map(({ reason }) => reason).toSorted();
  assert.deepEqual(reasons, [
    "tunnels connects to 10.0.0.7:80, which is not granted: it is this machine, or one of its own networks",
    "tunnels connects to localhost:80, which is not granted: it is this machine, or one of its own networks",
  ]);
  for (let i = 0; i < 2; i++) await answer(c.h, DENY);
  assert.ok((await near).every(isRefused));
  assert.deepEqual(c.dialled, []);
});

test("further connections to a target join the request that waits, and share its answer", async (t) => {
  await using c = await connecting(t);
  const held = c.targets("any.example:443", "any.example:443", "ANY.example.:443");
  await waiting(c.h);
  const more = c.targets("any.example:443");
  // The gatekeeper gives each 15 s for its head: without such a timer, all four have been read.
  await until(() => c.arrived() === 4 && !c.h.clock.isDueIn(15_000), "four connections that are held");
  await answer(c.h, ALLOW);
  assert.deepEqual([...await held, ...await more], [OPENED, OPENED, OPENED, OPENED]);
  assert.equal(await requests(c.h), 1);
});

test("at most eight targets of a plugin wait; those beyond are refused at once, and the desk sees nothing of them", async (t) => {
  await using c = await connecting(t);
  const first = c.targets(...Array.from({ length: 8 }, (_, at) => `n${at}.example:443`));
  await waiting(c.h, 8);
  const beyond = await c.targets(...Array.from({ length: 20 }, (_, at) => `more${at}.example:443`));
  assert.ok(beyond.every(isRefused));
  assert.equal(await requests(c.h), 8);
  for (let i = 0; i < 8; i++) await answer(c.h, DENY);
  assert.ok((await first).every(isRefused));
  const next = c.targets("more0.example:443");
  await answer(c.h, ALLOW);
  assert.deepEqual(await next, [OPENED]);
});

test("a program that denies at once is not asked without end: 32 targets a minute", async (t) => {
  let asked = 0;
  await using c = await connecting(t, {
    onAsk() {
      asked++;
      return DENY;
    },
  });
  for (let batch = 0; batch < 6; batch++) {
    const heard = await c.targets(...Array.from({ length: 8 }, (_, at) => `n${batch}-${at}.example:443`));
    assert.ok(heard.every(isRefused));
  }
  assert.equal(asked, 32);
  c.h.clock.advance(60_000);
  assert.ok(isRefused((await c.targets("n0-0.example:443"))[0]));
  assert.equal(asked, 33);
});

test("a host that stops withdraws what is held, and warns of nothing", async (t) => {
  const warnings: string[] = [];
  const c = await connecting(t, { onWarning: (message) => warnings.push(message) });
  const held = c.targets("any.example:443").catch(() => {});
  await waiting(c.h);
  await c[Symbol.asyncDispose]();
  await held;
  assert.deepEqual(warnings, []);
  assert.equal(c.h.all("approval.withdrawn").length, 1);
});

test("a target that was denied is not asked for again for a minute", async (t) => {
  await using c = await connecting(t);
  const held = c.targets("any.example:443");
  await answer(c.h, DENY);
  assert.ok(isRefused((await held)[0]));
  assert.ok(isRefused((await c.targets("any.example:443"))[0]));
  c.h.clock.advance(59_999);
  assert.ok(isRefused((await c.targets("any.example:443"))[0]));
  assert.equal(await requests(c.h), 1);
  c.h.clock.advance(1);
  const again = c.targets("any.example:443");
  await answer(c.h, ALLOW);
  assert.deepEqual(await again, [OPENED]);
});

test("a request that nobody answers runs out after 30 s, and the connection is refused", async (t) => {
  await using c = await connecting(t);
  const held = c.targets("any.example:443");
  const [request] = await waiting(c.h);
  await c.h.pass(30_000);
  assert.ok(isRefused((await held)[0]));
  assert.equal((await c.h.host.approvals.get(request!.id)).state, "expired");
  assert.equal((await c.h.next("approval.expired")).data.tool, "connect");
  assert.ok(isRefused((await c.targets("any.example:443"))[0]));
  assert.equal(await requests(c.h), 1);
  await assert.rejects(c.h.host.approvals.answer(request!.id, ALLOW), ({ code }: HostError) => {
    return code === "approval.ended";
  });
});

test("an answer for the session holds for as long as the process runs, a yes and a no", async (t) => {
  await using c = await connecting(t);
  const scope = "session";
  for (const [target, given] of [["any.example:443", ALLOW], ["bad.example:443", DENY]] as const) {
    const held = c.targets(target);
    await answer(c.h, { ...given, scope });
    await held;
  }
  c.h.clock.advance(60_000);
  const [open, refused] = await c.targets("any.example:443", "bad.example:443");
  assert.ok(open === OPENED && isRefused(refused));
  assert.equal(await requests(c.h), 2);
  assert.deepEqual(await c.h.host.approvals.standing(), []);
  await c.h.host.restart("tunnels");
  const again = c.targets("any.example:443");
  await answer(c.h, DENY);
  assert.ok(isRefused((await again)[0]));
});

test("a process that ends withdraws its requests", async (t) => {
  await using c = await connecting(t);
  const held = c.targets("any.example:443").catch((error: HostError) => error.code);
  const [request] = await waiting(c.h);
  await c.h.host.restart("tunnels");
  await held;
  const ended = await until(async () => {
    const found = await c.h.host.approvals.get(request!.id);
    return found.state !== "waiting" && found;
  }, "the end of the request") as Approval;
  assert.equal(ended.state, "withdrawn");
  assert.deepEqual(c.dialled, []);
});

test("always, to a plugin of the embedder, is kept at the desk for that plugin alone, and can be revoked", async (t) => {
  await using c = await connecting(t, {
    primary: { tunnels: {}, other: {} },
    fixtures: {
      "@test/tunnels": { fixture: "tunnels", manifest: MANIFEST },
      "@test/other": { fixture: "tunnels", manifest: { ...MANIFEST, name: "other" } },
    },
  });
  const held = c.targets("any.example:443");
  await answer(c.h, { ...ALLOW, scope: "always" });
  assert.deepEqual(await held, [OPENED]);
  assert.deepEqual(await c.targets("any.example:443"), [OPENED]);
  assert.equal(await requests(c.h), 1);
  const [kept] = await c.h.host.approvals.standing();
  assert.deepEqual([kept?.plugin, kept?.tool, kept?.source], ["tunnels", "connect", {
    kind: "network",
    id: "net:any.example:443",
  }]);
  const other = targetsOf(c.h, "other")("any.example:443");
  const asked = await answer(c.h, { ...DENY, scope: "always" });
  assert.equal(asked.plugin, "other");
  assert.ok(isRefused((await other)[0]));
  assert.equal((await c.h.host.approvals.standing()).length, 2);
  assert.deepEqual(await c.targets("any.example:443"), [OPENED]);
  await c.h.host.approvals.revoke(kept!.id);
  const again = c.targets("any.example:443");
  await answer(c.h, DENY);
  assert.ok(isRefused((await again)[0]));
});

test("always, to an installed plugin, is a grant in its record: now, at the next start, and until it is withheld", async (t) => {
  const home = await scratchDir(t);
  await using plugin = await fixturePlugin("tunnels", { manifest: MANIFEST });
  await putInstalled(home, "tunnels", plugin.dir, "local = true\nenabled = true");
  const record = async () => (await readLocalConfig(home, runtime.files)).records.get("tunnels")!;
  const installed = { home, fixtures: {} };
  {
    await using c = await connecting(t, installed);
    const held = c.targets("any.example:8443");
    await answer(c.h, { ...ALLOW, scope: "always" });
    assert.deepEqual(await held, [OPENED]);
    assert.deepEqual((await record()).added, ["net:any.example:8443"]);
    const { data } = await c.h.next("plugin.grants_changed");
    assert.deepEqual(data.capabilities, ["net:api.example.com:443", "net:any.example:8443"]);
    assert.deepEqual(await c.h.host.approvals.standing(), []);
    // From here on it needs no question, not even the setting.
    await writeFile(join(home, "config.toml"), '[approvals]\nnetwork = "refuse"\n');
    await until(() => {
      c.h.clock.advance(RULES_LOOK_MS);
      return c.h.all("rules.changed").some(({ data }) => data.change === "read");
    }, "the setting");
    assert.ok(isRefused((await c.targets("new.example:443"))[0]));
    assert.deepEqual(await c.targets("any.example:8443"), [OPENED]);
    await c.h.host.reload();
    assert.equal(c.h.all("plugin.spawned").length, 1); // A grant more restarts nothing.
    const before = await readFile(join(home, "local.toml"), "utf8");
    assert.match(before, /^added = \["net:any\.example:8443"\]$/m);
  }
  {
    await using c = await connecting(t, { ...installed, config: "" });
    assert.deepEqual(await c.targets("any.example:8443"), [OPENED]);
    assert.ok(isRefused((await c.targets("any.example:443"))[0]));
    const ports = { runtime, home, audit: { emit() {} } };
    const { changed, capabilities } = await changeGrants("tunnels", {
      granted: [],
      withhold: ["net:any.example:8443"],
    }, ports);
    assert.deepEqual([changed, capabilities], [true, ["net:api.example.com:443"]]);
    assert.deepEqual([(await record()).added, (await record()).withheld], [[], []]);
    await c.h.host.reload();
    assert.ok(isRefused((await c.targets("any.example:8443"))[0]));
  }
});

test("always gives a host back that was withheld, and does not add it a second time", async (t) => {
  const home = await scratchDir(t);
  const capabilities = ["net:api.example.com:443", "net:any.example:443"];
  await using plugin = await fixturePlugin("tunnels", { manifest: { capabilities } });
  await putInstalled(home, "tunnels", plugin.dir, 'local = true\nenabled = true\nwithheld = ["net:any.example:443"]');
  await using c = await connecting(t, { home, fixtures: {} });
  const held = c.targets("any.example:443");
  await answer(c.h, { ...ALLOW, scope: "always" });
  assert.deepEqual(await held, [OPENED]);
  const { withheld, added } = (await readLocalConfig(home, runtime.files)).records.get("tunnels")!;
  assert.deepEqual([withheld, added], [[], []]);
  assert.deepEqual(await c.targets("any.example:443"), [OPENED]);
  assert.equal(await requests(c.h), 1);
});

test("without the setting nothing is held; a running host takes it up from config.toml", async (t) => {
  await using c = await connecting(t, { config: "" });
  assert.ok(isRefused((await c.targets("any.example:443"))[0]));
  assert.equal(await requests(c.h), 0);
  await writeFile(join(c.h.home, "config.new"), ASK);
  await rename(join(c.h.home, "config.new"), join(c.h.home, "config.toml"));
  await until(() => {
    c.h.clock.advance(RULES_LOOK_MS); // The file has to be the same for two looks.
    return c.h.all("rules.changed").length > 0;
  }, "the setting");
  const held = c.targets("any.example:443");
  await answer(c.h, ALLOW);
  assert.deepEqual(await held, [OPENED]);
});

test("a host whose name holds a secret is refused at once: it cannot be shown, nor kept", async (t) => {
  await using c = await connecting(t, {
    local: '[plugins."@test/tunnels"]\ntoken = "hunter2hunter2"\n',
    fixtures: {
      "@test/tunnels": {
        fixture: "tunnels",
        manifest: {
          ...MANIFEST,
          system_config_schema: { type: "object", properties: { token: { type: "string", secret: true } } },
        },
      },
    },
  });
  assert.ok(isRefused((await c.targets("hunter2hunter2.evil.example:443"))[0]));
  assert.equal(await requests(c.h), 0);
  assert.doesNotMatch(JSON.stringify(c.h.events), /hunter2hunter2/);
});
