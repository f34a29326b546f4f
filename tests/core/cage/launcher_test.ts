import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { AS_USER, canBeBoth, giveToUser, hostedGround, ORDINARY_UID } from "../../support/hosted_cage.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";

const { files } = await detectRuntime();
const programs = (...names: string[]): string[] => names.map((name) => `exec:${name}:plugin:/`);

test("an ordinary user's host cages plugins as well as root's", async (t) => {
  const at = await hostedGround(t);
  if (!at || !await canBeBoth(t)) return;
  giveToUser(at.dir);
  const { projectDir, installDir } = at.places;
  const script = `id -u; cat /etc/passwd; echo x >${installDir}/x; echo x >${projectDir}/out/x; cat /proc/1/environ`;
  const capabilities = [...programs("id", "cat"), "write:fs:project:/out"];
  const { out, err, verified, exit } = await at.hosted(`exec ${AS_USER} $host`, {
    command: ["bash", "-c", script],
    capabilities,
  });
  assert.deepEqual([out, verified, exit.code], ["65534\n", true, 0]);
  assert.match(err, /passwd: No such file[^]*x: Read-only file system/);
  const written = await files.info(`${projectDir}/out/x`);
  assert.equal(written?.uid, ORDINARY_UID);
  assert.deepEqual(await files.list(`${at.places.home}/run`), []);
});

test("the start-up files of the user's shell are not read on the way into a cage", async (t) => {
  const at = await hostedGround(t);
  if (!at || !await canBeBoth(t)) return;
  const canUnshare = (): boolean => spawnSync("unshare", ["--mount", "true"]).status === 0;
  if (!await requireOrSkip(t, "mount namespaces", canUnshare, "run outside a restricted container")) return;
  // A user whose home is the scratch folder, for this mount namespace alone.
  await files.write(`${at.dir}/passwd`, `shelly:x:${ORDINARY_UID}:${ORDINARY_UID}::${at.dir}:/bin/bash\n`, 0o644);
  for (const name of [".bashrc", ".bash_profile", ".profile"]) {
    await files.write(`${at.dir}/${name}`, `echo noise from ${name}; touch ${at.dir}/touched\n`, 0o644);
  }
  giveToUser(at.dir);
  const { out, exit, failure } = await at.hosted(
    `exec unshare --mount bash --norc -c "mount --bind ${at.dir}/passwd /etc/passwd && exec ${AS_USER} $host"`,
    { command: ["bash", "--norc", "-c", "echo mine"] },
  );
  assert.deepEqual([out, exit.code, failure], ["mine\n", 0, null]);
  assert.equal(await files.info(`${at.dir}/touched`), null);
});
