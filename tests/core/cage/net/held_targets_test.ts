import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { HeldAnswer } from "../../../../src/core/cage/net/held_targets.ts";
import { openGate, upstream } from "../../../support/gate.ts";
import { turn, until } from "../../../support/until.ts";

const NAME = "api.example.com";
const OTHER = "other.example";
const PUBLIC = "93.184.216.34";
const OPENED = "HTTP/1.1 200 Connection established";
const tunnel = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const socks = (host: string, port: number): Uint8Array =>
  Uint8Array.from([5, 1, 0, 5, 1, 0, 3, host.length, ...new TextEncoder().encode(host), port >> 8, port & 255]);
const firstLine = (answer: string): string => answer.split("\r\n")[0] ?? "";
const reasonOf = (answer: string): string => (answer.split("\r\n\r\n")[1] ?? "").split(":")[0] ?? "";
const YES: HeldAnswer = { isAllowed: true, lasts: false };
const NO: HeldAnswer = { isAllowed: false, lasts: false };

/** People who are asked, in the order of the questions; each test answers them. */
function people() {
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const answers: ((answer: HeldAnswer) => void)[] = [];
  return {
    asked,
    signals,
    ask({ host, port }: { host: string; port: number }, signal: AbortSignal): Promise<HeldAnswer> {
      asked.push(`${host}:${port}`);
      signals.push(signal);
      return new Promise((resolve) => answers.push(resolve));
    },
    async answer(answer: HeldAnswer): Promise<void> {
      (await until(() => answers.shift(), "a question"))!(answer);
    },
  };
}

test("a connection that no rule names is held, and looked up and dialled after a yes alone", async (t) => {
  const server = await upstream(t, (socket) => void socket.end("hello"));
  const { asked, ask, answer } = people();
  const resolved: string[] = [];
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`],
    port: server.port,
    askNetwork: ask,
    network: {
      resolve(name) {
        resolved.push(name);
        return Promise.resolve([PUBLIC]);
      },
    },
  });
  const held = gate.ask(tunnel("Other.Example.:8443"));
  await until(() => asked.length === 1, "a question");
  assert.deepEqual([asked, resolved, gate.dialled, gate.events], [[`${OTHER}:8443`], [], [], []]);
  await answer(YES);
  assert.equal(await held, `${OPENED}\r\n\r\nhello`);
  assert.deepEqual([resolved, gate.dialled], [[OTHER], [`${PUBLIC}:8443`]]);
  assert.deepEqual(gate.events, [{ kind: "opened", host: OTHER, port: 8443 }]);

  const second = gate.ask(tunnel(`${OTHER}:8443`)); // The yes was for one connection.
  await answer(NO);
  const refused = await second;
  assert.deepEqual([firstLine(refused), reasonOf(refused)], ["HTTP/1.1 403 Forbidden", "not-allowed"]);
  assert.deepEqual(gate.events[1], { kind: "refused", host: OTHER, port: 8443, reason: "not-allowed" });
});

test("plain HTTP and SOCKS are held like tunnels", async (t) => {
  const server = await upstream(t);
  const { asked, ask, answer } = people();
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`],
    names: { [OTHER]: [PUBLIC] },
    port: server.port,
    askNetwork: ask,
  });
  const plain = gate.ask(`GET http://${OTHER}/x HTTP/1.1\r\n\r\n`);
  await answer(YES);
  assert.equal(firstLine(await plain), "HTTP/1.1 200 OK");
  assert.deepEqual(server.heard, [`GET /x HTTP/1.1\r\nHost: ${OTHER}\r\nConnection: close\r\n\r\n`]);
  for (const [given, reply] of [[YES, 0], [NO, 2]] as const) {
    const socket = gate.open().setEncoding("latin1");
    let heard = "";
    socket.on("data", (part: string) => void (heard += part));
    socket.write(socks(OTHER, 80));
    await answer(given);
    await until(() => heard.length >= 4, "the answer of SOCKS");
    assert.equal(heard.charCodeAt(3), reply);
    socket.destroy();
  }
  assert.deepEqual(asked, [`${OTHER}:80`, `${OTHER}:80`, `${OTHER}:80`]);
});

