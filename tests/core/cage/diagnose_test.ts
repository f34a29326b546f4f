import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { diagnose } from "../../../src/core/cage/diagnose.ts";
import type { CageStatus } from "../../../src/core/cage/launcher.ts";
import type { Exit, Files } from "../../../src/core/ports/ports.ts";

const { files } = await detectRuntime();
const failed: Exit = { code: 1, signal: null };
const never: CageStatus = { launcher: 0, launched: true, childPid: null, pidNamespace: null, exitCode: null };

/** Files of a machine with these sysctls. */
const machine = (settings: Record<string, string>): Files => ({
  ...files,
  readText(path) {
    const value = settings[path.replace("/proc/sys/", "")];
    return value === undefined ? Promise.reject(new Error("ENOENT")) : Promise.resolve(`${value}\n`);
  },
});
const said = async (line: string, settings: Record<string, string> = {}): Promise<(string | undefined)[]> => {
  const error = await diagnose(
    { exit: failed, status: never, stderr: ["noise", `bwrap: ${line}`], isRoot: false },
    machine(settings),
  );
  return [error?.code, error?.hint];
};

test("a plugin that ended is no failure of the cage, whatever it wrote", async () => {
  const stderr = ["bwrap: No permissions to create new namespace"];
  assert.equal(
    await diagnose({ exit: failed, status: { ...never, childPid: 1, exitCode: 1 }, stderr, isRoot: false }, files),
    null,
  );
  const killed = { code: null, signal: "SIGKILL" };
  assert.equal(await diagnose({ exit: killed, status: { ...never, childPid: 1 }, stderr, isRoot: false }, files), null);
});

test("each thing bubblewrap says has a code and a next step", async () => {
  const table: [string, Record<string, string>, string, RegExp][] = [
    [
      "setting up uid map: Permission denied",
      { "kernel/apparmor_restrict_unprivileged_userns": "1" },
      "cage.apparmor",
      /AppArmor/,
    ],
    [
      "loopback: Failed RTM_NEWADDR: Operation not permitted",
      { "kernel/apparmor_restrict_unprivileged_userns": "1" },
      "cage.apparmor",
      /AppArmor/,
    ],
    [
      "No permissions to create new namespace, likely because…",
      { "kernel/unprivileged_userns_clone": "0" },
      "cage.userns_disabled",
      /unprivileged_userns_clone=1/,
    ],
    [
      "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      { "user/max_user_namespaces": "0" },
      "cage.userns_disabled",
      /max_user_namespaces/,
    ],
    ["No permissions to create new namespace", {}, "cage.userns_disabled", /around the host forbids user namespaces/],
    [
      "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      { "user/max_user_namespaces": "1000" },
      "cage.userns_disabled",
      /No setting of this kernel is off/,
    ],
    ["Can't mount proc on /newroot/proc: Operation not permitted", {}, "cage.nested", /container/],
    ["prctl(PR_SET_SECCOMP): Invalid argument", {}, "cage.no_seccomp", /CONFIG_SECCOMP_FILTER/],
    ["Can't find source path /srv/x: No such file or directory", {}, "cage.path_vanished", /"\/srv\/x"/],
    ["execvp /usr/bin/x: No such file or directory", {}, "cage.command_missing", /exec:/],
    ["Something new", {}, "cage.setup_failed", /doctor/],
  ];
  for (const [line, settings, code, hint] of table) {
    const [gotCode, gotHint] = await said(line, settings);
    assert.equal(gotCode, code, line);
    assert.match(gotHint ?? "", hint, line);
  }
});

test("a launcher that could not do its part is not taken for a plugin that ended", async () => {
  for (const code of [121, 122, 126, 127, 1]) {
    const error = await diagnose({ exit: { code, signal: null }, status: never, stderr: [], isRoot: false }, files);
    assert.equal(error?.code, "cage.setup_failed");
  }
  const error = await diagnose({ exit: { code: 121, signal: null }, status: never, stderr: [], isRoot: false }, files);
  assert.match(error?.message ?? "", /descriptors/);
  const network = await diagnose(
    { exit: { code: 125, signal: null }, status: never, stderr: [], isRoot: false },
    files,
  );
  assert.match(network?.message ?? "", /network of the cage/);
});

test("a user who gets no namespaces for the network of a cage learns why, and is not advised to be no root", async () => {
  const status = { ...never, launched: false };
  const ended = { exit: failed, status, stderr: ["unshare: unshare failed: No space left on device"] };
  const full = machine({ "user/max_net_namespaces": "0" });
  assert.deepEqual(
    (await diagnose({ ...ended, isRoot: false }, full))?.hint,
    "Switch it on: sysctl -w user.max_net_namespaces=10000",
  );
  assert.equal((await diagnose({ ...ended, isRoot: true }, full))?.code, "cage.root_refused");
});
