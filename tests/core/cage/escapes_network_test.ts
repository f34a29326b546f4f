import assert from "node:assert/strict";
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
