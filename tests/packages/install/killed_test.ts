import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { verifyTree } from "../../../src/core/files/tree.ts";
import { settlePackages } from "../../../src/packages/install/install_ports.ts";
import { uninstallPlugin } from "../../../src/packages/install/change_installed.ts";
import { type InstallStage, installStage } from "./install_stage.ts";

const PROGRAM: string = fileURLToPath(new URL("fixtures/dies_at_a_step.ts", import.meta.url));

/** Runs a change in a process that kills itself at a step; returns whether it got to its end. */
async function killedAt(step: number, home: string, op: "install" | "uninstall", what: string): Promise<boolean> {
  const deno = process.versions["deno"] ? ["run", "-A", "--quiet", "--no-check"] : [];
  const args = [...deno, PROGRAM, home, op, what, String(step)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => said += chunk);
  const [code, signal] = await once(child, "close");
  assert.ok(signal === "SIGKILL" || code === 137 || said === "done\n", `${code} ${signal} ${said}`);
  return said === "done\n";
}

/** Whether files and record agree on one version; which, or null for none. */
async function version({ home, ports, local }: InstallStage): Promise<string | null> {
  const { files } = ports.runtime;
  await settlePackages(ports);
  const record = (await local()).records.get("oh-my-pi");
  const dir = join(home, "plugins/oh-my-pi");
  if (!record) {
    assert.equal(await files.info(dir), null, "files without a record");
    return null;
  }
  await verifyTree("oh-my-pi", dir, record.hash!, files);
  const { version } = JSON.parse(await readFile(join(dir, "kaged-plugin.yaml"), "utf8"));
  assert.deepEqual([record.version, record.installed], [version, version]);
  return version;
}

test("K-052 K-055 K-056 a process killed at any step leaves the version before or the version after, never half", async (t) => {
  const stage = await installStage(t);
  const v1 = await stage.plugin("v1");
  const v2 = await stage.plugin("v2", { version: "2.0.0" });
  const changes = [
    { op: "install", what: v1, before: null, after: "1.4.2" },
    { op: "install", what: v2, before: "1.4.2", after: "2.0.0" },
    { op: "uninstall", what: "oh-my-pi", before: "2.0.0", after: null },
  ] as const;
  for (const { op, what, before, after } of changes) {
    const seen = new Set<string | null>();
    for (let step = 0;; step++) {
      assert.equal(await version(stage), before);
      const isDone = await killedAt(step, stage.home, op, what);
      const now = await version(stage);
      seen.add(now);
      assert.ok(now === before || now === after, `${op} killed at ${step}: ${now}`);
      assert.ok(!isDone || now === after);
      if (isDone) break;
      if (now === before) continue;
      // It happened although it was killed: undo it, and go on with the next step.
      if (before === null) await uninstallPlugin("oh-my-pi", stage.ports);
      else await stage.install(before === "1.4.2" ? v1 : v2);
    }
    assert.equal(seen.size, 2, `${op}: every kill came to the same`);
    assert.deepEqual((await stage.names()).filter((name) => name.startsWith(".") && name !== ".journal.json"), []);
  }
});
