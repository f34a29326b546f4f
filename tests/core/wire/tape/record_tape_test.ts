import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import type { HostError } from "../../../../src/core/errors/host_error.ts";
import type { Files, Runtime } from "../../../../src/core/ports/ports.ts";
import { recordTape, tapeFolder } from "../../../../src/core/wire/tape/record_tape.ts";
import { neededSecrets, revealSecrets } from "../../../../src/core/wire/tape/secrets.ts";
import { parseTape } from "../../../../src/core/wire/tape/tape.ts";
import { SecretMask } from "../../../../src/core/values/secret_mask.ts";
import type { PluginInfo } from "../../../../src/core/supervisor/types.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake_clock.ts";
import { type Message, modelManifest } from "../../../support/model_plugin.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const line = (message: Message): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

interface Setting {
  readonly path: string;
  readonly plugin: PluginInfo;
  readonly clock: FakeClock;
  readonly runtime: Runtime;
  readonly failures: HostError[];
}

async function setting(t: Parameters<typeof scratchDir>[0], files: Partial<Files> = {}): Promise<Setting> {
  const dir = await scratchDir(t);
  const clock = createFakeClock();
  const real = await detectRuntime();
  const manifest = await modelManifest({
    config_schema: { type: "object", properties: { tag: { type: "string" } } },
    system_config_schema: { type: "object", properties: { api_key: { type: "string" }, pin: { type: "string" } } },
  });
  return {
    path: join(dir, "model.jsonl"),
    plugin: { plugin: "model", version: "1.0.0", dir, instance: "model@music", manifest } as PluginInfo,
    clock,
    runtime: { ...real, clock, files: { ...real.files, ...files } },
    failures: [],
  };
}

const start = ({ path, plugin, runtime, failures }: Setting) =>
  recordTape({ path, plugin, runtime, onFailure: (error) => failures.push(error) });

const read = async ({ path }: Setting) => parseTape(await readFile(path, "utf8"), { file: path });

test("recordTape() writes a header and the messages of each side, with the time since the start", async (t) => {
  const set = await setting(t);
  const tape = start(set);
  tape.host(line({ id: 1, method: "ping" }) + line({ method: "initialized" }));
  set.clock.advance(20);
  tape.plugin(bytes('{"jsonrpc":"2.0","id":1,'));
  tape.plugin(bytes('"result":{}}\nhello\n'));
  tape.closed();
  tape.end({ code: 0, signal: null });
  await tape.flush();
  const { header, entries, isCut } = await read(set);
  const { hash, ...rest } = header;
  assert.match(hash!, /^sha256:/);
  assert.deepEqual(rest, {
    format: "kaged-tape",
    format_version: 1,
    plugin: "model",
    version: "1.0.0",
    dir: set.plugin.dir,
    instance: "model@music",
    api_version: 1,
    started: "2026-01-01T00:00:00.000Z",
  });
  assert.deepEqual(entries, [
    { t: 0, from: "host", message: { jsonrpc: "2.0", id: 1, method: "ping" } },
    { t: 0, from: "host", message: { jsonrpc: "2.0", method: "initialized" } },
    { t: 20, from: "plugin", message: { jsonrpc: "2.0", id: 1, result: {} } },
    { t: 20, from: "plugin", noise: "hello" },
    { t: 20, from: "host", closed: true },
    { t: 20, from: "plugin", exit: { code: 0, signal: null } },
  ]);
  assert.deepEqual([isCut, set.failures, (await stat(set.path)).mode & 0o777], [false, [], 0o600]);
});

test("K-032 no secret of the operator is on the tape: neither in the config nor where it is said again", async (t) => {
  const set = await setting(t);
  const tape = start(set);
  tape.host(line({ id: 2, method: "config.update", params: { tag: "x", api_key: "s3cret-key", pin: "12" } }));
  tape.plugin(
    bytes(
      line({ id: 3, method: "a.b", params: { url: "https://x/?k=s3cret-key", "s3cret-key": 1 } }) + "key s3cret-key\n",
    ),
  );
  tape.host(line({ method: "projects.activated", params: { project: "p", config: { api_key: "s3cret-key" } } }));
  await tape.flush();
  assert.doesNotMatch(await readFile(set.path, "utf8"), /s3cret/);
  const { entries } = await read(set);
  const config = { tag: "x", api_key: "[secret:api_key]", pin: "[secret:pin]" };
  assert.deepEqual((entries[0] as { message: Message }).message.params, config);
  const said = { url: "https://x/?k=[secret:api_key]", "[secret:api_key]": 1 };
  assert.deepEqual((entries[1] as { message: Message }).message.params, said);
  assert.deepEqual(entries[2], { t: 0, from: "plugin", noise: "key [secret:api_key]" });
  assert.deepEqual(neededSecrets(entries), ["api_key", "pin"]);
});

