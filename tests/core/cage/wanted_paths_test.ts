import assert from "node:assert/strict";
import { test } from "node:test";
import { wantedPaths } from "../../../src/core/cage/wanted_paths.ts";
import { readCapabilities } from "../../../src/core/manifest/capability.ts";

const places = { installDir: "/srv/notes", home: "/srv/home", projectDir: "/srv/project" };
const paths = (...texts: string[]): string[] =>
  wantedPaths(readCapabilities(texts), places).map(({ access, path, makeUnder }) =>
    [access, path, ...(makeUnder === null ? [] : ["made under", makeUnder])].join(" ")
  );

test("X-05 prefixes stand for the operator's files, the project and the plugin's own folder", () => {
  assert.deepEqual(paths("read:fs:/opt/x", "read:fs:config:/a/b", "read:fs:project:/src", "read:fs:plugin:/data"), [
    ...["read /opt/x", "read /srv/home/files/a/b", "read /srv/project/src", "read /srv/notes/data"],
  ]);
  assert.deepEqual(paths("read:fs:config:/", "read:fs:project:/", "read:fs:plugin:/"), [
    ...["read /srv/home/files", "read /srv/project", "read /srv/notes"],
  ]);
});

test("only write targets of the operator's files and of the project are made when missing", () => {
  assert.deepEqual(paths("write:fs:config:/a", "write:fs:project:/b", "write:fs:/c", "write:fs:plugin:/d"), [
    "write /srv/home/files/a made under /srv/home",
    "write /srv/project/b made under /srv/project",
    ...["write /c", "write /srv/notes/d"],
  ]);
});

test("an exec: path is a path to read; network and storage name none", () => {
  assert.deepEqual(paths("exec:jq:/opt/x", "exec:jq:plugin:/", "net:*", "kaged:storage:write"), [
    ...["read /opt/x", "read /srv/notes"],
  ]);
});

test("project:/ outside any project is refused", () => {
  const asked = readCapabilities(["read:fs:project:/x"]);
  assert.throws(() => wantedPaths(asked, { ...places, projectDir: null }), { code: "capability.no_project" });
});

test("a path climbs out of no prefix", () => {
  for (
    const path of ["config:/../local.toml", "project:/a/../../x", "/opt/../etc", "plugin:/..", "x:/y", "rel", "/a/*"]
  ) {
    assert.throws(() => paths(`read:fs:${path}`), { code: "capability.invalid" }, path);
  }
});
