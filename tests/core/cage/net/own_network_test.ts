import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { NETWORK_SPACES, OWN_NETWORK, tryOwnNetwork } from "../../../../src/core/cage/net/own_network.ts";
import { UNSHARE } from "../../../../src/core/cage/sealed_nodes.ts";
import { requireOrSkip } from "../../../support/require_or_skip.ts";

const runtime = await detectRuntime();
const START = "/proc/sys/net/ipv4/ip_unprivileged_port_start";

/** Runs bash in namespaces of its own, never in those of the test; returns its lines. */
function inside(script: string): string[] {
  const { stdout, stderr } = spawnSync(UNSHARE, [...NETWORK_SPACES, "--", "/bin/bash", "--norc", "-c", script], {
    encoding: "utf8",
    env: {},
  });
  return `${stdout}${stderr}`.trim().split("\n");
}
const canUnshare = (t: TestContext): Promise<boolean> =>
  requireOrSkip(
    t,
    "nested user namespaces",
    () => inside("echo yes")[0] === "yes",
    "run outside a restricted container",
  );

test("the launcher opens the ports of a network that is its own, and of none that it takes for the host's", async (t) => {
  if (!await canUnshare(t)) return;
  const state = `read -r start <${START}; ip -brief link show lo | { read -r _ state _; echo "$? $start $state"; }`;
  const hosts = await runtime.files.readLink("/proc/self/ns/net");
  assert.deepEqual(inside(`${OWN_NETWORK}\nown_network '${hosts}'; echo $?; ${state}`), ["0", "0 0 UNKNOWN"]);
  // The same steps, where the network that it is in is named as the host's; and where no name is known.
  for (const name of ['"$(readlink /proc/self/ns/net)"', "''", "'?'"]) {
    assert.deepEqual(inside(`${OWN_NETWORK}\nown_network ${name}; echo $?; ${state}`), ["1", "0 1024 DOWN"], name);
  }
});

test("the launcher brings loopback up with ip where there is no Perl", async (t) => {
  if (!await canUnshare(t)) return;
  const ip = (): boolean => spawnSync("/usr/sbin/ip", ["-V"]).status === 0;
  if (!await requireOrSkip(t, "ip", ip, "install iproute2")) return;
  const hosts = await runtime.files.readLink("/proc/self/ns/net");
  const without = OWN_NETWORK.replace("perl -e", "absent-perl -e");
  assert.notEqual(without, OWN_NETWORK);
  const reach = "exec 3<>/dev/tcp/127.0.0.1/9";
  // A network that is down is unreachable; one that is up refuses.
  assert.match(inside(`${without}\n${reach}`).at(-1) ?? "", /unreachable/);
  assert.match(inside(`${without}\nown_network '${hosts}'; ${reach}`).at(-1) ?? "", /refused/);
});

test("every address of the launcher's network is local to it, made by ip or by Perl", async (t) => {
  if (!await canUnshare(t)) return;
  const perl = (): boolean => spawnSync("/usr/bin/perl", ["-v"]).status === 0;
  const ip = (): boolean => spawnSync("/usr/sbin/ip", ["-V"]).status === 0;
  if (!await requireOrSkip(t, "perl and ip", () => perl() && ip(), "install perl-base and iproute2")) return;
  const hosts = await runtime.files.readLink("/proc/self/ns/net");
  const reach = (address: string): string => `(exec 3<>/dev/tcp/${address}/9) 2>&1`;
  for (const script of [OWN_NETWORK.replaceAll(" ip ", " absent-ip "), OWN_NETWORK.replace("perl -e", "absent-perl")]) {
    assert.notEqual(script, OWN_NETWORK);
    for (const address of ["93.184.216.34", "10.0.0.7", "255.255.255.254"]) {
      const said = inside(`${script}\nown_network '${hosts}' && ${reach(address)}`).at(-1) ?? "";
      assert.match(said, /refused/, address);
    }
  }
});

test("tryOwnNetwork() returns why a machine gives no such network, and asks a machine once", async (t) => {
  if (!await canUnshare(t)) return;
  const started: string[] = [];
  const processes = {
    ...runtime.processes,
    spawn: (...given: Parameters<typeof runtime.processes.spawn>) => {
      started.push(given[0].file);
      return runtime.processes.spawn(...given);
    },
  };
  const counted = { ...runtime, processes };
  const hosts = await runtime.files.readLink("/proc/self/ns/net");
  const bwrap = "/usr/bin/bwrap";
  assert.deepEqual(await tryOwnNetwork({ bash: "/bin/bash", bwrap }, counted), { hosts, why: "" });
  await tryOwnNetwork({ bash: "/bin/bash", bwrap }, counted);
  assert.deepEqual(started, [UNSHARE]);
  const failed = await tryOwnNetwork({ bash: "/bin/bash", bwrap: "/absent/bwrap" }, counted);
  assert.equal(failed.hosts, null);
  assert.match(failed.why, /\/absent\/bwrap: No such file/);
  const bare = { ...runtime, processes: { ...processes, spawn: () => Promise.reject(new Error("no unshare")) } };
  assert.deepEqual(await tryOwnNetwork({ bash: "/bin/bash", bwrap }, bare), { hosts: null, why: "no unshare" });
});
