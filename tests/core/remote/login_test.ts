import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { readManifest } from "../../../src/core/manifest/read_manifest.ts";
import { logIn, logOut } from "../../../src/core/remote/log_in.ts";
import { agree, type ProtectedServer, protectedServer, type Tamper } from "../../support/protected_server.ts";
import { remotePlugin } from "../../support/remote_server.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";

interface Test {
  after(run: () => Promise<void>): void;
}

/** A supervisor with the protected server as a plugin, and a person who logs in for it. */
interface Scene {
  readonly s: Supervised;
  readonly server: ProtectedServer;
  readonly instance: string;
  readonly file: string;
  logIn(tamper?: Tamper): Promise<{ readonly scope: string | null }>;
  logOut(): Promise<boolean>;
  echo(): Promise<unknown>;
}

async function scene(t: Test): Promise<Scene> {
  const server = await protectedServer(t);
  const runtime = await detectRuntime();
  const s = await supervised();
  t.after(async () => await s[Symbol.asyncDispose]());
  const dir = await remotePlugin(t, server.url, "", "tickets");
  const { instance } = await s.supervisor.register({ dir });
  const { manifest } = await readManifest(dir, runtime.files);
  const { home } = s;
  return {
    s,
    server,
    instance,
    file: `${home}/logins/tickets.json`,
    logIn: async (tamper) => {
      let browser: Promise<number> | undefined;
      const stop = new AbortController();
      const onAddress = (address: string): void => {
        browser = agree(address, tamper);
        // An answer that was not taken leaves the login waiting: the person gives up.
        void browser.then(
          (status) => status === 404 && stop.abort(new Error("given up")),
          (error) => stop.abort(error),
        );
      };
      const outcome = await logIn({ runtime, home, manifest, signal: stop.signal, onAddress });
      await browser;
      return outcome;
    },
    logOut: () => logOut({ runtime, home, manifest }),
    echo: () => s.supervisor.call(instance, "tickets.echo", { text: "me" }),
  };
}

test("N-033 a login is discovered, registered, agreed to and kept, and the server lets the host in", async (t) => {
  const { s, instance, logIn, logOut, file, echo } = await scene(t);
  await assert.rejects(s.supervisor.start(instance), { code: "mcp.login_needed", hint: "Run kaged mcp login tickets" });
  assert.equal((await logIn()).scope, "tickets:read");
  await s.supervisor.start(instance);
  assert.match(JSON.stringify(await echo()), /heard me/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const { tokens } = JSON.parse(await readFile(file, "utf8"));
  assert.doesNotMatch(JSON.stringify(s.events), new RegExp(`${tokens.access_token}|${tokens.refresh_token}`));
  assert.equal(await logOut(), true);
  assert.deepEqual(await readdir(`${s.home}/logins`), ["tickets.json.lock"]);
  assert.equal(await logOut(), false);
});

test("N-033 a token that has ended is renewed by itself, before it is refused and after", async (t) => {
  const { s, server, instance, logIn, file, echo } = await scene(t);
  await logIn();
  await s.supervisor.start(instance);
  const tokens = async () => JSON.parse(await readFile(file, "utf8")).tokens;
  const first = await tokens();
  await server.expire();
  await echo();
  const second = await tokens();
  assert.notEqual(second.access_token, first.access_token);
  assert.notEqual(second.refresh_token, first.refresh_token);
  const login = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...login, expires_ms: 1 }));
  await echo();
  assert.notEqual((await tokens()).access_token, second.access_token);
});

test("N-033 requests that find their token ended renew it once, together", async (t) => {
  const { s, server, instance, logIn, echo } = await scene(t);
  await logIn();
  await s.supervisor.start(instance);
  const before = await server.asked();
  await server.expire();
  await Promise.all([echo(), echo(), echo(), echo()]);
  assert.equal(await server.asked() - before, 1);
});

test("N-033 a login that was revoked asks for another, and its tokens are gone", async (t) => {
  const { s, server, instance, logIn, file, echo } = await scene(t);
  await logIn();
  await s.supervisor.start(instance);
  await server.revoke();
  await assert.rejects(echo(), { code: "mcp.login_needed" });
  assert.equal(JSON.parse(await readFile(file, "utf8")).tokens, undefined);
  await s.next("plugin.failed");
  assert.equal(s.supervisor.plugin(instance).status, "failed");
  await logIn();
  await s.supervisor.enable(instance);
  assert.match(JSON.stringify(await echo()), /heard me/);
});

test("N-033 a call that needs a wider login names it, and the next login asks for it", async (t) => {
  const { s, server, instance, logIn, echo } = await scene(t);
  await logIn();
  await s.supervisor.start(instance);
  await server.need("tickets:write");
  await assert.rejects(echo(), (error: HostError) => {
    assert.equal(error.code, "mcp.login_needed");
    assert.match(error.message, /more than the login gave: tickets:write/);
    return true;
  });
  assert.equal(s.supervisor.plugin(instance).status, "running");
  assert.deepEqual((await logIn()).scope?.split(" ").sort(), ["tickets:read", "tickets:write"]);
  assert.match(JSON.stringify(await echo()), /heard me/);
});

test("N-033 an answer with another state, another issuer or a refusal is no login", async (t) => {
  const { logIn, file } = await scene(t);
  await assert.rejects(logIn((url) => url.searchParams.set("state", "x")), /given up/);
  await assert.rejects(logIn((url) => url.searchParams.set("iss", "http://127.0.0.1:1")), {
    code: "mcp.login_failed",
    message: /issuer/i,
  });
  await assert.rejects(logIn((url) => url.searchParams.delete("iss")), { code: "mcp.login_failed" });
  await assert.rejects(
    logIn((url) => {
      url.searchParams.delete("code");
      url.searchParams.set("error", "access_denied");
    }),
    { code: "mcp.login_failed", message: /access_denied/ },
  );
  await assert.rejects(readFile(file), { code: "ENOENT" });
});
