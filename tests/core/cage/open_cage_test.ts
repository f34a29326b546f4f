import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { CagePlaces } from "../../../src/core/cage/cage.ts";
import { openCage } from "../../../src/core/cage/open_cage.ts";
import type { Manifest } from "../../../src/core/manifest/manifest.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import { cagedBash, placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrLess, requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { until } from "../../support/until.ts";

const runtime = await detectRuntime();
const { files, processes } = runtime;

/** Places for one test, or null when this machine cannot cage. */
async function ground(t: TestContext): Promise<(CagePlaces & { dir: string; projectDir: string }) | null> {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  return await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor") ? { dir, ...places } : null;
}

const programs = (...names: string[]): string[] => names.map((name) => `exec:${name}:plugin:/`);
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

test("probeCage() runs a whole cage and leaves nothing behind", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { error, path, version } = await probeCage(runtime, places.home);
  assert.deepEqual([error, path], [null, "/usr/bin/bwrap"]);
  assert.match(version ?? "", /^\d+\.\d+/);
  assert.deepEqual(await files.list(`${places.home}/run`), []);
});

test("probeCage() returns why a machine cannot cage", async (t) => {
  const home = await scratchDir(t);
  assert.equal((await probeCage({ ...runtime, platform: "darwin" }, home)).error?.code, "cage.unsupported");
  const bare = { ...runtime, files: { ...files, target: () => Promise.resolve(null) } };
  assert.equal((await probeCage(bare, home)).error?.code, "cage.bwrap_missing");
});

test("openCage() refuses a runtime that does not let it look into a cage", async (t) => {
  const places = await placesIn(await scratchDir(t), runtime);
  const target: typeof files.target = (path) =>
    path.startsWith("/proc/self/root") ? Promise.reject(new Error("Requires all access")) : files.target(path);
  const limited = { ...runtime, files: { ...files, target } };
  await assert.rejects(openCage(requestOf({}, places), limited), {
    code: "cage.no_permission",
    hint: /docs\/embed-deno\.md/,
  });
  const lacking = { ...runtime, missingPermissions: () => ["--allow-env", "--allow-run"] };
  await assert.rejects(openCage(requestOf({}, places), lacking), {
    code: "cage.no_permission",
    message: "Cannot cage plugins without --allow-env --allow-run",
    data: { missing: ["--allow-env", "--allow-run"] },
  });
});

test("openCage() refuses other systems and a machine without bash", async (t) => {
  const places = await placesIn(await scratchDir(t), runtime);
  await assert.rejects(openCage(requestOf({}, places), { ...runtime, platform: "win32" }), {
    code: "cage.unsupported",
  });
  const target: typeof files.target = async (path) => path.endsWith("/bash") ? null : await files.target(path);
  const bare = { ...runtime, files: { ...files, target } };
  await assert.rejects(openCage(requestOf({}, places), bare), { code: "cage.bash_missing" });
});

test("K-043 a caged plugin cannot read /etc/passwd, nor anything that was not granted", async (t) => {
  const places = await ground(t);
  if (!places) return;
  await files.write(`${places.projectDir}/secret`, "secret");
  const script = `cat /etc/passwd; cat ${places.projectDir}/secret; ls ${places.home}; ls /root /home /var /opt`;
  const { out, err } = await cagedBash(script, { capabilities: programs("cat", "ls") }, places);
  assert.equal(out, "");
  assert.equal(lines(err).length, 7);
  for (const line of lines(err)) assert.match(line, /No such file or directory$/);
});

test("a caged plugin sees the skeleton and its own folder, and only granted programs", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { out } = await cagedBash("ls / /etc /usr/bin", { capabilities: programs("ls") }, places);
  assert.deepEqual(lines(out), [
    ...["/:", "bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr"],
    ...["/etc:", "hosts", "ld.so.cache", "localtime", "/usr/bin:", "bash", "ls"],
  ]);
});

