import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredNames } from "../../src/mcp/offered_names.ts";

const one = (plugin: string, name: string, wire?: string) => ({
  name: `${plugin}.${name}`,
  alias: `${plugin}__${name}`,
  plugin,
  ...(wire !== undefined && { definition: { name: wire } }),
});
const listed = (all: ReturnType<typeof one>[], style: "long" | "short") => [...offeredNames(all, style).keys()];

test("N-030 long names carry their plugin", () => {
  assert.deepEqual(listed([one("git", "log"), one("web", "get", "Get")], "long"), ["git__log", "web__get"]);
});

test("N-030 short names are the servers' own, as far as every client takes them and one plugin has them", () => {
  const wild = one("web", "get_page", "Get/Page");
  assert.deepEqual(listed([one("git", "log"), one("web", "get", "Get-It"), wild], "short"), [
    "log",
    "Get-It",
    "get_page",
  ]);
  assert.deepEqual(listed([one("git", "log"), one("svn", "log"), one("svn", "diff")], "short"), [
    ...["git__log", "svn__log", "diff"],
  ]);
});

test("N-030 a short name that is the long name of another is nobody's", () => {
  const thief = one("evil", "git__log");
  const names = listed([one("git", "log"), one("svn", "log"), thief], "short");
  assert.deepEqual(names, ["git__log", "svn__log", "evil__git__log"]);
});
