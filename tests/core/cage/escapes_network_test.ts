import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { test } from "node:test";
import { attackersOf } from "../../support/attackers.ts";

test("K-044 a plugin without net rules, or with net:[], reaches not even the host's own loopback", async (t) => {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    for (const { attack } of await attackersOf(t)) {
      for (const capabilities of [[], ["net:[]"]]) {
        const { results } = await attack([["connect", port], ["interfaces"], ["routes"]], { capabilities });
        assert.deepEqual(results, ["ECONNREFUSED", ["lo"], 0]);
      }
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  assert.equal(visits, 0);
});

test("a cage opens no unix socket, and so none of the host's abstract ones, whatever network it has", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    for (const capabilities of [[], ["net:[]"], ["net:*"]]) {
      const families = ["AF_UNIX", "AF_PACKET", "AF_BLUETOOTH", "AF_VSOCK", "AF_INET", "AF_INET6"];
      const { results } = await attack(families.map((family) => ["socket", family]), { capabilities });
      assert.deepEqual(results, [...Array(4).fill("EAFNOSUPPORT"), "opened", "opened"], capabilities.join());
    }
  }
});

test("the network of a gated cage is empty, the cage can change nothing about it, and the host's stays as it was", async (t) => {
  const setting = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
  const before = await readFile(setting, "utf8");
  for (const { attack } of await attackersOf(t)) {
    const attacks = [["interfaces"], ["routes"], ["privileges"], ["write", setting], ["socket", "AF_PACKET"], [
      "calls",
    ]];
    const { results, verified } = await attack(attacks, { capabilities: ["net:api.example.com:443"] });
    const calls = results.pop() as Record<string, string>;
    const [changed] = results.splice(3, 1);
    assert.deepEqual(results, [["lo"], 0, ["0000000000000000"], "EAFNOSUPPORT"]);
    // Root's cage would own the setting; its /proc is read-only.
    assert.match(String(changed), /^(EROFS|EACCES)$/);
    for (const call of ["unshare user", "unshare net", "clone user", "setns", "mount"]) {
      assert.equal(calls[call], "EPERM");
    }
    assert.equal(verified, true);
  }
  assert.equal(await readFile(setting, "utf8"), before);
});
