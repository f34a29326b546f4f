/**
 * Walls and ways of a cage, as a plugin meets them. A device node is only ever given the mode that it has.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { hosted } from "../support/hosted.ts";

const NODES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
const CHANGES = `import { chmodSync, statSync } from "node:fs";
import { reply, serve } from "./wire.js";
const change = (path) => {
  try {
    chmodSync(path, statSync(path).mode & 0o7777);
    return "changed";
  } catch (error) {
    return error.code;
  }
};
serve({ "echo.params": ({ id }) => reply(id, ${JSON.stringify(NODES)}.map(change)) });
`;

// With a root host the call succeeded for every node, and changed the node of the whole machine.
test("N-007 a plugin without capabilities cannot change the mode of a device node, also where root runs the host", async () => {
  await using h = await hosted({
    primary: { echo: {} },
    fixtures: { "@test/echo": { fixture: "echo", files: { "index.js": CHANGES } } },
  });
  const ends = await h.host.callMethod("echo", "echo.params") as string[];
  assert.deepEqual(ends.filter((end) => end !== "EROFS" && end !== "EPERM"), []);
});

const DIALS = `import { connect } from "node:net";
import { reply, serve } from "./wire.js";
serve({
  "echo.params": ({ id, params: { port } }) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", (error) => reply(id, error.code));
    socket.on("data", (bytes) => (reply(id, String(bytes)), socket.destroy()));
  },
});
`;

// Go's HTTP client, and others, ask no proxy for the loopback: a granted port of it could not be reached.
test("N-020 a program that asks no proxy for the loopback reaches the port of it that was granted", async (t) => {
  const server = createServer((socket) => void socket.on("error", () => {}).end("hello")).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const manifest = { capabilities: [`net:127.0.0.1:${port}`] };
  await using h = await hosted({
    primary: { echo: {} },
    fixtures: { "@test/echo": { fixture: "echo", manifest, files: { "index.js": DIALS } } },
  });
  assert.equal(await h.host.callMethod("echo", "echo.params", { port }), "hello");
});
