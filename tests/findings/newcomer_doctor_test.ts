/**
 * `kaged doctor` on machines that differ from this one: each has its own cause, and its own next step.
 */
import assert from "node:assert/strict";
import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { AS_USER } from "../support/hosted_cage.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { canDiffer, doctorRows } from "./support_newcomer.ts";

const MACHINE = ["--dev-bind", "/", "/"];
const USER = AS_USER.split(" ");

// All three were answered with the package to install, or with no cause at all.
test("kaged doctor names the cause of a set-uid bubblewrap, of a namespace without root and of namespaces that are forbidden", async (t) => {
  if (!await canDiffer(t)) return;
  const copy = join(await scratchDir(t), "bwrap");
  await copyFile("/usr/bin/bwrap", copy);
  await chmod(copy, 0o4755);
  const single = ["--unshare-user", "--uid", "1000", "--gid", "1000", ...MACHINE];
  // The limit is one of the new user namespace alone, and ends with it.
  const forbidding = ["--unshare-user", "--disable-userns", "--uid", "0", "--gid", "0", ...MACHINE];
  const rows = [
    (await doctorRows(t, [...MACHINE, "--ro-bind", copy, "/usr/bin/bwrap"])).bubblewrap,
    (await doctorRows(t, single, USER)).bubblewrap,
    (await doctorRows(t, forbidding))["user namespaces"],
  ];
  const hints = rows.map((row) => `${row?.status}: ${row?.hint}`);
  const causes = [
    /missing: .*chmod ug-s/,
    /missing: .*namespace/,
    /missing: .*around the host forbids user namespaces/,
  ];
  assert.deepEqual(hints.filter((hint, at) => !causes[at]!.test(hint)), []);
});

// Where limits are kept by the watchdog, the row said: Run the host as root.
test("kaged doctor advises no user to run the host as root", async (t) => {
  if (!await canDiffer(t)) return;
  // Without /sys/fs/cgroup there is no better way than the watchdog, on any machine.
  const rows = await doctorRows(t, [...MACHINE, "--tmpfs", "/sys/fs/cgroup"], USER);
  assert.equal(rows.limits?.status, "degraded");
  for (const { id, hint = "" } of Object.values(rows)) assert.doesNotMatch(hint, /the host as root/, id);
});
