import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { SECRETS_LOOK_MS } from "../../src/host/watch_secrets.ts";
import { secureUpstream } from "../support/bound_gate.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { AUTHORITY } from "../support/tls_identity.ts";
import { until } from "../support/until.ts";

const runtime = await detectRuntime();

/** A host with a plugin whose `token` comes from a file and goes to a TLS server on this machine. */
async function ground(t: TestContext) {
  const dir = await scratchDir(t);
  const [authority, token] = [join(dir, "authority.pem"), join(dir, "token")];
  await Promise.all([writeFile(authority, AUTHORITY), writeFile(token, "first-secret\n")]);
  const server = await secureUpstream(t);
  const manifest = {
    capabilities: [`net:127.0.0.1:${server.port}`],
    system_config_schema: { type: "object", properties: { token: { type: "string" } }, required: ["token"] },
    secrets: { token: { hosts: [`127.0.0.1:${server.port}`] } },
  };
  const env = (name: string) => name === "NODE_EXTRA_CA_CERTS" ? authority : runtime.env(name);
  const h = await hosted({
    primary: { p: {} },
    fixtures: { "@test/p": { fixture: "hunts_secret", manifest } },
    local: `[plugins."@test/p"]\ntoken = "file:${token}"\n`,
    ports: { env },
  });
  /** Sends one request and returns the token that the server received. */
  const sent = async (): Promise<unknown> => {
    await h.host.callMethod("hunts-secret", "fixture.use", { url: `https://127.0.0.1:${server.port}/` });
    return server.heard.at(-1)?.headers.authorization;
  };
  return { h, token, sent, pid: () => h.all("plugin.spawned").map(({ data }) => data.pid) };
}

test("K-032 reread() has the next request use a secret as it is now, without a restart", async (t) => {
  const { h, sent, pid } = await ground(t);
  await using _ = h;
  assert.equal(await sent(), "Bearer first-secret");
  await writeFile(join(h.home, "local.toml"), '[plugins."@test/p"]\ntoken = "second-secret"\n');
  await h.host.reread("hunts-secret");
  assert.equal(await sent(), "Bearer second-secret");
  assert.equal(pid().length, 1);
  await writeFile(join(h.home, "local.toml"), '[plugins."@test/p"]\ntoken = "file:/nowhere/token"\n');
  await assert.rejects(h.host.reread("hunts-secret"), { code: "project.reference_failed" });
  assert.equal(await sent(), "Bearer second-secret");
});

test("K-032 a plugin that has a secret in a variable is reloaded when that changes", async () => {
  const manifest = {
    system_config_schema: { type: "object", properties: { token: { type: "string" } } },
    secrets: { token: { exposed: true, env: "TOKEN" } },
  } as const;
  await using h = await hosted({
    primary: { p: {} },
    fixtures: { "@test/p": { fixture: "echo", manifest } },
    local: '[plugins."@test/p"]\ntoken = "first-secret"\n',
  });
  const variable = async (): Promise<unknown> =>
    (await h.host.callMethod("echo", "echo.env") as { TOKEN: string }).TOKEN;
  assert.equal(await variable(), "first-secret");
  await writeFile(join(h.home, "local.toml"), '[plugins."@test/p"]\ntoken = "second-secret"\n');
  await h.host.reread("echo");
  assert.equal(await variable(), "second-secret");
});

test("K-032 a secret whose file changes is used by the host that runs", async (t) => {
  const { h, token, sent, pid } = await ground(t);
  await using _ = h;
  await h.pass(SECRETS_LOOK_MS);
  await writeFile(token, "a-new-secret-in-the-file\n");
  const isUsed = async (): Promise<boolean> => {
    if (h.clock.isDueIn(SECRETS_LOOK_MS)) h.clock.advance(SECRETS_LOOK_MS);
    return await sent() === "Bearer a-new-secret-in-the-file";
  };
  await until(isUsed, "a request with the new secret");
  assert.equal(pid().length, 1);
});
