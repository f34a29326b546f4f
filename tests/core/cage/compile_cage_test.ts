import assert from "node:assert/strict";
import { test } from "node:test";
import type { CageFacts, GrantedPath } from "../../../src/core/cage/cage_plan.ts";
import { compileCage } from "../../../src/core/cage/compile_cage.ts";
import { seccompProgram } from "../../../src/core/cage/seccomp/seccomp_program.ts";
import { requestOf } from "../../support/cage_requests.ts";

const places = { installDir: "/srv/notes", home: "/srv/home", projectDir: null };
const granted = (path: string, access: GrantedPath["access"]): GrantedPath => ({ path, access, dev: 1, ino: 2 });

const facts: CageFacts = {
  bwrap: { path: "/usr/bin/bwrap", flags: new Set(["--disable-userns", "--size"]) },
  installDir: granted("/srv/notes", "read"),
  rootEntries: [
    { path: "/bin", link: "usr/bin" },
    { path: "/sbin", link: "usr/sbin" },
    { path: "/lib", link: "usr/lib" },
    { path: "/lib64", link: "usr/lib64" },
  ],
  command: {
    argv: ["/usr/bin/js", "./main.js"],
    mounts: [{ source: "/opt/node/bin/node", dest: "/usr/bin/js" }, { source: "/usr/bin/jq", dest: "/usr/bin/jq" }],
    env: {},
  },
  grants: [granted("/data", "read"), granted("/data/out", "write")],
  arch: "x86_64",
  relay: { executable: "/opt/node/bin/node", args: ["--flag"], env: {}, program: "/* relay */" },
  runDir: "/srv/home/run/cage-1",
  tier: { name: "cgroup2", base: "/groups" },
  isRoot: false,
  hostNetwork: null,
};