test("an answer that lasts holds until the gate is closed, for its host and port and no other", async (t) => {
  const server = await upstream(t, (socket) => void socket.end());
  const { asked, ask, answer } = people();
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`],
    names: { [OTHER]: [PUBLIC], "bad.example": [PUBLIC] },
    port: server.port,
    askNetwork: ask,
  });
  const first = gate.ask(tunnel(`${OTHER}:443`));
  await answer({ isAllowed: true, lasts: true });
  assert.equal(firstLine(await first), OPENED);
  assert.equal(firstLine(await gate.ask(tunnel(`${OTHER}:443`))), OPENED);
  const bad = gate.ask(tunnel("bad.example:443"));
  await answer({ isAllowed: false, lasts: true });
  assert.equal(reasonOf(await bad), "not-allowed");
  assert.equal(reasonOf(await gate.ask(tunnel("bad.example:443"))), "not-allowed");
  assert.deepEqual(asked, [`${OTHER}:443`, "bad.example:443"]);
  for (const near of [`${OTHER}:80`, `x.${OTHER}:443`, `${PUBLIC}:443`]) {
    const held = gate.ask(tunnel(near));
    await answer(NO);
    assert.equal(reasonOf(await held), "not-allowed", near);
  }
  assert.deepEqual(gate.dialled, [`${PUBLIC}:443`, `${PUBLIC}:443`]);
});

test("a yes to a name opens no private address", async (t) => {
  for (const address of ["127.0.0.1", "169.254.169.254", "10.1.2.3", "::1", "::ffff:192.168.0.1"]) {
    const gate = await openGate(t, {
      capabilities: [`net:${NAME}:443`],
      names: { [OTHER]: [address] },
      port: 1,
      askNetwork: () => Promise.resolve({ isAllowed: true, lasts: true }),
    });
    for (let i = 0; i < 2; i++) {
      assert.equal(reasonOf(await gate.ask(tunnel(`${OTHER}:80`))), "resolves-to-private", address);
    }
    assert.deepEqual(gate.dialled, []);
  }
});

test("nobody is asked about a granted host, a lookup, a target that is none, or an address of no single machine", async (t) => {
  const server = await upstream(t, (socket) => void socket.end());
  const { asked, ask } = people();
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`],
    names: { [NAME]: [PUBLIC] },
    port: server.port,
    askNetwork: ask,
  });
  assert.equal(firstLine(await gate.ask(tunnel(`${NAME}:443`))), OPENED);
  for (const target of ["127.1:443", "0x7f000001:443", "[fe80::1%25a]:443", "224.0.0.1:443", "0.0.0.0:80"]) {
    assert.match(firstLine(await gate.ask(tunnel(target))), /^HTTP\/1\.1 40[03] /, target);
  }
  assert.match(await gate.ask(`LOOKUP ${OTHER} HTTP/1.1\r\n\r\n`), /not-allowed/);
  assert.deepEqual(asked, []);
});

test("a question that fails, or that nobody takes, is a no", async (t) => {
  for (const askNetwork of [() => Promise.reject(new Error("The desk is gone")), () => null]) {
    const gate = await openGate(t, { capabilities: [`net:${NAME}:443`], names: { [OTHER]: [PUBLIC] }, askNetwork });
    assert.equal(reasonOf(await gate.ask(tunnel(`${OTHER}:443`))), "not-allowed");
    assert.deepEqual(gate.dialled, []);
  }
});

test("close() ends a connection that is held, gives its question up, and a late yes dials nobody", async (t) => {
  const { signals, asked, ask, answer } = people();
  const resolved: string[] = [];
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`],
    askNetwork: ask,
    network: {
      resolve(name) {
        resolved.push(name);
        return Promise.resolve([PUBLIC]);
      },
    },
  });
  const socket = gate.open();
  socket.resume().write(tunnel(`${OTHER}:443`));
  await until(() => asked.length === 1, "a question");
  const closed = once(socket, "close");
  await gate.close();
  socket.end();
  await closed;
  assert.equal(signals[0]?.aborted, true);
  await answer({ isAllowed: true, lasts: true });
  await turn();
  assert.deepEqual([resolved, gate.dialled, gate.events], [[], [], []]);
});
