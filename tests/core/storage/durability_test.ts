import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { databases } from "../../../src/adapters/shared/databases.ts";
import { requireOrSkip, runtimeName } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { openStorageHome, processesWith } from "./support/storage_home.ts";
import { until } from "../../support/until.ts";

/** Starts a host that writes rows and says which were acknowledged. */
function startWriter(t: TestContext, home: string, mode: string) {
  const script = fileURLToPath(new URL("./fixtures/writing_host.ts", import.meta.url));
  const flags = runtimeName === "deno" ? ["run", "-A", "--no-check", "--quiet"] : [];
  const child = spawn(process.execPath, [...flags, script, home, mode], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => void child.kill("SIGKILL"));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return { child, exited, lines: createInterface({ input: child.stdout }) };
}

/** Resolves when no storage process of `home` is left. */
async function untilAlone(home: string): Promise<void> {
  await until(async () => (await processesWith(`${home}/run/storage-`)).length === 0, "the end of storage processes");
}

for (const after of [1, 137, 400]) {
  test(`kill -9 of the host after ${after} of 1,000 writes loses no acknowledged row`, async (t) => {
    const home = await scratchDir(t);
    const { child, exited, lines } = startWriter(t, home, "write");
    let acknowledged = 0;
    for await (const line of lines) {
      acknowledged = Math.max(acknowledged, Number(line));
      if (acknowledged >= after && !child.killed) child.kill("SIGKILL");
    }
    await exited;
    await untilAlone(home);
    const database = databases.open(`${home}/kaged.db`);
    const [[rows, highest]] = database.prepare("SELECT count(*), max(n) FROM plugin_notes_t").all([]) as [
      [bigint, bigint],
    ];
    assert.ok(acknowledged >= after);
    assert.ok(Number(highest) >= acknowledged);
    assert.equal(rows, highest);
    assert.deepEqual(database.prepare("PRAGMA integrity_check").all([]), [["ok"]]);
    database.close();
  });
}

test("kill -9 of the host while a statement runs away leaves no process behind", async (t) => {
  const home = await scratchDir(t);
  const { child, exited, lines } = startWriter(t, home, "runaway");
  for await (const line of lines) if (line === "running") child.kill("SIGKILL");
  await exited;
  await untilAlone(home);
});

test("a storage process that dies is replaced, and acknowledged rows are there", async (t) => {
  const { ask, errorOf, home } = await openStorageHome(t);
  const insert = { sql: "INSERT INTO t VALUES (1)" };
  await ask("p", "exec", { sql: "CREATE TABLE t(a)" });
  let acknowledged = 0;
  while (acknowledged < 5) {
    for (const pid of await processesWith(`${home}/run/storage-`)) process.kill(pid, "SIGKILL");
    await untilAlone(home);
    // A query is asked again when its process has died; a write is not, because it may have been done.
    const count = { rows: [{ n: acknowledged }], columns: ["n"] };
    assert.deepEqual(await ask("p", "query", { sql: "SELECT count(*) AS n FROM t" }), count);
    const outcome = await errorOf("p", "exec", insert);
    if (outcome === "no error") acknowledged++;
    else assert.equal(outcome, "storage.failed -32603 The storage process ended (SIGKILL)");
  }
});

/** Mounts a small file system; false where that is not allowed. */
function mountSmall(dir: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", dir], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("a full disk is a clear error, and storage works again once there is room", async (t) => {
  const home = `${await scratchDir(t)}/disk`;
  await mkdir(home);
  const isMounted = mountSmall(home);
  if (!await requireOrSkip(t, "a small file system", isMounted, "run as root where mounting is allowed")) return;
  try {
    const { storage, ask, errorOf } = await openStorageHome(t, { home });
    await ask("p", "exec", { sql: "CREATE TABLE t(a)" });
    await ask("p", "exec", { sql: "INSERT INTO t VALUES (1)" });
    await writeFile(`${home}/ballast`, new Uint8Array(8 * 1024 * 1024)).catch(() => {});
    const insert = { sql: "INSERT INTO t VALUES (zeroblob(500000))" };
    assert.equal(await errorOf("p", "exec", insert), "storage.disk_full -32603 Cannot write: the disk is full");
    await rm(`${home}/ballast`);
    assert.deepEqual(await ask("p", "exec", insert), { rows_affected: 1 });
    const count = { sql: "SELECT count(*) AS n FROM t" };
    assert.deepEqual(await ask("p", "query", count), { rows: [{ n: 2 }], columns: ["n"] });
    await storage.close();
  } finally {
    execFileSync("umount", ["-l", home]);
  }
});