const NAMESPACES = [
  ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
];
const IDENTITY = ["--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "cage"];
const ENVIRONMENT = [
  "--clearenv",
  ...["--setenv", "KAGED_LOG_LEVEL", "info"],
  ...["--setenv", "HOME", "/srv/notes"],
  ...["--setenv", "PATH", "/usr/bin:/usr/local/bin"],
  ...["--setenv", "LANG", "C.UTF-8"],
  ...["--setenv", "TMPDIR", "/tmp"],
  ...["--setenv", "DENO_DIR", "/tmp/.deno"],
  ...["--setenv", "DENO_NO_PROMPT", "1"],
  ...["--setenv", "DENO_NO_UPDATE_CHECK", "1"],
  ...["--setenv", "KAGED_PLUGIN_NAME", "caged"],
  ...["--setenv", "KAGED_PLUGIN_DIR", "/srv/notes"],
  ...["--setenv", "KAGED_API_VERSION", "1"],
];
const SKELETON = [
  ...["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/usr", "--perms", "0755", "--dir", "/usr/bin"],
  ...["--ro-bind", "/usr/lib", "/usr/lib"],
  ...["--ro-bind-try", "/usr/lib64", "/usr/lib64"],
  ...["--ro-bind-try", "/usr/share", "/usr/share"],
  ...["--ro-bind-try", "/usr/local/lib", "/usr/local/lib"],
];
const LINKS = [
  ...["--symlink", "usr/bin", "/bin"],
  ...["--symlink", "usr/sbin", "/sbin"],
  ...["--symlink", "usr/lib", "/lib"],
  ...["--symlink", "usr/lib64", "/lib64"],
];
const ETC = [
  ...["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
  ...["--perms", "0644", "--ro-bind-data", "6", "/etc/hosts"],
  ...["--ro-bind-try", "/etc/localtime", "/etc/localtime"],
];
const KERNEL = [
  ...["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"],
  ...["--size", "16777216", "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
  ...["--size", "67108864", "--perms", "1777", "--tmpfs", "/tmp"],
];
const END = ["--remount-ro", "/", "--chdir", "/srv/notes", "--json-status-fd", "7", "--seccomp", "9"];

test("K-044 compileCage() gives the whole argument list, in the order that later mounts need", () => {
  assert.deepEqual(compileCage(requestOf({}, places), facts), {
    bwrap: "/usr/bin/bwrap",
    command: ["/usr/bin/js", "./main.js"],
    hosts: "127.0.0.1 localhost\n::1 localhost\n",
    seccomp: seccompProgram("x86_64", { allowUnix: false }),
    limits: { memory_mb: 512, cpu_shares: 256, pids: 100 },
    tier: { name: "cgroup2", base: "/groups" },
    net: [],
    ownNetwork: false,
    files: {},
    granted: [...facts.grants, facts.installDir],
    args: [
      ...[...NAMESPACES, "--disable-userns", "--die-with-parent", "--new-session", ...IDENTITY],
      ...[...ENVIRONMENT, ...SKELETON, ...LINKS, ...ETC, ...KERNEL],
      ...["--ro-bind", "/opt/node/bin/node", "/usr/bin/js", "--ro-bind", "/usr/bin/jq", "/usr/bin/jq"],
      ...["--ro-bind", "/data", "/data", "--bind", "/data/out", "/data/out"],
      ...["--ro-bind", "/srv/notes", "/srv/notes"],
      ...END,
    ],
  });
});

test("compileCage() goes without the two flags an older bubblewrap lacks, and without nothing else", () => {
  const old = { ...facts, bwrap: { path: "/usr/bin/bwrap", flags: new Set<string>() } };
  const whole = compileCage(requestOf({}, places), facts).args.join("\n");
  const expected = whole.replace("\n--disable-userns", "").replace(/\n--size\n\d+/g, "");
  assert.equal(compileCage(requestOf({}, places), old).args.join("\n"), expected);
});

test("compileCage() binds the top folders of a host that has not merged them into /usr", () => {
  const rootEntries = [{ path: "/bin", link: null }, { path: "/lib", link: null }];
  const { args } = compileCage(requestOf({}, places), { ...facts, rootEntries });
  const after = args.slice(args.indexOf("/usr/local/lib") + 2, args.indexOf("/etc/ld.so.cache") - 1);
  assert.deepEqual(after, ["--perms", "0755", "--dir", "/bin", "--ro-bind", "/lib", "/lib"]);
});

test("compileCage() links a program where its own place matters to it", () => {
  const mounts = [{ source: "/opt/py/bin/python3", dest: "/usr/bin/python3", link: true as const }];
  const { args } = compileCage(requestOf({}, places), { ...facts, command: { argv: ["x"], mounts, env: {} } });
  assert.ok(args.join(" ").includes("--symlink /opt/py/bin/python3 /usr/bin/python3"));
});

test("N-037 variables that a runtime needs to start files reach plugin and relay, whatever the manifest sets", () => {
  const needed = { BE: "it" };
  const lent = { ...facts, command: { ...facts.command, env: needed }, relay: { ...facts.relay!, env: needed } };
  const plain = compileCage(requestOf({ env: { BE: "another" } }, places), lent);
  assert.ok(plain.args.join(" ").includes("--setenv BE it"));
  const gated = compileCage(requestOf({ capabilities: ["net:api.example.com:443"] }, places), lent);
  assert.ok(gated.args.join(" ").includes("--setenv BE it"));
  const [orders] = Object.values(gated.files).filter((text) => text.includes('"command":'));
  assert.equal(JSON.parse(orders!).env.BE, "it");
});

test("a cage for shell text shows the system's programs read-only, others beside them, and overlays on top", () => {
  const overlays = [{ source: "/srv/home/run/copy", dest: "/data/out/script.sh" }];
  const { args } = compileCage({ ...requestOf({}, places), systemPrograms: true, overlays }, facts);
  const folders = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/etc/alternatives"];
  assert.deepEqual(args, [
    ...[...NAMESPACES, "--disable-userns", "--die-with-parent", "--new-session", ...IDENTITY, ...ENVIRONMENT],
    ...["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/usr"],
    ...folders.flatMap((path) => ["--ro-bind-try", path, path]),
    ...[...SKELETON.slice(12), ...LINKS, ...ETC, ...KERNEL],
    ...["--ro-bind", "/opt/node/bin/node", "/.cage/bin/js"],
    ...["--ro-bind", "/data", "/data", "--bind", "/data/out", "/data/out"],
    ...["--ro-bind", "/srv/notes", "/srv/notes"],
    ...["--ro-bind", "/srv/home/run/copy", "/data/out/script.sh"],
    ...END,
  ]);
});

test("K-043 a cage has an empty network of its own, unless the manifest asks for all of the host's", () => {
  for (const capabilities of [[], ["net:[]"], ["net:api.example.com:443"], ["net:localhost:*"]]) {
    assert.ok(compileCage(requestOf({ capabilities }, places), facts).args.includes("--unshare-net"));
  }
  const whole = compileCage(requestOf({}, places), facts);
  const { args, ...shared } = compileCage(requestOf({ capabilities: ["net:*"] }, places), facts);
  assert.deepEqual(args.filter((arg) => !whole.args.includes(arg)), [
    ...["/etc/ssl/certs", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/openssl.cnf", "/etc/pki", "/etc/pki"],
    ...["/etc/ca-certificates", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/resolv.conf"],
    ...["/etc/nsswitch.conf", "/etc/nsswitch.conf"],
  ]);
  assert.deepEqual(whole.args.filter((arg) => !args.includes(arg)), ["--unshare-net"]);
  assert.deepEqual(shared, { ...shared, files: {}, command: whole.command, seccomp: whole.seccomp });
});

test("a cage with rules for hosts runs its plugin behind the relay", () => {
  const request = requestOf({ capabilities: ["net:api.example.com:443"], env: { NODE_OPTIONS: "--import=x" } }, places);
  const { args, command, files, seccomp } = compileCage(request, facts);
  assert.deepEqual(command, ["/.cage/js", "--flag", "/.cage/relay.mjs", "/.cage/relay.json"]);
  const at = args.indexOf("/.cage/js") - 2;
  assert.deepEqual(args.slice(at, args.indexOf("--remount-ro", at)), [
    ...["--ro-bind", "/opt/node/bin/node", "/.cage/js"],
    ...["--ro-bind", "/srv/home/run/cage-1/relay.mjs", "/.cage/relay.mjs"],
    ...["--ro-bind", "/srv/home/run/cage-1/relay.json", "/.cage/relay.json"],
    ...["--ro-bind", "/srv/home/run/cage-1/net.sock", "/.cage/net.sock"],
    ...["--ro-bind", "/srv/home/run/cage-1/nsswitch.conf", "/etc/nsswitch.conf"],
  ]);
  assert.deepEqual(args.slice(args.indexOf("--clearenv") + 1, args.indexOf("--dir") - 2), [
    ...["--setenv", "PATH", "/usr/bin", "--setenv", "LANG", "C.UTF-8", "--setenv", "DENO_DIR", "/tmp/.deno"],
    ...["--setenv", "DENO_NO_PROMPT", "1", "--setenv", "DENO_NO_UPDATE_CHECK", "1"],
  ]);
  assert.deepEqual(Object.keys(files), ["relay.mjs", "relay.json", "nsswitch.conf"]);
  assert.equal(files["relay.mjs"], "/* relay */");
  const orders = JSON.parse(files["relay.json"] ?? "");
  assert.deepEqual([orders.command, orders.port, orders.socket], [facts.command.argv, 3128, "/.cage/net.sock"]);
  assert.deepEqual([orders.env.NODE_OPTIONS, orders.env.KAGED_PLUGIN_NAME], ["--import=x", "caged"]);
  const http = "http://127.0.0.1:3128";
  assert.deepEqual(Object.entries(orders.env).filter(([name]) => /proxy/i.test(name)), [
    ...[["HTTP_PROXY", http], ["HTTPS_PROXY", http], ["http_proxy", http], ["https_proxy", http]],
    ...[["ALL_PROXY", http], ["all_proxy", http], ["NO_PROXY", ""], ["no_proxy", ""], ["NODE_USE_ENV_PROXY", "1"]],
  ]);
  assert.deepEqual(orders.standIns, []);
  assert.deepEqual(seccomp, seccompProgram("x86_64", { allowUnix: true }));
});

test("a granted name stands in the cage's hosts, and the launcher makes the network where its port needs that", () => {
  const request = requestOf({ capabilities: ["net:api.example.com:443"] }, places);
  const proxied = compileCage(request, facts);
  const plan = compileCage(request, { ...facts, hostNetwork: "net:[1]" });
  assert.deepEqual(proxied.args.filter((arg) => !plan.args.includes(arg)), ["--unshare-net"]);
  const resolver = [`${facts.runDir}/resolv.conf`, "/etc/resolv.conf"];
  assert.deepEqual(plan.args.filter((arg) => !proxied.args.includes(arg)), resolver);
  assert.equal(plan.files["resolv.conf"], "nameserver 127.255.255.53\n");
  assert.ok(plan.args.includes("--unshare-user"));
  assert.deepEqual([proxied.ownNetwork, plan.ownNetwork], [false, true]);
  assert.deepEqual([proxied.files.network, plan.files.network], [undefined, "net:[1]\n"]);
  assert.equal(plan.hosts, `${proxied.hosts}127.0.0.2 api.example.com\n`);
  const { standIns, heard, env, resolver: server } = JSON.parse(plan.files["relay.json"] ?? "");
  assert.deepEqual(standIns, [{ address: "127.0.0.2", host: "api.example.com", port: 443 }]);
  assert.ok([22, 80, 443].every((port) => heard.includes(port)) && Math.max(...heard) < 1024, heard.join());
  assert.deepEqual([env.NO_PROXY, env.no_proxy], ["api.example.com", "api.example.com"]);
  const names = { localhost: "127.0.0.1", cage: "127.0.0.1", "api.example.com": "127.0.0.2" };
  assert.deepEqual(server, { address: "127.255.255.53", port: 53, names });
  const bare = JSON.parse(proxied.files["relay.json"] ?? "");
  assert.deepEqual([bare.resolver, bare.heard], [null, []]);
  // Hosts without an address of their own are reached by the proxy; lookups past it are still reported.
  const others: [string[], boolean][] = [
    ...[[], ["net:[]"], ["net:*"]].map((rules): [string[], boolean] => [rules, false]),
    ...[["net:api.example.com:*"], ["net:10.0.0.7:443"]].map((rules): [string[], boolean] => [rules, true]),
  ];
  for (const [capabilities, isOwn] of others) {
    const other = compileCage(requestOf({ capabilities }, places), { ...facts, hostNetwork: "net:[1]" });
    assert.deepEqual([other.ownNetwork, other.hosts], [isOwn, proxied.hosts], capabilities.join());
  }
});

test("network rules are in the plan, and bring certificates but no names of people", () => {
  const plan = compileCage(requestOf({ capabilities: ["net:api.example.com:443"] }, places), facts);
  assert.deepEqual(plan.net, [{ kind: "net", scope: "host", host: "api.example.com", port: 443 }]);
  const shown = plan.args.filter((arg) => arg.startsWith("/etc/"));
  assert.deepEqual([...new Set(shown)], [
    ...["/etc/ld.so.cache", "/etc/hosts", "/etc/localtime"],
    ...["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki", "/etc/ca-certificates", "/etc/nsswitch.conf"],
  ]);
  const offline = compileCage(requestOf({ capabilities: ["net:[]"] }, places), facts);
  assert.ok(!offline.args.includes("/etc/ssl/certs"));
});

test("a NUL in command or env cannot begin an argument of its own", () => {
  const evil = { ...facts, command: { argv: ["x\0--share-net"], mounts: [], env: {} } };
  assert.throws(() => compileCage(requestOf({}, places), evil), { code: "manifest.invalid" });
  const env = { A: "1\0--bind\0/\0/" };
  assert.throws(() => compileCage(requestOf({ env }, places), facts), { code: "manifest.invalid" });
  const gated = requestOf({ env, capabilities: ["net:api.example.com:443"] }, places);
  assert.throws(() => compileCage(gated, facts), { code: "manifest.invalid" });
});
