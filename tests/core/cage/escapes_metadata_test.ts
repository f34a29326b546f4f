import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { attackersOf } from "../../support/attackers.ts";
import { guard, hookRepo } from "../../support/hook_repo.ts";
import { hostedGround, ORDINARY_UID } from "../../support/hosted_cage.ts";

/** Ends of the tries to change metadata, by mount and kind. */
type Ends = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const NODES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/** File systems that are the cage's own. */
const OWN = ["/tmp", "/dev/shm", "/dev/pts"];

/** Checks that nothing but `writable` could be changed; returns the mounts that were tried. */
function heldAgainst(ends: Ends, who: "root" | "user", writable: readonly string[]): string[] {
  for (const [at, { attribute: _, ...kinds }] of Object.entries(ends)) {
    if (writable.includes(at)) continue;
    // An ordinary user's nodes belong to root: the kernel refuses before it asks for the mount.
    const refusal = who === "user" && NODES.includes(at) ? "EPERM" : "EROFS";
    for (const [kind, found] of Object.entries(kinds)) assert.deepEqual(found, [refusal], `${kind} of ${at}, ${who}`);
  }
  for (const [at, { attribute }] of Object.entries(ends)) assert.deepEqual(attribute, ["ENOTSUP"], at);
  return Object.keys(ends);
}

test("N-007 no mode, time, owner or attribute of any mount of a cage can change, but for write grants and its own", async (t) => {
  for (const { attack, dir, files, who } of await attackersOf(t)) {
    await files.makeDir(`${dir}/read`, { recursive: true });
    await files.write(`${dir}/read/file`, "", 0o666);
    await files.makeDir(`${dir}/write`, { recursive: true });
    const grants = [`read:fs:${dir}/read`, `write:fs:${dir}/write`, "exec:true:plugin:/"];
    for (const net of [[], ["net:localhost:9"], ["net:*"]]) {
      const { results: [ends], verified } = await attack([["metadata"]], { capabilities: [...grants, ...net] });
      const mounts = heldAgainst(ends as Ends, who, [...OWN, `${dir}/write`]);
      for (const at of [...NODES, "/", "/proc", "/dev", "/usr/lib", `${dir}/read`, `${dir}/plugin`]) {
        assert.ok(mounts.includes(at), at);
      }
      assert.equal(verified, true);
      assert.deepEqual((ends as Ends)[`${dir}/write`]?.mode, ["done"]);
    }
  }
});

test("the device nodes of a cage still take and give bytes", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    const { results } = await attack([["write", "/dev/null"], ["write", "/dev/full"], ["read", "/dev/zero"]]);
    assert.deepEqual(results, ["opened", "opened", `read ${"\0".repeat(4096)}`]);
  }
});

test("N-007 nothing in a write grant becomes set-id, a device or another's, by any system call", async (t) => {
  for (const { attack, dir, files, who } of await attackersOf(t)) {
    await files.makeDir(`${dir}/write`, { recursive: true });
    const { results } = await attack([["set ids", `${dir}/write`]], { capabilities: [`write:fs:${dir}/write`] });
    const older = process.arch === "x64" ? ["EPERM"] : ["ENOSYS"];
    const refused = ["EPERM"];
    assert.deepEqual(results, [{
      ...{ chmod: older, fchmod: refused, fchmodat: refused, fchmodat2: ["ENOSYS"] },
      ...{ open: older, openat: refused, unnamed: refused, openat2: ["ENOSYS"], creat: older },
      ...{ mkdir: older, mkdirat: refused, mknod: older, mknodat: refused, fifo: refused },
      ...{ character: refused, block: refused, whiteout: refused },
      owner: ["EINVAL"],
      attributes: ["ENOTSUP"],
    }]);
    // Seen from outside, which is what counts.
    const left = await readdir(`${dir}/write`);
    assert.deepEqual(left, ["file"]);
    const { mode, uid } = await stat(`${dir}/write/file`);
    assert.deepEqual([mode & 0o6000, uid], [0, who === "root" ? 0 : ORDINARY_UID]);
  }
});

test("a cage gives files in a write grant the modes that programs give them every day", async (t) => {
  for (const { attack, dir, files } of await attackersOf(t)) {
    await files.makeDir(`${dir}/write/shared`, { recursive: true });
    await files.setMode(`${dir}/write/shared`, 0o2775);
    const { results } = await attack([["usual", `${dir}/write`]], { capabilities: [`write:fs:${dir}/write`] });
    assert.deepEqual([...new Set(Object.values(results[0] as Record<string, string>))], ["done"]);
    assert.equal((await stat(`${dir}/write/shared/below`)).mode & 0o7000, 0o2000, "a folder inherits its group");
  }
});

test("a hook command's cage holds metadata and set-id bits as a plugin's does", async (t) => {
  const ground = await hostedGround(t);
  if (!ground) return;
  const program = await readFile(new URL("fixtures/attacks.py", import.meta.url), "utf8");
  const run = `python3 attacks.py '[["metadata"], ["set ids", "'$PWD'/left"]]' > seen.json`;
  const repo = await hookRepo(t, { "attacks.py": program, "left/keep": "", ".github/hooks/guard.json": guard(run) });
  await repo.trust();
  await repo.fire();
  const [ends, ways] = JSON.parse(await readFile(`${repo.dir}/seen.json`, "utf8"));
  const { attributes, owner, fchmodat2, openat2, ...refused } = ways;
  assert.ok(heldAgainst(ends, ground.runtime.uid === 0 ? "root" : "user", [...OWN, repo.dir]).includes("/usr/bin"));
  assert.deepEqual([attributes, owner, fchmodat2, openat2], [["ENOTSUP"], ["EINVAL"], ["ENOSYS"], ["ENOSYS"]]);
  for (const [way, found] of Object.entries(refused)) assert.match(`${found}`, /^(EPERM|ENOSYS)$/, way);
  assert.deepEqual(await readdir(`${repo.dir}/left`), ["file", "keep"]);
});
