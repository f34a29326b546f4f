import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { examineMachine } from "../../../src/operator/doctor/examine_machine.ts";
import { packageManager } from "../../../src/operator/doctor/interpreter_rows.ts";
import { judgeAppArmor, judgeNamespaces, judgeSeccomp } from "../../../src/operator/doctor/kernel_rows.ts";
import { judgeLimits, judgeNetwork, judgeUser } from "../../../src/operator/doctor/cage_rows.ts";
import type { MachineReport, MachineRow } from "../../../src/operator/doctor/report.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { Runtime } from "../../../src/core/ports/ports.ts";
import { RUNTIME_PROGRAMS } from "../../support/runtime_programs.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const find = ({ checks }: MachineReport, id: string): MachineRow => checks.find((row) => row.id === id)!;

/** This machine as it would be without the files that `hidden` matches, on Debian. */
function without(hidden: RegExp, runtime: Runtime): Runtime {
  const { files } = runtime;
  return {
    ...runtime,
    uid: 1000,
    files: {
      ...files,
      target: (path) => hidden.test(path) ? Promise.resolve(null) : files.target(path),
      readText: (path) => path === "/etc/os-release" ? Promise.resolve("ID=debian\n") : files.readText(path),
    },
  };
}

test("examineMachine() finds that plugins can run where the suite runs, and cleans up", async (t) => {
  const home = await scratchDir(t);
  const runtime = await detectRuntime();
  const report = await examineMachine(runtime, home);
  assert.equal(report.ok, true);
  const ids = [
    "platform",
    "user",
    "bubblewrap",
    "user namespaces",
    "apparmor",
    "seccomp",
    "limits",
    "cage",
    "network",
    "sqlite",
    "js",
  ];
  const interpreters = ["deno", "bun", "node", "python3", "bash", "jq"];
  assert.deepEqual(report.checks.map(({ id }) => id), [...ids, ...interpreters]);
  for (const id of ["cage", "seccomp", "apparmor"]) assert.equal(find(report, id).status, "ok", id);
  assert.match(find(report, "limits").detail, /^(cgroup2|systemd|cgroup1|watchdog): 512 MB, 256 CPU shares, 100 /);
  assert.match(find(report, "bubblewrap").detail, /^bubblewrap \d+\.\d+\.\d+ at \/usr\/(local\/)?bin\/bwrap/);
  assert.equal(find(report, runtime.name).detail, runtime.executable);
  assert.deepEqual(await readdir(`${home}/run`), []);
});

test("examineMachine() gives the command that brings bubblewrap where it is missing", async (t) => {
  const runtime = without(/\/bwrap$/, await detectRuntime());
  const report = await examineMachine(runtime, await scratchDir(t));
  assert.equal(report.ok, false);
  for (const id of ["bubblewrap", "cage"]) {
    const { status, code, hint } = find(report, id);
    const expected = ["missing", "cage.bwrap_missing", "Run: sudo apt-get install -y bubblewrap"];
    assert.deepEqual([status, code, hint], expected, id);
  }
});

test("examineMachine() takes an absent interpreter for a lack that only some plugins feel", async (t) => {
  const report = await examineMachine(without(/\/(jq|deno)$/, await detectRuntime()), await scratchDir(t));
  assert.equal(report.ok, true);
  const { status, optional, hint } = find(report, "jq");
  assert.deepEqual([status, optional, hint], ["missing", true, "Run: sudo apt-get install -y jq"]);
});

test("N-037 examineMachine() tries the runtime that runtimes.js names", async (t) => {
  const [runtime, home] = [await detectRuntime(), await scratchDir(t)];
  const named = find(await examineMachine(runtime, home, { js: RUNTIME_PROGRAMS.bun }), "js");
  assert.match(`${named.status} ${named.detail}`, /^ok .*\/bun, named in config\.toml$/);
  const { status, code, detail } = find(await examineMachine(runtime, home, { js: "/usr/bin/true" }), "js");
  assert.deepEqual([status, code], ["missing", "cage.js_unusable"]);
  assert.match(detail, /"\/usr\/bin\/true": it is neither Node, Bun nor Deno$/);
});

test("examineMachine() says that other systems cannot cage a plugin", async (t) => {
  const report = await examineMachine({ ...await detectRuntime(), platform: "darwin" }, await scratchDir(t));
  assert.deepEqual(
    report.checks.map(({ id, status, code }) => [id, status, code]),
    ["platform", "cage"].map((id) => [id, "missing", "cage.unsupported"]),
  );
  assert.equal(report.ok, false);
});

