import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { readGroups } from "../../../src/core/cage/launcher.ts";
import { sweepRun } from "../../../src/core/cage/end_leftovers.ts";
import { giveToUser, hostedGround, operators } from "../../support/hosted_cage.ts";
import { until } from "../../support/until.ts";

const capabilities = ["sleep", "setsid", "nohup"].map((name) => `exec:${name}:plugin:/`);

test("a cage dies with its host, and what left its session with it; the next host finds nothing left", async (t) => {
  for (const { exec, who } of await operators(t)) {
    const at = await hostedGround(t);
    if (!at) return;
    const { places: { home }, runtime } = at;
    const { files } = runtime;
    if (exec !== "exec") giveToUser(at.dir);
    const command = ["bash", "-c", "setsid sleep 600 & setsid nohup sleep 601 & echo ready; wait"];
    const host = await at.host(`${exec} $host`, { command, capabilities });
    let text = "";
    await new Promise<void>((resolve) => {
      host.stdout.on("data", (chunk) => (text += chunk).includes("\n") && resolve());
      host.once("close", () => resolve());
    });
    const { childPid, first } = JSON.parse(text) as { childPid: number; first: string };
    assert.equal(first, "ready", who);
    const namespace = await files.readLink(`/proc/${childPid}/ns/pid`);
    const inCage = (): boolean =>
      spawnSync("bash", ["-c", "readlink /proc/[0-9]*/ns/pid"], { encoding: "utf8" }).stdout.includes(namespace);
    assert.equal(inCage(), true);
    const cage = (await files.list(`${home}/run`)).find((name) => name.startsWith("cage-"));
    const groups = await readGroups(`${home}/run/${cage}`, files);
    if (who === "root") assert.ok(groups.length > 0);
    host.kill("SIGKILL");
    await until(() => !inCage(), "the end of every process in the cage");
    await sweepRun(home, runtime);
    assert.deepEqual(await files.list(`${home}/run`), []);
    for (const group of groups) assert.equal(await files.info(group), null, group);
  }
});
