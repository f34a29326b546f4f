/**
 * Device nodes of a host that root runs. A node is only ever given the mode that it has.
 */
import assert from "node:assert/strict";
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
test("a plugin without capabilities cannot change the mode of a device node, also where root runs the host", async () => {
  await using h = await hosted({
    primary: { echo: {} },
    fixtures: { "@test/echo": { fixture: "echo", files: { "index.js": CHANGES } } },
  });
  const ends = await h.host.callMethod("echo", "echo.params") as string[];
  assert.deepEqual(ends.filter((end) => end !== "EROFS" && end !== "EPERM"), []);
});
