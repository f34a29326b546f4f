import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { obtain } from "../../../src/packages/install/obtain.ts";
import { parseSource, projectSource } from "../../../src/packages/install/source.ts";
import { git, gitServer } from "../../support/git_server.ts";
import { installStage } from "./install_stage.ts";
import { until } from "../../support/until.ts";

test("K-054 a source is a folder or an address; plain http only to this machine and only when asked for", () => {
  const allowHttp = true;
  assert.deepEqual(parseSource("/opt/pi"), { kind: "path", path: "/opt/pi" });
  assert.deepEqual(parseSource("https://example.org/pi"), { kind: "git", url: "https://example.org/pi" });
  assert.deepEqual(parseSource("git+https://example.org/pi.git"), { kind: "git", url: "https://example.org/pi.git" });
  assert.deepEqual(parseSource("http://127.0.0.1:8080/pi", { allowHttp }), {
    kind: "git",
    url: "http://127.0.0.1:8080/pi",
  });
  for (
    const text of [
      "pi",
      "ssh://example.org/pi",
      "git+ssh://git@example.org/pi",
      "file:///etc",
      "ext::sh -c id",
      "https://user:pass@example.org/pi",
      "https://example.org/pi#main",
      "https://",
      "-upload-pack=id",
    ]
  ) assert.throws(() => parseSource(text, { allowHttp }), { code: "install.source_invalid" }, text);
  for (
    const [text, allowHttp] of [["http://127.0.0.1/pi", false], ["http://example.org/pi", true], [
      "git+http://10.0.0.1/x",
      true,
    ]] as const
  ) {
    assert.throws(() => parseSource(text, { allowHttp }), { code: "install.http_refused" }, text);
  }
  assert.throws(
    () => parseSource("https://me:hunter2@example.org/pi"),
    (error: Error) => !/hunter2/.test(error.message),
  );
});

test("K-054 a relative source is a folder of the project, and does not lead out of it", async (t) => {
  const { root, ports, plugin } = await installStage(t);
  const { files } = ports.runtime;
  const projectDir = join(root, "project");
  const inside = await plugin("project/plugins/pi");
  const outside = await plugin("outside");
  await symlink(outside, join(projectDir, "link"));
  assert.deepEqual(await projectSource("./plugins/pi", { projectDir, files }), { kind: "path", path: inside });
  for (const text of ["./../outside", "./link", "./", "./plugins/../.."]) {
    await assert.rejects(projectSource(text, { projectDir, files }), { code: "install.source_outside" }, text);
  }
  await assert.rejects(projectSource("./none", { projectDir, files }), { code: "install.source_missing" });
});

test("K-054 a repository is fetched shallow, at the newest tag of the range, without its history", async (t) => {
  const stage = await installStage(t);
  await using server = await gitServer(join(stage.root, "srv"));
  for (const version of ["1.0.0", "1.2.0", "2.0.0"]) {
    const dir = await stage.plugin(`v${version}`, { version });
    await server.publish("pi", dir, version === "1.2.0" ? version : `v${version}`);
  }
  const url = await server.publish("pi", await stage.plugin("head", { version: "3.0.0-dev" }));
  let asked = "";
  server.instead = (request) => {
    request.on("data", (chunk) => asked += chunk);
    return false;
  };
  const versionAt = async (release: string | null) => {
    asked = "";
    await using fetched = await obtain(parseSource(url, { allowHttp: true }), release, stage.ports);
    assert.deepEqual((await readdir(fetched.dir)).sort(), ["index.js", "kaged-plugin.yaml"]);
    assert.match(asked, /000cdeepen 1/); // A line of its length: one commit and no more is asked for.
    return JSON.parse(await readFile(join(fetched.dir, "kaged-plugin.yaml"), "utf8")).version;
  };
  assert.equal(await versionAt(null), "3.0.0-dev");
  assert.equal(await versionAt("^1"), "1.2.0");
  assert.equal(await versionAt("1.0.0"), "1.0.0");
  assert.equal(await versionAt(">=2"), "2.0.0");
  await assert.rejects(versionAt("^7"), { code: "install.release_missing", hint: /v2\.0\.0/ });
  assert.deepEqual(await readdir(join(stage.home, "run")), [], "nothing that was fetched stays");
});