test("a caged plugin writes where it may, and nowhere else", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { dir, installDir, projectDir } = places;
  await files.makeDir(`${dir}/read/inner`, { recursive: true });
  const capabilities = [
    `read:fs:${dir}/read`,
    `write:fs:${dir}/read/inner`,
    "write:fs:project:/out",
    "write:fs:config:/notes",
  ];
  // Opened, not written: on a host that is root a hole in /proc/sys would be a changed kernel.
  const write = (path: string): string => `(: >${path}) 2>/dev/null && echo "wrote ${path}"; `;
  const allowed = [
    `${dir}/read/inner/x`,
    `${projectDir}/out/x`,
    `${places.home}/files/notes/x`,
    "/tmp/x",
    "/dev/shm/x",
  ];
  const closed = [
    ...[`${installDir}/x`, `${dir}/read/x`, "/x", "/etc/x", "/etc/hosts", "/usr/lib/x", "/usr/bin/x", "/dev/x"],
    ...["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname"],
  ];
  const { out } = await cagedBash([...allowed, ...closed].map(write).join("\n"), { capabilities }, places);
  assert.deepEqual(lines(out), allowed.map((path) => `wrote ${path}`));
  assert.deepEqual(await files.list(`${projectDir}/out`), ["x"]);
  assert.deepEqual(await files.list(installDir), []);
});

test("a folder around a granted one is an empty one of the cage: what is written there never reaches the host", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script = `ls ${places.projectDir}; (echo x >${places.projectDir}/x) 2>/dev/null`;
  await files.write(`${places.projectDir}/secret`, "");
  const capabilities = [...programs("ls"), "write:fs:project:/out"];
  assert.equal((await cagedBash(script, { capabilities }, places)).out, "out\n");
  assert.deepEqual(await files.list(places.projectDir), ["out", "secret"]);
});

test("/tmp in a cage is its own, and neither it nor /dev/shm takes more than its size", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script =
    "ls -A /tmp; for d in /tmp /dev/shm; do head -c 200000000 /dev/zero >$d/fill; stat -c %s $d/fill; done";
  const { out, err } = await cagedBash(script, { capabilities: programs("ls", "head", "stat") }, places);
  const [top, ...sizes] = lines(out);
  assert.equal(top, places.dir.split("/")[2]); // Only the way to the plugin's own folder.
  assert.deepEqual(sizes, ["67108864", "16777216"]);
  assert.equal(lines(err).filter((line) => line.includes("No space left")).length, 2);
});

test("HOME of an MCP server's cage is an empty folder in memory that only it has, with a size of its own", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script = [
    'echo "$HOME"; ls -A "$HOME"; stat -c %a "$HOME"; mkdir -p "$HOME/.cache/x"; echo kept >"$HOME/.cache/x/y"',
    'cat "$HOME/.cache/x/y"; touch /.cache 2>&1 || echo refused; touch ./here 2>&1 || echo refused',
    'head -c 60000000 /dev/zero >"$HOME/fill"; stat -c %s "$HOME/fill"',
  ].join("; ");
  const capabilities = programs("ls", "stat", "mkdir", "cat", "touch", "head");
  const limits = { memory_mb: 96, cpu_shares: 256, pids: 100 };
  const run = (own: Partial<Manifest>) => cagedBash(script, { capabilities, ...own }, places, { limits });
  const { out } = await run({ runtime: "mcp_stdio" });
  const folders = [".cache", ".config", ".local"];
  assert.deepEqual(lines(out).filter((line) => !line.startsWith("touch:")), [
    ...["/.cage/home", ...folders, "700", "kept", "refused", "refused", `${96 * 1024 * 1024 / 2 - 4096}`],
  ]);
  assert.equal(lines((await run({ home: "private" })).out)[0], "/.cage/home");
  assert.equal(lines((await run({ runtime: "mcp_stdio", home: "readonly" })).out)[0], places.installDir);
  assert.equal(lines((await run({})).out)[0], places.installDir);
  assert.deepEqual(await files.list(places.installDir), []);
});

test("K-047 the environment in a cage is exact, and none of it is the host's", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const own = { env: { MINE: "a b=c\nd" }, capabilities: programs("env", "cat") };
  const { out } = await cagedBash(
    "env -0; echo; cat /proc/1/environ | env -0 | cat >/dev/null; cat /proc/1/environ",
    own,
    places,
  );
  const [environment = "", first] = out.split("\0\n");
  const shell = /^(SHLVL|_|OLDPWD)=/; // Bash adds these for its own children.
  assert.deepEqual(environment.split("\0").filter((entry) => !shell.test(entry)).sort(), [
    ...["DENO_DIR=/tmp/.deno", "DENO_NO_PROMPT=1", "DENO_NO_UPDATE_CHECK=1", `HOME=${places.installDir}`],
    ...[
      "KAGED_API_VERSION=1",
      "KAGED_LOG_LEVEL=info",
      `KAGED_PLUGIN_DIR=${places.installDir}`,
      "KAGED_PLUGIN_NAME=caged",
    ],
    ...["LANG=C.UTF-8", "MINE=a b=c\nd", "PATH=/usr/bin:/usr/local/bin", `PWD=${places.installDir}`, "TMPDIR=/tmp"],
  ]);
  assert.equal(first, "");
});