test("K-032 the tape hides a secret that the start of a project brings, and those of other plugins", async (t) => {
  const set = await setting(t);
  const secrets = new SecretMask();
  secrets.learn("token", "of-a-neighbour");
  const { path, plugin, runtime } = set;
  const tape = recordTape({ path, plugin, runtime, secrets, onFailure: (error) => set.failures.push(error) });
  tape.host(
    line({ method: "projects.activated", params: { project: "p", config: { api_key: "s3cret-key", pin: "12" } } }),
  );
  tape.plugin(bytes(line({ id: 2, result: "s3cret-key of-a-neighbour" }) + "heard of-a-neighbour\n"));
  await tape.flush();
  const [activated, answer, noise] = (await read(set)).entries as readonly { message?: Message; noise?: string }[];
  const config = { api_key: "[secret:api_key]", pin: "[secret:pin]" };
  assert.deepEqual(activated!.message!.params, { project: "p", config });
  assert.deepEqual(answer!.message!.result, "[secret:api_key] [secret:token]");
  assert.equal(noise!.noise, "heard [secret:token]");
});

test("a secret of any characters is hidden, and one that holds another as a whole", async (t) => {
  const set = await setting(t);
  const tape = start(set);
  tape.host(line({ id: 2, method: "config.update", params: { api_key: "a.*[b]\\$&", pin: "x-a.*[b]\\$&-x" } }));
  tape.plugin(bytes(line({ id: 2, result: ["a.*[b]\\$&", "x-a.*[b]\\$&-x", "aXX[b]"] })));
  await tape.flush();
  const { message } = (await read(set)).entries[1] as { message: Message };
  assert.deepEqual(message.result, ["[secret:api_key]", "[secret:pin]", "aXX[b]"]);
});

test("a secret that is a word of the protocol leaves the messages readable", async (t) => {
  const set = await setting(t);
  const tape = start(set);
  tape.host(line({ id: 2, method: "config.update", params: { api_key: "jsonrpc", pin: "result" } }));
  tape.plugin(bytes(line({ id: 2, result: ["jsonrpc", "a result"] })));
  await tape.flush();
  const [asked, answer] = (await read(set)).entries as readonly { message: Message }[];
  const params = { api_key: "[secret:api_key]", pin: "[secret:pin]" };
  assert.deepEqual(asked!.message, { jsonrpc: "2.0", id: 2, method: "config.update", params });
  assert.deepEqual(answer!.message, { jsonrpc: "2.0", id: 2, result: ["[secret:api_key]", "a [secret:pin]"] });
});

test("a secret that is a number is hidden as a number and as text, and comes back as it was", async (t) => {
  const set = await setting(t);
  const tape = start(set);
  tape.host(line({ id: 2, method: "config.update", params: { pin: 84213377 } }));
  const said = [84213377, "pin 84213377", 184213377, { id: 84213377 }];
  tape.plugin(bytes(line({ id: 2, result: said }) + "84213377\n"));
  await tape.flush();
  assert.doesNotMatch(await readFile(set.path, "utf8"), /\b84213377/);
  const [asked, answer] = (await read(set)).entries as readonly { message: Message }[];
  const hidden = ["[secret:pin]", "pin [secret:pin]", 184213377, { id: "[secret:pin]" }];
  assert.deepEqual([asked!.message.params, answer!.message.result], [{ pin: "[secret:pin]" }, hidden]);
  assert.deepEqual(revealSecrets(answer!.message, { pin: 84213377 }).result, said);
});

test("revealSecrets() puts given values back, of any type in the config, as text elsewhere", () => {
  const given = { api_key: "s3cret", limits: { rate: 5 } };
  const config = { tag: "x", api_key: "[secret:api_key]", limits: "[secret:limits]", pin: "[secret:pin]" };
  assert.deepEqual(revealSecrets({ method: "config.update", params: config }, given), {
    method: "config.update",
    params: { tag: "x", api_key: "s3cret", limits: { rate: 5 }, pin: "[secret:pin]" },
  });
  const rows = { result: { rows: ["k=[secret:api_key]&[secret:limits]"] } };
  assert.deepEqual(revealSecrets(rows, given), { result: { rows: ["k=s3cret&[secret:limits]"] } });
});

