import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const HOST = fileURLToPath(new URL("./fixtures/full_disk_host.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../../deno.json", import.meta.url));

/** Words that run the host on this runtime. */
function hostWords(): string[] {
  const flags = process.versions["deno"] ? ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG] : [];
  return [process.execPath, ...flags, HOST];
}

// With no room the storage process cannot be written; with a little it starts, and SQLite is the one that finds none.
for (const [room, place] of [[0, "the storage process cannot be written"], [131_072, "the database cannot grow"]]) {
  test(`storage whose first use met a full disk (${place}) works once there is room, without a restart`, async (t) => {
    const hasBwrap = existsSync("/usr/bin/bwrap");
    if (!await requireOrSkip(t, "a working bubblewrap", hasBwrap, "install the package bubblewrap")) return;
    const home = await scratchDir(t);
    const small = ["--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", home];
    // The words are in the script: Deno would rewrite an argument that is its own path.
    const script = [...hostWords(), home, room].map((word) => `'${word}'`).join(" ");
    const { stdout, stderr } = spawnSync("/usr/bin/bwrap", [...small, "/bin/sh", "-c", script], { encoding: "utf8" });
    assert.ok(stdout.startsWith("{"), stderr);
    assert.deepEqual(JSON.parse(stdout), {
      outcomes: ["storage.disk_full", "storage.disk_full", "ok", "ok"],
      drafts: [],
    });
  });
}
