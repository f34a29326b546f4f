import assert from "node:assert/strict";
import { test } from "node:test";
import type { PathFacts } from "../../../src/core/cage/cage_plan.ts";
import { type ExaminedPath, forbiddenReason, grantedPaths } from "../../../src/core/cage/path_rules.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";

const places = { installDir: "/srv/home/plugins/notes", home: "/srv/home", projectDir: "/srv/project" };

/** "write /a/b", as a folder that is what it says, unless told otherwise. */
function examined(text: string, facts: Partial<PathFacts> = {}): ExaminedPath {
  const [access, path] = text.split(" ") as ["read" | "write", string];
  const found: PathFacts = { kind: "directory", real: path, dev: 1, ino: 1, ...facts };
  return { capability: `${access}:fs:${path}`, path, access, makeUnder: null, facts: found };
}
const mounts = (...texts: string[]): string[] =>
  grantedPaths(texts.map((text) => examined(text)), places).map(({ access, path }) => `${access} ${path}`);
const refused = (text: string): boolean => {
  const [access, path] = text.split(" ") as ["read" | "write", string];
  return forbiddenReason(path, access, places) !== null;
};

test("K-043 folders of the running system are refused, with all that is in them and all that hold them", () => {
  for (const path of ["/proc", "/sys", "/dev", "/run", "/var/run", "/boot"]) {
    for (const asked of [path, `${path}/x`, `${path}/x/y`]) {
      assert.ok(refused(`read ${asked}`), asked);
      assert.ok(refused(`write ${asked}`), asked);
    }
  }
  for (const path of ["/", "/var", "/.cage", "/.cage/x"]) assert.ok(refused(`read ${path}`), path);
  for (const path of ["/processes", "/srv/proc", "/device", "/var/lib", "/runner"]) {
    assert.ok(!refused(`read ${path}`), path);
  }
});

test("/etc and /tmp are granted in part, never whole", () => {
  for (const path of ["/etc", "/tmp"]) {
    assert.ok(refused(`read ${path}`), path);
    assert.ok(refused(`write ${path}`), path);
    assert.ok(!refused(`read ${path}/mine`), path);
  }
});

test("folders of programs are no way around exec:", () => {
  const trees = ["/usr", "/usr/bin", "/usr/bin/curl", "/bin", "/usr/sbin", "/usr/local", "/usr/local/bin"];
  for (const path of trees) assert.ok(refused(`read ${path}`), path);
  for (const path of ["/usr/share/dict", "/usr/lib/x", "/usr/local/etc"]) assert.ok(!refused(`read ${path}`), path);
});

test("what every program of the host shares is never writable", () => {
  for (const path of ["/usr/lib", "/usr/lib/x", "/usr/share/y", "/lib", "/lib64", "/usr/local/lib/z"]) {
    assert.ok(refused(`write ${path}`), path);
  }
});

test("the plugin's own folder is never writable, from above, from below or itself", () => {
  const outside = { ...places, installDir: "/opt/notes" };
  for (const path of ["/opt", "/opt/notes", "/opt/notes/data", "/opt/notes/a/b"]) {
    assert.notEqual(forbiddenReason(path, "write", outside), null, path);
  }
  assert.equal(forbiddenReason("/opt/notes-data", "write", outside), null);
  assert.equal(forbiddenReason("/opt", "read", outside), null);
  assert.equal(forbiddenReason("/opt/notes/data", "read", outside), null);
});

test("the host's own files are reached by no grant, but for config:/ and the plugin's own folder", () => {
  const closed = [
    "/srv",
    "/srv/home",
    "/srv/home/local.toml",
    "/srv/home/plugins",
    "/srv/home/plugins/other",
    "/srv/home/run",
  ];
  for (const path of [...closed, "/srv/home/filesystem", "/srv/home/plugins/notes-2"]) {
    assert.ok(refused(`read ${path}`), path);
    assert.ok(refused(`write ${path}`), path);
  }
  for (const path of ["/srv/home/files", "/srv/home/files/a", "/srv/homes"]) assert.ok(!refused(`write ${path}`), path);
  assert.ok(!refused("read /srv/home/plugins/notes/data"));
  assert.ok(refused("write /srv/home/plugins/notes/data"));
});

test("equal paths merge into the wider grant", () => {
  assert.deepEqual(mounts("read /a", "write /a"), ["write /a"]);
  assert.deepEqual(mounts("write /a", "read /a"), ["write /a"]);
  assert.deepEqual(mounts("read /a", "read /a"), ["read /a"]);
});

test("what a parent grants already is dropped", () => {
  assert.deepEqual(mounts("write /a", "read /a/b", "write /a/b/c"), ["write /a"]);
  assert.deepEqual(mounts("read /a/b", "read /a"), ["read /a"]);
  assert.deepEqual(mounts("read /a", "read /ab", "read /a/b/c"), ["read /a", "read /ab"]);
  assert.deepEqual(mounts("read /srv/home/plugins/notes", "read /srv/home/plugins/notes/x"), []);
});

test("a writable child of a readable parent is kept, after its parent", () => {
  assert.deepEqual(mounts("write /a/b", "read /a"), ["read /a", "write /a/b"]);
  assert.deepEqual(mounts("write /a/b", "read /a", "read /a/b/c", "read /a-b"), ["read /a", "write /a/b", "read /a-b"]);
});

test("a granted path keeps which file it was", () => {
  assert.deepEqual(grantedPaths([examined("read /a", { dev: 7, ino: 8 })], places), [
    { path: "/a", access: "read", dev: 7, ino: 8 },
  ]);
});

test("K-043 a path that leads elsewhere is refused, naming where", () => {
  const escape = (real: string, kind: PathFacts["kind"] = "directory"): unknown =>
    grantedPaths([examined("write /a/b", { real, kind })], places);
  assert.throws(() => escape("/etc/x", "symlink"), { code: "capability.symlink_escape", message: /"\/etc\/x"/ });
  assert.throws(() => escape("/a/bc"), { code: "capability.symlink_escape" });
  assert.throws(() => escape("/a"), { code: "capability.symlink_escape" });
});

test("a missing path, a link to nowhere and a special file are refused", () => {
  const refusal = (facts: Partial<PathFacts>): unknown => grantedPaths([examined("read /a", facts)], places);
  assert.throws(() => refusal({ kind: null, real: null }), { code: "capability.path_missing" });
  assert.throws(() => refusal({ kind: "symlink", real: null }), { code: "capability.path_missing" });
  assert.throws(() => refusal({ kind: "other" }), { code: "capability.special_file" });
  assert.deepEqual(grantedPaths([examined("read /a", { kind: "file" })], places).length, 1);
});

test("every refusal is reported at once", () => {
  const all = [examined("read /proc"), examined("write /a", { kind: "other" }), examined("read /b")];
  assert.throws(() => grantedPaths(all, places), (error: HostError) => {
    assert.equal(error.code, "capability.path_forbidden");
    const { issues } = error.data as { issues: { code: string }[] };
    assert.deepEqual(issues.map(({ code }) => code), ["capability.path_forbidden", "capability.special_file"]);
    return true;
  });
});
