import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { liveHosts } from "../../src/adapters/shared/live_hosts.ts";
import { requestOverSocket } from "../../src/adapters/shared/request_over_socket.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const socketOf = ({ home }: Hosted): string => join(home, "run", `${process.pid}.sock`);

async function ask(path: string, route: string, init?: RequestInit): Promise<[number, Record<string, unknown>]> {
  const response = await requestOverSocket(path, new Request(`http://kaged${route}`, init));
  return [response.status, await response.json()];
}

test("a host that runs answers at <home>/run/<pid>.sock, to this user alone, without a token", async () => {
  await using h = await hosted({ primary: { echo: {} }, fixtures: { "@test/echo": "echo" } });
  const path = socketOf(h);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(join(h.home, "run"))).mode & 0o777, 0o700);
  const [status, body] = await ask(path, "/api/v1/host");
  assert.equal(status, 200);
  assert.deepEqual(body["project"], { id: "music", dir: h.dir });
});

test("a command disables and enables a plugin of a host that runs", async () => {
  await using h = await hosted({ primary: { echo: {} }, fixtures: { "@test/echo": "echo" } });
  const [state] = h.host.plugins();
  assert.equal(state!.state, "running");
  assert.equal((await ask(socketOf(h), "/api/v1/plugins/echo/disable", { method: "POST" }))[0], 200);
  assert.equal(h.host.plugins()[0]!.state, "disabled");
  assert.equal((await ask(socketOf(h), "/api/v1/plugins/echo/enable", { method: "POST" }))[0], 200);
  assert.equal(h.host.plugins()[0]!.state, "running");
});

test("the socket is gone when the host stops, and there again when it starts anew", async () => {
  await using h = await hosted();
  await h.host.stop();
  assert.equal((await readdir(join(h.home, "run"))).some((name) => name.endsWith(".sock")), false);
  assert.deepEqual(await liveHosts(h.home), []);
  await h.host.start();
  assert.equal((await liveHosts(h.home)).length, 1);
});

test("two hosts of one process and one home have a socket each", async () => {
  await using first = await hosted();
  await using second = await hosted({ home: first.home, folder: "other" });
  const hosts = await liveHosts(first.home);
  assert.deepEqual(hosts.map(({ pid }) => pid), [process.pid, process.pid]);
  const ids = await Promise.all(hosts.map(async ({ request }) => {
    const { project } = await (await request(new Request("http://kaged/api/v1/host"))).json();
    return project.id;
  }));
  assert.deepEqual(ids.sort(), ["music", "other"]);
  assert.notEqual(first.dir, second.dir);
});

test("a host with control: false opens no socket", async () => {
  await using h = await hosted({ control: false });
  assert.deepEqual(await liveHosts(h.home), []);
});

test("a host that cannot open its socket says so and runs all the same", async () => {
  const warnings: string[] = [];
  const runtime = await detectRuntime();
  const http = { listen: () => Promise.reject(new Error("No sockets here")) };
  await using h = await hosted({
    primary: { echo: {} },
    fixtures: { "@test/echo": "echo" },
    ports: { ...runtime, http },
    onWarning: (message) => warnings.push(message),
  });
  assert.deepEqual(warnings, ["Commands cannot reach this host: No sockets here"]);
  assert.equal(h.host.plugins()[0]!.state, "running");
});

test("a host that starts removes the sockets of hosts that were killed, and no other", async (t) => {
  const home = await scratchDir(t);
  const run = join(home, "run");
  await mkdir(run);
  const { files } = await detectRuntime();
  const dead = createServer().listen(join(run, "dead"));
  await new Promise((resolve) => dead.once("listening", resolve));
  await files.rename(join(run, "dead"), join(run, "1.sock"));
  await new Promise((resolve) => dead.close(resolve));
  const alive = createServer((socket) => socket.on("error", () => {})).listen(join(run, "2.sock"));
  await new Promise((resolve) => alive.once("listening", resolve));
  t.after(() => alive.close());
  await writeFile(join(run, "3.sock.txt"), "");
  await using _ = await hosted({ home });
  const names = (await readdir(run)).filter((name) => /sock/.test(name));
  assert.deepEqual(names.sort(), ["2.sock", "3.sock.txt", `${process.pid}.sock`].sort());
});

test("liveHosts() leaves out a host that does not answer, and leaves its socket alone", async (t) => {
  const home = await scratchDir(t);
  await mkdir(join(home, "run"));
  const server = createServer((socket) => void socket.resume().on("error", () => {})).listen(
    join(home, "run", "1.sock"),
  );
  await new Promise((resolve) => server.once("listening", resolve));
  assert.deepEqual(await liveHosts(home, { patienceMs: 50 }), []);
  assert.deepEqual(await readdir(join(home, "run")), ["1.sock"]);
  await new Promise((resolve) => server.close(resolve));
});

test("liveHosts() removes a socket that nobody answers at, and nothing else", async (t) => {
  const home = await scratchDir(t);
  await mkdir(join(home, "run"));
  const left = join(home, "run", "1.sock");
  const server = createServer().listen(`${left}.tmp`);
  await new Promise((resolve) => server.once("listening", resolve));
  const { files } = await detectRuntime();
  await files.rename(`${left}.tmp`, left);
  await new Promise((resolve) => server.close(resolve));
  await writeFile(join(home, "run", "notes.txt"), "");
  assert.notEqual(await files.info(left), null);
  assert.deepEqual(await liveHosts(home), []);
  assert.deepEqual(await readdir(join(home, "run")), ["notes.txt"]);
});