test("K-054 nothing of a repository runs: no hook, no filter, no submodule, no other protocol", async (t) => {
  const stage = await installStage(t);
  await using server = await gitServer(join(stage.root, "srv"));
  const proof = join(stage.root, "proof");
  const dir = await stage.plugin("pi", {}, {
    ".gitattributes": "* filter=evil diff=evil merge=evil\n",
    ".gitmodules": `[submodule "sub"]\n\tpath = sub\n\turl = ${server.url}/sub.git\n`,
    ".githooks/post-checkout": `#!/bin/sh\ntouch ${proof}\n`,
  });
  await chmod(join(dir, ".githooks/post-checkout"), 0o755);
  const url = await server.publish("pi", dir);
  const bare = join(server.dir, "pi.git");
  // A link to a commit that a submodule would be fetched for.
  const work = join(server.dir, "pi.work");
  git(work, "update-index", "--add", "--cacheinfo", `160000,${git(work, "rev-parse", "HEAD").trim()},sub`);
  git(work, "commit", "-q", "-m", "Submodule");
  git(work, "push", "-q", bare, "HEAD");
  for (const hook of ["post-checkout", "post-merge", "reference-transaction"]) {
    await writeFile(join(bare, "hooks", hook), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
  }
  // The operator's own git is set up to run things: that is for the operator's own repositories.
  const home = join(stage.root, "operator");
  await mkdir(join(home, "hooks"), { recursive: true });
  await writeFile(join(home, "hooks/post-checkout"), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
  const config = `[core]\n\thooksPath = ${home}/hooks\n[filter "evil"]\n\tsmudge = touch ${proof}\n\trequired = true\n`;
  await writeFile(join(home, ".gitconfig"), config);
  const { runtime } = stage.ports;
  const env = (name: string) => name === "HOME" ? home : runtime.env(name);
  const ports = { ...stage.ports, runtime: { ...runtime, env } };
  await using fetched = await obtain(parseSource(url, { allowHttp: true }), null, ports);
  assert.ok((await readdir(fetched.dir)).includes("kaged-plugin.yaml"));
  assert.equal(await runtime.files.info(proof), null);
  assert.deepEqual(await readdir(join(fetched.dir, "sub")).catch(() => []), []);
  assert.deepEqual(server.requests.filter((request) => request.includes("/sub.git")), []);
});

test("K-054 a repository whose objects are made to harm git is refused", async (t) => {
  const stage = await installStage(t);
  await using server = await gitServer(join(stage.root, "srv"));
  const dir = await stage.plugin("pi", {}, {
    ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tupdate = !id\n',
  });
  const source = parseSource(await server.publish("pi", dir), { allowHttp: true });
  await assert.rejects(obtain(source, null, stage.ports), { code: "install.source_unreachable", message: /submodule/ });
});

test("K-053 an address that does not answer, is none, or leads elsewhere says so", async (t) => {
  const stage = await installStage(t);
  const server = await gitServer(join(stage.root, "srv"));
  const fetched = (path: string) =>
    obtain(parseSource(`${server.url}/${path}`, { allowHttp: true }), null, stage.ports);
  await assert.rejects(fetched("none.git"), { code: "install.source_unreachable" });
  server.instead = (request, response) => {
    response.writeHead(302, { location: `http://localhost:1/elsewhere${request.url}` }).end();
    return true;
  };
  await assert.rejects(fetched("pi.git"), { code: "install.source_unreachable", hint: /leads to another one/ });
  server.instead = (_, response) => {
    response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    return true;
  };
  await assert.rejects(fetched("pi.git"), { code: "install.source_unreachable", hint: /not public/ });
  server.instead = (_, response) => {
    response.end("<html>hello</html>");
    return true;
  };
  await assert.rejects(fetched("pi.git"), { code: "install.source_unreachable" });
  const { url } = server;
  await server[Symbol.asyncDispose]();
  await assert.rejects(obtain({ kind: "git", url: `${url}/pi.git` }, null, stage.ports), {
    code: "install.source_unreachable",
  });
  assert.deepEqual(await readdir(join(stage.home, "run")), []);
});

test("K-053 a server that never answers is given up, and no process stays", async (t) => {
  const stage = await installStage(t);
  await using server = await gitServer(join(stage.root, "srv"));
  const waiting = new Promise<void>((resolve) => {
    server.instead = () => {
      resolve();
      return true;
    };
  });
  const controller = new AbortController();
  const ports = { ...stage.ports, signal: controller.signal };
  const fetching = obtain(parseSource(`${server.url}/pi.git`, { allowHttp: true }), null, ports);
  const refused = assert.rejects(fetching, { code: "host.interrupted" });
  await waiting;
  controller.abort();
  await refused;
  assert.deepEqual(await readdir(join(stage.home, "run")), []);
  const left = async () => {
    const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => "")));
    return folders.filter((folder) => folder.startsWith(stage.home));
  };
  await until(async () => (await left()).length === 0, "the end of processes that were killed");
});

test("K-054 a repository that is too large is refused before its files are written", async (t) => {
  const limits = { maxBytes: 200_000, maxEntries: 50 };
  const stage = await installStage(t, { limits });
  await using server = await gitServer(join(stage.root, "srv"));
  const bomb = await stage.plugin("bomb", {}, { "zeros.bin": "\0".repeat(3_000_000) }); // Packed it is a few KB.
  const source = parseSource(await server.publish("bomb", bomb), { allowHttp: true });
  await assert.rejects(obtain(source, null, stage.ports), { code: "install.too_large", hint: /--max-size$/ });
  const many = await stage.plugin("many", {}, Object.fromEntries([...Array(60).keys()].map((n) => [`f${n}`, ""])));
  const other = parseSource(await server.publish("many", many), { allowHttp: true });
  await assert.rejects(obtain(other, null, stage.ports), { code: "install.too_large", hint: /--max-files$/ });
  assert.deepEqual(await readdir(join(stage.home, "run")), []);
});

test("K-054 names so long that their list is cut hide no large file", async (t) => {
  const stage = await installStage(t, { limits: { maxBytes: 200_000, maxEntries: 20_000 } });
  await using server = await gitServer(join(stage.root, "srv"));
  const bare = join(server.dir, "long.git");
  git(server.dir, "init", "--quiet", "--bare", "--initial-branch=main", bare);
  const deep = Array(9).fill("d".repeat(250)).join("/");
  const small = Array.from({ length: 2_000 }, (_, n) => `M 100644 inline ${deep}/${n}\ndata 0\n\n`);
  const large = `M 100644 inline z\ndata 3000000\n${"\0".repeat(3_000_000)}\n`;
  const head = "commit refs/heads/main\ncommitter Ada <ada@example.org> 1700000000 +0000\ndata 0\n";
  execFileSync("/usr/bin/git", ["fast-import", "--quiet"], { cwd: bare, input: head + small.join("") + large });
  const source = parseSource(`${server.url}/long.git`, { allowHttp: true });
  await assert.rejects(obtain(source, null, stage.ports), { code: "install.too_large" });
});