test("no path of the host is on a command line, in the cage or in the host's list of processes", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const capabilities = [...programs("cat"), "write:fs:config:/a"];
  const command = ["bash", "-c", "cat /proc/1/cmdline; echo; read end"];
  const caged = await startCaged(requestOf({ command, env: { TOKEN: "t0p" }, capabilities }, places));
  const inside = (await caged.firstLine()).split("\0");
  assert.deepEqual(inside.slice(0, 4), ["/usr/bin/bwrap", "--args", "8", "--"]);
  const outside = await files.readText(`/proc/${caged.child.pid}/cmdline`);
  assert.equal(outside.includes(places.dir) || outside.includes("t0p"), false);
  const environment = await files.readText(`/proc/${caged.child.pid}/environ`);
  assert.equal(environment, "");
  caged.child.endInput();
  await caged.end();
});

test("K-043 a caged plugin is nobody, has no capability, with net:[] no network and a host name of its own", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const capabilities = [...programs("id", "cat", "grep", "uname"), "net:[]"];
  const script =
    "id -u; id -g; uname -n; grep -h Cap /proc/self/status; cat /proc/net/dev | grep -c :; exec 3<>/dev/tcp/127.0.0.1/9";
  const { out, err } = await cagedBash(script, { capabilities }, places);
  const [uid, gid, name, ...rest] = lines(out);
  assert.deepEqual([uid, gid, name], ["65534", "65534", "cage"]);
  assert.deepEqual(rest.slice(0, 4).map((line) => line.split("\t")[1]), Array(4).fill("0000000000000000"));
  assert.equal(rest.at(-1), "1"); // Loopback alone.
  assert.match(err, /Connection refused|Network is unreachable/);
});

test("a caged plugin sees no process but its own", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { out } = await cagedBash("cd /proc; echo [0-9]*", {}, places);
  assert.equal(out, "1 2\n");
});

test("childPid() is the plugin's group outside, and a signal to it reaches the plugin's own handler", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do read -t 1 line; done";
  const caged = await startCaged(requestOf({ command: ["bash", "-c", script] }, places));
  assert.equal(await caged.firstLine(), "ready");
  const pid = await caged.cage.childPid();
  assert.equal(processes.signal(-(pid ?? 0), "SIGTERM"), true);
  const { exit, failure, out } = await caged.end();
  assert.deepEqual([exit, failure, out], [{ code: 5, signal: null }, null, "ready\nasked\n"]);
});

test("SIGKILL to the launcher ends every process of the cage, those that left its session too", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const script = "setsid sleep 600 & setsid nohup sleep 601 & echo ready; wait";
  const capabilities = programs("setsid", "sleep", "nohup");
  const caged = await startCaged(requestOf({ command: ["bash", "-c", script], capabilities }, places));
  await caged.firstLine();
  const pid = await caged.cage.childPid();
  const namespace = await files.readLink(`/proc/${pid}/ns/pid`);
  caged.child.kill("SIGKILL");
  const { exit, failure } = await caged.end();
  assert.deepEqual([exit.signal, failure], ["SIGKILL", null]);
  await untilGone(namespace);
});

test("verifyMounts() passes while each granted path is the one that was checked", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const capabilities = ["write:fs:project:/a", `read:fs:${places.dir}/project`];
  const caged = await startCaged(requestOf({ command: ["bash", "-c", "echo ready; read end"], capabilities }, places));
  await caged.firstLine();
  await caged.cage.verifyMounts();
  caged.child.endInput();
  await caged.end();
});

test("verifyMounts() finds a path that was swapped between the check and the mount", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const command = ["bash", "-c", "echo ready; read end"];
  const caged = await startCaged(requestOf({ command, capabilities: ["write:fs:project:/a"] }, places), async () => {
    await files.rename(`${places.projectDir}/a`, `${places.projectDir}/b`);
    await files.makeDir(`${places.projectDir}/a`);
  });
  await caged.firstLine();
  await assert.rejects(caged.cage.verifyMounts(), { code: "cage.path_swapped", message: /project\/a"/ });
  caged.child.kill("SIGKILL");
  await caged.end();
});

test("verifyMounts() finds a process that is not caged after all", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const unfiltered: typeof files.readText = async (path) =>
    (await files.readText(path)).replace(/^Seccomp:.*$/m, "Seccomp:\t0");
  const own = { ...runtime, files: { ...files, readText: unfiltered } };
  const request = requestOf({ command: ["bash", "-c", "echo ready; read end"] }, places);
  const caged = await startCaged(request, undefined, own);
  await caged.firstLine();
  await assert.rejects(caged.cage.verifyMounts(), { code: "cage.walls_missing" });
  caged.child.endInput();
  await caged.end();
});