test("judgeNamespaces() names the switch that is off and the command that turns it on", () => {
  const usual = { max: 1000, clone: null, uid: 1000, error: null };
  assert.equal(judgeNamespaces(usual).status, "ok");
  assert.equal(judgeNamespaces({ ...usual, max: null }).status, "missing");
  assert.equal(judgeNamespaces({ ...usual, max: 0 }).hint, "Run: sudo sysctl -w user.max_user_namespaces=10000");
  assert.equal(judgeNamespaces({ ...usual, clone: 0 }).hint, "Run: sudo sysctl -w kernel.unprivileged_userns_clone=1");
  assert.equal(judgeNamespaces({ ...usual, clone: 0, uid: 0 }).status, "ok", "root may");
});

test("judgeNamespaces() looks for the cause around the host where none of the kernel's settings is off", () => {
  const error = new HostError("cage.userns_disabled", "No", { hint: "Allow them around the host" });
  assert.deepEqual(judgeNamespaces({ max: 1000, clone: null, uid: 1000, error }), {
    id: "user namespaces",
    status: "missing",
    detail: "This kernel allows up to 1000, but bubblewrap was given none",
    hint: "Allow them around the host",
    code: "cage.userns_disabled",
  });
  const other = new HostError("cage.bwrap_missing", "No");
  assert.equal(judgeNamespaces({ max: 1000, clone: null, uid: 1000, error: other }).status, "ok");
});

test("judgeUser() never recommends root, and says whether the walls that root needs stand", () => {
  assert.equal(judgeUser(1000, null).status, "ok");
  const refused = new HostError("cage.root_refused", "No", { data: { why: "no mounts" } });
  const other = new HostError("cage.bwrap_missing", "None");
  const rows = [null, refused, other].map((error) => judgeUser(0, error));
  assert.deepEqual(rows.map(({ status, code }) => [status, code]), [
    ...[["degraded", undefined], ["missing", "cage.root_refused"], ["degraded", undefined]],
  ]);
  for (const { hint } of rows) assert.match(hint ?? "", /^Run the host as an ordinary user/);
  assert.match(rows[0]!.detail, /not recommended; its walls stand: device nodes and \/proc are read-only/);
  assert.match(rows[1]!.detail, /cannot stand here: no mounts$/);
  assert.match(rows[2]!.detail, /could not be tried/);
});

test("no row of the doctor advises to run the host as root", async (t) => {
  const real = await detectRuntime();
  for (const uid of [0, 1000]) {
    for (const hidden of [/\/bwrap$/, /\/(unshare|mount)$/, /\/cgroup/]) {
      const { checks } = await examineMachine({ ...without(hidden, real), uid }, await scratchDir(t));
      const passed = [{ name: "cgroup2", why: "no tree of version 2 is mounted" }] as const;
      const watched = judgeLimits({ tier: { name: "watchdog", prlimit: null }, passed }, uid);
      for (const { id, hint = "" } of [...checks, watched]) assert.doesNotMatch(hint, /host as root|as root,/, id);
    }
  }
});

test("examineMachine() shows root that the programs for its walls are missing", async (t) => {
  const runtime = { ...without(/\/unshare$/, await detectRuntime()), uid: 0 };
  const report = await examineMachine(runtime, await scratchDir(t));
  assert.equal(report.ok, false);
  for (const id of ["user", "cage"]) assert.equal(find(report, id).code, "cage.root_refused", id);
});

test("examineMachine() looks at the programs that the operator named, bubblewrap among them", async (t) => {
  const runtime = await detectRuntime();
  const runtimes = { bwrap: "/none/bwrap", deno: "/usr/bin/env", ruby: "/none/ruby" };
  const report = await examineMachine(runtime, await scratchDir(t), runtimes);
  assert.equal(find(report, "bubblewrap").code, "cage.bwrap_missing");
  if (runtime.name !== "deno") assert.equal(find(report, "deno").detail, "/usr/bin/env, named in config.toml");
  const { status, hint } = find(report, "ruby");
  assert.deepEqual([status, hint], ["missing", "Correct runtimes.ruby in config.toml"]);
});

test("a bubblewrap that cannot be used is answered with the command that mends it, not with its package", async (t) => {
  const real = await detectRuntime();
  const hintFor = async (mode: number): Promise<string | undefined> => {
    const target: typeof real.files.target = async (path) => {
      const info = await real.files.target(path);
      return info && path.endsWith("/bwrap") ? { ...info, mode } : info;
    };
    const report = await examineMachine({ ...real, files: { ...real.files, target } }, await scratchDir(t));
    return find(report, "bubblewrap").hint;
  };
  assert.match(await hintFor(0o4755) ?? "", /Run as root: chmod ug-s "\/usr\/bin\/bwrap"$/);
  assert.equal(await hintFor(0o644), 'Run as root: chmod a+x "/usr/bin/bwrap"');
  assert.equal(await hintFor(0o777), 'Run as root: chmod go-w "/usr/bin/bwrap"');
});

