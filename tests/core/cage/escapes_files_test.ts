import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { test } from "node:test";
import { openCage } from "../../../src/core/cage/open_cage.ts";
import { attackersOf } from "../../support/attackers.ts";
import { requestOf } from "../../support/cage_requests.ts";
import { hostedGround } from "../../support/hosted_cage.ts";

test("K-043 the host's people, keys and other plugins do not exist in a cage", async (t) => {
  for (const { attack, dir, places, files } of await attackersOf(t)) {
    await files.makeDir(`${dir}/.ssh`, { recursive: true });
    await files.write(`${dir}/.ssh/id_ed25519`, "private", 0o644);
    await files.makeDir(`${places.home}/plugins/other`, { recursive: true, mode: 0o755 });
    await files.write(`${places.home}/plugins/other/secret`, "secret", 0o644);
    const paths = [
      ...["/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/home", "/var/log", "/sys/kernel"],
      ...[`${dir}/.ssh/id_ed25519`, `${places.home}/plugins/other/secret`, `${places.home}/run`],
    ];
    const { results } = await attack(paths.map((path) => ["read", path]));
    assert.deepEqual(results, paths.map(() => "ENOENT"));
  }
});

test("K-043 a cage writes to no file that was not granted for writing", async (t) => {
  for (const { attack, dir, places, files, who } of await attackersOf(t)) {
    await files.makeDir(`${dir}/read`, { recursive: true });
    await files.write(`${dir}/read/file`, "", 0o666);
    const own = [`${places.installDir}/attacks.py`, `${dir}/read/file`, `${dir}/read/made-by-attack`];
    // All below exist or are the cage's own: a broken wall would leave nothing behind.
    const system = ["/usr/lib/os-release", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname"];
    const made = ["/made-by-attack", "/dev/made-by-attack", `${places.installDir}/made-by-attack`];
    const manifest = { capabilities: [`read:fs:${dir}/read`] };
    const { results } = await attack([...own, ...made, ...system].map((path) => ["write", path]), manifest);
    assert.deepEqual(results.slice(0, 6), Array(6).fill("EROFS"));
    // A file of root is closed to others before the kernel asks whether it is read-only.
    for (const result of results.slice(6)) {
      assert.ok(result === "EROFS" || (who === "user" && result === "EACCES"), `${result}`);
    }
    assert.deepEqual(await files.list(`${dir}/read`), ["file"]);
  }
});

test("K-047 no secret of the host's environment is in a cage, nor in that of its first process", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    const { results } = await attack([["read", "/proc/1/environ"], ["read", "/proc/self/environ"]]);
    assert.equal(results[0], "read ");
    assert.doesNotMatch(`${results[1]}`, /hunter2|HOST_SECRET/);
    assert.match(`${results[1]}`, /KAGED_PLUGIN_NAME=caged/);
  }
});

test("no descriptor of the host reaches a cage, however high its number", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    const attacks = [["descriptors"], ["read", "/proc/self/fd/20/etc/passwd"], ["read", "/proc/1/fd/255/etc/passwd"]];
    const { results } = await attack(attacks, {}, "exec 9</ 20</ 63</etc 255</; ");
    assert.deepEqual(results[0], []);
    for (const result of results.slice(1)) assert.match(`${result}`, /^E(NOENT|ACCES)$/);
  }
});

test("a granted path that becomes a link is refused at the next start", async (t) => {
  const at = await hostedGround(t);
  if (!at) return;
  const { dir, places, runtime } = at;
  const request = requestOf({ capabilities: ["write:fs:project:/out"] }, places);
  await (await openCage(request, runtime)).close();
  await runtime.files.remove(`${places.projectDir}/out`);
  await symlink("/etc", `${places.projectDir}/out`);
  await assert.rejects(openCage(request, runtime), { code: "capability.symlink_escape" });
  await symlink("/etc", `${dir}/link`);
  const linked = requestOf({ capabilities: [`read:fs:${dir}/link`] }, places);
  await assert.rejects(openCage(linked, runtime), { code: "capability.symlink_escape" });
});

test("a write grant around the plugin's own folder or the host's is refused", async (t) => {
  const at = await hostedGround(t);
  if (!at) return;
  const { dir, places, runtime } = at;
  for (const path of [dir, places.installDir, `${places.installDir}/sub`, places.home]) {
    const request = requestOf({ capabilities: [`write:fs:${path}`] }, places);
    await assert.rejects(openCage(request, runtime), { code: "capability.path_forbidden" });
  }
});