test("verifyMounts() takes the end of a process for its end, and a report that is missing for a swap", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const caged = await startCaged(requestOf({ command: ["bash", "-c", "echo ready; read end"] }, places));
  await caged.firstLine();
  const status = `${caged.cage.command.cwd}/status`;
  const report = await files.readText(status);
  await files.write(status, "");
  await assert.rejects(caged.cage.verifyMounts(), { code: "cage.path_swapped" });
  await files.write(status, report);
  caged.child.kill("SIGKILL");
  await caged.child.exited;
  await untilGone(await files.readLink(`/proc/${await caged.cage.childPid()}/ns/pid`).catch(() => "none"));
  await caged.cage.verifyMounts();
  await caged.end();
  await caged.cage.verifyMounts();
});

test("a granted path that goes away before the mount is the cage's failure", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const request = requestOf({ capabilities: ["write:fs:project:/a"] }, places);
  const caged = await startCaged(request, () => files.remove(`${places.projectDir}/a`));
  const { failure } = await caged.end();
  assert.equal(failure?.code, "cage.path_vanished");
});

test("a program that cannot be run is the cage's failure; an exit code of a plugin is not", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const broken = `${places.installDir}/broken`;
  await files.write(broken, "#!/bin/sh\n", 0o755);
  const gone = await startCaged(requestOf({ command: ["./broken"] }, places), () => files.remove(broken));
  assert.equal((await gone.end()).failure?.code, "cage.command_missing");
  for (const code of [0, 1, 121, 127, 255]) {
    const { exit, failure } = await cagedBash(`echo "bwrap: lies" >&2; exit ${code}`, {}, places);
    assert.deepEqual([exit.code, failure], [code, null]);
  }
});

test("files of the cage that are gone are the cage's failure", async (t) => {
  const places = await ground(t);
  if (!places) return;
  for (const name of ["orders", "hosts", "seccomp"]) {
    const caged = await startCaged(requestOf({}, places), ({ command }) => files.remove(`${command.cwd}/${name}`));
    const { failure } = await caged.end();
    assert.deepEqual([failure?.code, /files of the cage/.test(failure?.message ?? "")], ["cage.setup_failed", true]);
  }
});

test("close() removes the cage's files, also twice; they are private while they are there", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const cage = await openCage(requestOf({ env: { TOKEN: "secret" } }, places), runtime);
  const { cwd } = cage.command;
  for (const path of [`${places.home}/run`, cwd]) assert.equal((await files.info(path))?.mode, 0o700);
  for (const name of ["orders", "hosts", "seccomp"]) {
    assert.equal((await files.info(`${cwd}/${name}`))?.mode, 0o600, name);
  }
  await cage.close();
  await cage.close();
  assert.deepEqual(await files.list(`${places.home}/run`), []);
});

test("plugins in Python, in JavaScript and as scripts start in a cage", async (t) => {
  const places = await ground(t);
  if (!places) return;
  await files.write(`${places.installDir}/a.js`, "console.log('js', process.cwd())");
  await files.write(
    `${places.installDir}/a.py`,
    "#!/usr/bin/env python3\nimport json, os\nprint('py', os.getcwd())\n",
    0o755,
  );
  await files.write(`${places.installDir}/a.sh`, "#!/bin/sh\necho sh $PWD\n", 0o755);
  const commands = [["js", "./a.js"], [runtime.name, ...(runtime.name === "deno" ? ["run", "-A"] : []), "a.js"], [
    "./a.sh",
  ]];
  const python = spawnSync("/usr/bin/python3", ["--version"]).status === 0;
  if (await requireOrLess(t, "python3", python, "install python3")) commands.push(["./a.py"], ["python3", "a.py"]);
  for (const command of commands) {
    const { exit, out, err } = await (await startCaged(requestOf({ command }, places))).end();
    assert.deepEqual([exit.code, lines(out)[0]?.slice(3)], [0, places.installDir], `${command.join(" ")}: ${err}`);
  }
});

/** Waits until no process is left in a PID namespace: the kernel ends them one after the other. */
async function untilGone(namespace: string): Promise<void> {
  const namespaces = (): string =>
    spawnSync("bash", ["-c", "readlink /proc/[0-9]*/ns/pid"], { encoding: "utf8" }).stdout;
  await until(() => !namespaces().includes(namespace), `the end of every process in ${namespace}`);
}
