import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { changePlugin, fixturePlugin } from "../support/fixture_plugins.ts";
import { processesIn } from "../support/processes_in.ts";
import { type KagedRun, runKaged, signalKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

interface Serving {
  readonly child: ChildProcess;
  readonly ended: Promise<KagedRun>;
  /** Its first line of output. */
  readonly line: Promise<string>;
}

function serve(args: readonly string[]): Serving {
  let child!: ChildProcess;
  const line = Promise.withResolvers<string>();
  const ended = runKaged(["serve", ...args], {
    onStart(started) {
      child = started;
      let text = "";
      started.stdout!.on("data", (chunk) => {
        text += chunk;
        if (text.includes("\n")) line.resolve(text.slice(0, text.indexOf("\n")));
      });
    },
  });
  void ended.then(({ stderr }) => line.reject(new Error(stderr)));
  line.promise.catch(() => {});
  return { child, ended, line: line.promise };
}

async function project(t: Parameters<typeof scratchDir>[0]): Promise<{ dir: string; home: string; args: string[] }> {
  const [dir, home] = [await scratchDir(t), await scratchDir(t)];
  await writeFile(join(dir, "project.yaml"), 'id: music\nprimary: { plugins: { echo: { package: "@test/echo" } } }\n');
  return { dir, home, args: ["--project", dir, "--home", home] };
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`kaged serve answers until ${signal}, then ends in order and leaves nothing behind`, async (t) => {
    const { home, args } = await project(t);
    await using plugin = await fixturePlugin("echo");
    const { child, ended, line } = serve([...args, "--plugin", `@test/echo=${plugin.dir}`, "--port", "0", "--json"]);
    const { address, token_file, running, project: id } = JSON.parse(await line);
    assert.deepEqual([id, running, token_file], ["music", ["echo@music/primary"], join(home, "token")]);
    assert.match(address, /^http:\/\/127\.0\.0\.1:[0-9]+$/);
    assert.equal((await stat(token_file)).mode & 0o777, 0o600);
    const token = (await readFile(token_file, "utf8")).trim();
    const call = (given: string) =>
      fetch(`${address}/api/v1/plugins/echo/call/echo.pid`, { headers: { Authorization: `Bearer ${given}` } });
    assert.equal((await call("wrong")).status, 401);
    const answer = await call(token);
    assert.deepEqual([answer.status, typeof (await answer.json()).result.pid], [200, "number"]);
    const page = await fetch(`${address}/`);
    assert.match(await page.text(), /<title>kaged/);
    // A stream that is open holds nothing up.
    const stream = await fetch(`${address}/api/v1/events`, {
      headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream" },
    });
    const reader = stream.body!.getReader();
    await reader.read();
    signalKaged(child, signal);
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, ""]);
    for (let part = await reader.read(); !part.done; part = await reader.read()); // Its end is an end, not a break.
    assert.deepEqual((await readdir(join(home, "run"))).filter((name) => !name.startsWith("projects")), []);
    assert.deepEqual(await processesIn(plugin.dir), []);
  });
}

test("kaged serve prints where it is, and the token only to a person's eyes", async (t) => {
  const { home, args } = await project(t);
  const { child, ended, line } = serve([...args, "--port", "0"]);
  await line;
  signalKaged(child, "SIGINT");
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^music: 0 plugins run\nconsole: http:\/\/127\.0\.0\.1:[0-9]+\/ \(the token is in .*\/token\)\n/,
  );
  assert.equal(stdout.includes((await readFile(join(home, "token"), "utf8")).trim()), false);
  assert.match(stderr, /warning: @test\/echo is not installed/);
});

test("kaged serve listens where [http] of config.toml says, unless the command line says otherwise", async (t) => {
  const { home, args } = await project(t);
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  await writeFile(join(home, "config.toml"), `[http]\nport = ${port}\nallowed_hosts = ["kaged.example"]\n`);
  const refused = await runKaged(["serve", ...args]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    new RegExp(`error\\[http\\.port_taken\\]: Another program listens at 127\\.0\\.0\\.1 port ${port}`),
  );
  assert.match(refused.stderr, /hint: Use another --port, or --port 0/);
  const { child, ended, line } = serve([...args, "--port", "0", "--host", "localhost", "--json"]);
  const { address } = JSON.parse(await line);
  assert.match(address, /^http:\/\/localhost:/);
  signalKaged(child, "SIGINT");
  assert.equal((await ended).code, 0);
});

test("kaged serve says what is wrong with its settings", async (t) => {
  const { home, args } = await project(t);
  const misuse = await runKaged(["serve", ...args, "--port", "70000"]);
  assert.deepEqual([misuse.code, /error\[host\.misuse\]/.test(misuse.stderr)], [2, true]);
  await writeFile(join(home, "config.toml"), '[http]\nprt = 1\nport = "x"\nallowed_hosts = ["a:b c"]\n');
  const invalid = await runKaged(["serve", ...args]);
  assert.equal(invalid.code, 1);
  for (
    const part of [/config\.toml:2:1 \[config\.unknown_key\].*Did you mean "port"/, /:3:8 .*The port is not/, /:4:/]
  ) {
    assert.match(invalid.stderr, part);
  }
  await writeFile(join(home, "config.toml"), "");
  await writeFile(join(home, "token"), "mine\n", { mode: 0o600 });
  const token = await runKaged(["serve", ...args, "--port", "0"]);
  assert.match(token.stderr, /error\[host\.file_unreadable\]: Cannot use ".*\/token": it holds no token/);
});

test("kaged serve warns of an address that other machines reach", async (t) => {
  const { args } = await project(t);
  const { child, ended, line } = serve([...args, "--port", "0", "--host", "0.0.0.0", "--json"]);
  await line;
  signalKaged(child, "SIGINT");
  assert.match(
    (await ended).stderr,
    /warning: other machines can reach http:\/\/0\.0\.0\.0:[0-9]+; the token is sent in clear/,
  );
});

test("K-070 kaged serve --watch reloads a plugin whose files change, and says when a change is no good", async (t) => {
  const { args } = await project(t);
  await using plugin = await fixturePlugin("echo");
  const watch = [...args, "--plugin", `@test/echo=${plugin.dir}`, "--port", "0", "--no-open", "--quiet", "--watch"];
  const { child, ended, line } = serve(watch);
  const chunks: string[] = [];
  child.stdout!.on("data", (chunk) => chunks.push(String(chunk)));
  const printed = (text: RegExp) =>
    until(() => text.test(chunks.join("")), () => `${text} from kaged serve; it printed ${chunks.join("")}`);
  await line;
  await printed(/console: /);
  await changePlugin(plugin.dir, { manifest: { version: "2.0.0" } });
  await printed(/^✓ echo 2\.0\.0 reloaded in [0-9]+ ms$/m);
  await changePlugin(plugin.dir, { files: { "kaged-plugin.yaml": "name: [" } });
  await printed(/^✗ Plugin "echo" goes on as it was: Manifest has 1 issue, first at .*kaged-plugin\.yaml:1:/m);
  signalKaged(child, "SIGINT");
  assert.equal((await ended).code, 0);
  assert.deepEqual(await processesIn(plugin.dir), []);
});

test("kaged serve --watch without --plugin has nothing to watch", async (t) => {
  const { args } = await project(t);
  const { code, stderr } = await runKaged(["serve", ...args, "--watch"]);
  assert.deepEqual([code, stderr.split("\n")[0]], [
    2,
    "error[host.misuse]: There is nothing to watch: --watch is about the folders of --plugin",
  ]);
});