test("judgeAppArmor() minds a limit only where it keeps bubblewrap from its work, and gives the profile that mends it", () => {
  const usual = { restricts: 1, uid: 1000, canCage: false };
  assert.equal(judgeAppArmor({ ...usual, restricts: null }).status, "ok");
  assert.equal(judgeAppArmor({ ...usual, restricts: 0 }).status, "ok");
  assert.equal(judgeAppArmor({ ...usual, uid: 0 }).status, "ok");
  assert.equal(judgeAppArmor({ ...usual, canCage: true }).status, "ok");
  const { status, hint, code } = judgeAppArmor(usual);
  assert.deepEqual([status, code], ["missing", "cage.apparmor"]);
  assert.match(
    hint ?? "",
    /^Run: printf '.*userns,.*' \| sudo tee \/etc\/apparmor\.d\/bwrap && sudo apparmor_parser -r /,
  );
});

test("judgeSeccomp() asks for filters that end a process and give an error", () => {
  const actions = ["kill_process", "kill_thread", "trap", "errno", "allow"];
  assert.deepEqual(judgeSeccomp({ actions, error: null }), {
    id: "seccomp",
    status: "ok",
    detail: "The kernel took the filter on system calls",
  });
  const other = new HostError("cage.userns_disabled", "No");
  assert.match(judgeSeccomp({ actions, error: other }).detail, /not tried$/);
  const none = new HostError("cage.no_seccomp", "No");
  for (const facts of [{ actions, error: none }, { actions: null, error: null }, { actions: ["allow"], error: null }]) {
    const { status, code, hint } = judgeSeccomp(facts);
    assert.deepEqual([status, code, hint?.includes("CONFIG_SECCOMP_FILTER")], ["missing", "cage.no_seccomp", true]);
  }
});

test("judgeNetwork() says which programs reach granted hosts, and why some may not", () => {
  assert.equal(judgeNetwork({ hosts: "net:[1]", why: "" }).status, "ok");
  const { status, detail, hint } = judgeNetwork({ hosts: null, why: "unshare: Operation not permitted" });
  assert.equal(status, "degraded");
  assert.match(detail, /below port 1024 .* only through the proxy .*Operation not permitted/i);
  assert.match(hint ?? "", /unshare/);
});

test("judgeLimits() names the way limits are kept, and the way to a better one where the host only looks", () => {
  const kept = [
    { name: "cgroup2", base: "/g" },
    { name: "systemd", program: "/s", env: {} },
    { name: "cgroup1", memory: "/m", pids: "/p", cpu: "/c" },
  ] as const;
  for (const tier of kept) {
    const { status, detail, hint } = judgeLimits({ tier, passed: [] }, 0);
    assert.deepEqual([status, detail.startsWith(`${tier.name}: 512 MB`), hint], ["ok", true, undefined]);
  }
  const tier = { name: "watchdog", prlimit: null } as const;
  const hints = (why: string, uid: number): string | undefined =>
    judgeLimits({ tier, passed: [{ name: "cgroup2", why }] }, uid).hint;
  assert.match(
    hints("2 other processes share the host's group", 1000) ?? "",
    /sudo chown -R \$\(id -u\) \/sys\/fs\/cgroup\/kaged/,
  );
  assert.match(hints("2 other processes share the host's group", 0) ?? "", /mkdir -p \/sys\/fs\/cgroup\/kaged && echo/);
  assert.match(hints("no tree of version 2 is mounted", 1000) ?? "", /loginctl enable-linger/);
  assert.match(hints("no tree of version 2 is mounted", 0) ?? "", /container/);
  const { status, detail } = judgeLimits({ tier, passed: [{ name: "cgroup1", why: "read-only" }] }, 0);
  assert.equal(status, "degraded");
  assert.match(detail, /every 250 ms.*cgroup1: read-only/);
});

test("packageManager() knows a system by its name or by what it is like", () => {
  assert.equal(packageManager('NAME="Debian"\nID=debian\n'), "apt-get install -y");
  assert.equal(packageManager('ID=linuxmint\nID_LIKE="ubuntu debian"\n'), "apt-get install -y");
  assert.equal(packageManager('ID="opensuse-leap"\n'), "zypper install -y");
  assert.equal(packageManager("ID=plan9\n"), null);
  assert.equal(packageManager(""), null);
});