test("recordTape() survives a message that is nested too deeply: where it cannot be written, its start is kept", async (t) => {
  const set = await setting(t);
  const tape = start(set);
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  tape.plugin(bytes(`{"jsonrpc":"2.0","id":1,"result":${deep}}\n`));
  tape.plugin(bytes(line({ id: 2, result: {} })));
  await tape.flush();
  const [first, second] = (await read(set)).entries as readonly { noise?: string; message?: Message }[];
  assert.ok(first!.noise === undefined ? first!.message!.id === 1 : first!.noise.length === 10_000);
  assert.deepEqual([second!.message!.id, set.failures], [2, []]);
});

test("recordTape() overwrites nothing: it fails once, and the wire goes on", async (t) => {
  const set = await setting(t);
  await writeFile(set.path, "precious");
  const tape = start(set);
  tape.host(line({ id: 1, method: "ping" }));
  await tape.flush();
  tape.host(line({ id: 2, method: "ping" }));
  await tape.flush();
  assert.deepEqual(set.failures.map(({ code }) => code), ["tape.exists"]);
  assert.equal(await readFile(set.path, "utf8"), "precious");
});

test("recordTape() reports a path that cannot be written, and a full disk, once", async (t) => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  const nowhere = await setting(t);
  const lost = recordTape({
    ...nowhere,
    path: join(nowhere.path, "absent", "x.jsonl"),
    onFailure: (error) => nowhere.failures.push(error),
  });
  lost.host(line({ id: 1, method: "ping" }));
  await lost.flush();
  assert.deepEqual(nowhere.failures.map(({ code }) => code), ["tape.unwritable"]);
  const set = await setting(t, { append: () => Promise.reject(full) });
  const tape = start(set);
  for (let id = 1; id <= 3; id++) {
    tape.host(line({ id, method: "ping" }));
    await tape.flush();
  }
  assert.deepEqual(set.failures.map(({ code, message }) => [code, message]), [[
    "tape.unwritable",
    `Cannot record to "${set.path}": ENOSPC: no space left on device`,
  ]]);
});

test("recordTape() gives up on a disk that is slower than the wire, within bounds", async (t) => {
  let release = (): void => {};
  const stuck = new Promise<void>((resolve) => release = resolve);
  const write = async (): Promise<void> => {
    await stuck;
    throw new Error("EIO: it breaks as well");
  };
  const set = await setting(t, { write });
  const tape = start(set);
  const big = line({ method: "a.b", params: { text: "x".repeat(4_000_000) } });
  for (let sent = 0; sent < 20; sent++) tape.host(big);
  assert.deepEqual(set.failures.map(({ code }) => code), ["tape.unwritable"]);
  release();
  await tape.flush();
  assert.equal(set.failures.length, 1, "it is told once");
});

test("tapeFolder() gives every process a tape of its own, in a folder that only this user may read", async (t) => {
  const set = await setting(t);
  const dir = join(set.plugin.dir, "tapes");
  const recorder = tapeFolder({ dir, runtime: set.runtime, onFailure: (error) => set.failures.push(error) });
  for (const instance of ["model@music/primary.subagents.x", "model"]) {
    const tap = recorder.tap({ ...set.plugin, instance });
    tap.host(line({ id: 1, method: "ping" }));
    tap.end({ code: 0, signal: null });
  }
  await recorder.flush();
  const names = await set.runtime.files.list(dir);
  assert.deepEqual(names, [
    "model-20260101T000000Z-2.jsonl",
    "model@music_primary.subagents.x-20260101T000000Z-1.jsonl",
  ]);
  for (const name of names) {
    const path = join(dir, name);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal(parseTape(await readFile(path, "utf8"), { file: path }).entries.length, 2);
  }
  assert.deepEqual([(await stat(dir)).mode & 0o777, set.failures], [0o700, []]);
});

test("K-032 the placeholder of a bound secret stays on the tape: a replay needs no value for it", async (t) => {
  const set = await setting(t);
  const secrets = { api_key: { hosts: ["api.example.org:443"] } };
  const plugin = { ...set.plugin, manifest: { ...set.plugin.manifest, secrets } };
  const tape = start({ ...set, plugin });
  const config = { api_key: "kaged_secret_0123456789abcdef0123456789abcdef", pin: "very-secret" };
  tape.host(line({ id: 1, method: "config.update", params: config }));
  tape.plugin(bytes(line({ id: 1, result: { said: config.api_key } })));
  await tape.flush();
  const text = await readFile(set.path, "utf8");
  assert.equal(text.split(config.api_key).length, 3);
  assert.doesNotMatch(text, /very-secret/);
  assert.deepEqual(neededSecrets((await read(set)).entries), ["pin"]);
});
