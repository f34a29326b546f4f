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

interface GroundOptions {
  /** Returns how local.toml writes the token, which stands in the file at `path`. Default: as that file. */
  readonly written?: (path: string) => string;
  /** Variables of the host's environment; others are the runtime's. */
  readonly env?: (name: string) => string | null;
}

/** A host with a plugin whose `token` goes to a TLS server on this machine. */
async function ground(t: TestContext, { written = (path) => `file:${path}`, env: own }: GroundOptions = {}) {
  const dir = await scratchDir(t);
  const [authority, token] = [join(dir, "authority.pem"), join(dir, "token")];
  await Promise.all([writeFile(authority, AUTHORITY), writeFile(token, "first-secret\n")]);
  const server = await secureUpstream(t);
  const manifest = {
    capabilities: [`net:127.0.0.1:${server.port}`],
    system_config_schema: { type: "object", properties: { token: { type: "string" } }, required: ["token"] },
    secrets: { token: { hosts: [`127.0.0.1:${server.port}`] } },
  };
  const env = (name: string) => name === "NODE_EXTRA_CA_CERTS" ? authority : own?.(name) ?? runtime.env(name);
  const h = await hosted({
    primary: { p: {} },
    fixtures: { "@test/p": { fixture: "hunts_secret", manifest } },
    local: `[plugins."@test/p"]\ntoken = "${written(token)}"\n`,
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
  await writeFile(join(h.home, "local.toml"), '[plugins."@test/p"]\ntoken = "first-secret"\n');
  await h.host.reread("hunts-secret");
  assert.equal(await sent(), "Bearer first-secret");
  assert.equal(pid().length, 1);
});

test("K-032 a plugin that has a secret in a variable is reloaded when that changes, wherever local.toml takes it from", async (t) => {
  const dir = await scratchDir(t);
  let outside = "first";
  /** By the plugin's variable: how local.toml writes the value, and the change of it. */
  const sources: Readonly<Record<string, { readonly written: string; change(value: string): Promise<void> }>> = {
    IN_ENV: { written: "${OUTSIDE}", change: (value) => Promise.resolve(void (outside = value)) },
    IN_FILE: { written: `file:${dir}/file`, change: (value) => writeFile(`${dir}/file`, `${value}\n`) },
    PRINTED: { written: `cmd:cat ${dir}/printed`, change: (value) => writeFile(`${dir}/printed`, value) },
  };
  const names = Object.keys(sources);
  const byField = <T>(of: (name: string) => T) =>
    Object.fromEntries(names.map((name) => [name.toLowerCase(), of(name)]));
  const manifest = {
    system_config_schema: { type: "object", properties: byField(() => ({ type: "string" })) },
    secrets: byField((env) => ({ exposed: true as const, env })),
  } as const;
  await Promise.all(names.map((name) => sources[name]!.change(`first-${name}`)));
  await using h = await hosted({
    primary: { p: {} },
    fixtures: { "@test/p": { fixture: "echo", manifest } },
    local: `[plugins."@test/p"]\n${
      names.map((name) => `${name.toLowerCase()} = "${sources[name]!.written}"\n`).join("")
    }`,
    ports: { env: (name) => name === "OUTSIDE" ? outside : runtime.env(name) },
  });
  const variables = async (): Promise<unknown[]> => {
    const env = await h.host.callMethod("echo", "echo.env") as Record<string, string>;
    return names.map((name) => env[name]);
  };
  const expected = names.map((name) => `first-${name}`);
  assert.deepEqual(await variables(), expected);
  for (const [at, name] of names.entries()) {
    await sources[name]!.change(expected[at] = `second-${name}`);
    await h.host.reread("echo");
    assert.deepEqual(await variables(), expected);
  }
});

test("K-032 reread() follows a variable and a command to their values of now, and the plugin goes on", async (t) => {
  let outside = "of-the-environment-1";
  for (const kind of ["variable", "command"] as const) {
    const { h, token, sent, pid } = await ground(t, {
      written: (path) => kind === "variable" ? "${OUTSIDE}" : `cmd:cat ${path}`,
      env: (name) => name === "OUTSIDE" ? outside : null,
    });
    await using _ = h;
    assert.equal(await sent(), kind === "variable" ? "Bearer of-the-environment-1" : "Bearer first-secret");
    outside = "of-the-environment-2";
    await writeFile(token, "printed-now\n");
    await h.host.reread("hunts-secret");
    assert.equal(await sent(), kind === "variable" ? "Bearer of-the-environment-2" : "Bearer printed-now");
    assert.equal(pid().length, 1);
  }
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
