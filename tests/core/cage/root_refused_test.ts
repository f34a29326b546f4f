import assert from "node:assert/strict";
import { test } from "node:test";
import { openCage } from "../../../src/core/cage/open_cage.ts";
import { requestOf } from "../../support/cage_requests.ts";
import { canBeBoth, hostedGround } from "../../support/hosted_cage.ts";

/** How root is kept from a wall it needs → the shell before the host that does so, for that host alone. */
const HINDRANCES: Readonly<Record<string, string>> = {
  "mounts are denied, as in a container": "exec setpriv --bounding-set -sys_admin --inh-caps=-all $host",
  "its mount program leaves mounts as they are":
    `exec unshare --mount bash --norc -c "mount --bind /bin/true /bin/mount && exec $host"`,
};

test("a root host whose device nodes cannot be made read-only starts no plugin, and says to run as a user", async (t) => {
  const at = await hostedGround(t);
  if (!at || !await canBeBoth(t)) return;
  for (const [hindrance, script] of Object.entries(HINDRANCES)) {
    const { out, failure } = await at.hosted(script, { command: ["bash", "-c", "echo ran"] });
    assert.deepEqual([out, failure?.code], ["", "cage.root_refused"], hindrance);
    assert.match(failure?.hint ?? "", /as an ordinary user: sudo -u/);
    assert.deepEqual(await at.runtime.files.list(`${at.places.home}/run`), []);
  }
});

test("a root host seals device nodes on which something is mounted already, as in some containers", async (t) => {
  const at = await hostedGround(t);
  if (!at || !await canBeBoth(t)) return;
  const { out, verified, failure } = await at.hosted(
    `exec unshare --mount bash --norc -c "mount --bind /dev/null /dev/null && exec $host"`,
    { command: ["bash", "-c", "echo ran"] },
  );
  assert.deepEqual([out, verified, failure], ["ran\n", true, null]);
});

test("a root host without the programs that make device nodes read-only opens no cage; a user needs none", async (t) => {
  const at = await hostedGround(t);
  if (!at) return;
  const { files } = at.runtime;
  for (const missing of ["/usr/bin/unshare", "/usr/bin/nsenter", "/bin/mount"]) {
    const target: typeof files.target = (path) => path === missing ? Promise.resolve(null) : files.target(path);
    const runtime = { ...at.runtime, files: { ...files, target } };
    const request = requestOf({}, at.places);
    await assert.rejects(openCage(request, { ...runtime, uid: 0 }), (error: { code: string; message: string }) => {
      assert.equal(error.code, "cage.root_refused");
      assert.match(error.message, new RegExp(`there is no ${missing}$`));
      return true;
    });
    await (await openCage(request, { ...runtime, uid: 1000 })).close();
  }
});
