import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimeName } from "../support/require_or_skip.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = (name: string) => join(root, "node_modules/.bin", name);
const run = promisify(execFile);

/** A program that uses the package as a stranger would: manifest, supervisor, one plugin, one call. */
const PROGRAM = `
import { createSupervisor, HostError } from "@kaged/plugin-host";
import { createPlugin } from "@kaged/plugin-host/sdk";

const supervisor = await createSupervisor({ home: process.argv[3] });
try {
  const { instance } = await supervisor.register({ dir: process.argv[2] });
  await supervisor.start(instance);
  const answer = await supervisor.call(instance, "notes.count");
  const unknown = await supervisor.call(instance, "no.such").catch((error) => error instanceof HostError && error.code);
  console.log(JSON.stringify({ answer, unknown, sdk: typeof createPlugin }));
} finally {
  await supervisor.stopAll();
}
`;

/** A consumer in TypeScript: public names and their types. */
const CONSUMER = `
import { type AuditEvent, createSupervisor, type Manifest, type Supervisor } from "@kaged/plugin-host";
import { createPlugin } from "@kaged/plugin-host/sdk";

export async function use(dir: string): Promise<number> {
  const supervisor: Supervisor = await createSupervisor({ home: "/tmp/home" });
  const seen: AuditEvent[] = [];
  supervisor.onAudit((event) => {
    if (event.type === "plugin.crashed") seen.push(event), event.data.last_stderr.join("\\n");
  });
  const { manifest }: { manifest: Manifest } = await supervisor.register({ dir });
  return manifest.tools.length + seen.length;
}
createPlugin({ name: "greeter", version: "0.1.0", tools: { greet: (params) => ({ text: String(params.name) }) } });
`;

// Built once, by the Node run of the suite; each of the three runtimes then imports what was built.
const once = runtimeName === "node" ? test : () => {};

once("the npm package installs into an empty project, runs a plugin and type-checks", async (t: TestContext) => {
  const project = await mkdtemp(join(tmpdir(), "kaged-consumer-"));
  t.after(() => rm(project, { recursive: true, force: true }));
  const options = { cwd: root, env: { ...process.env, NODE_TEST_CONTEXT: undefined } };
  await run(bin("node"), ["scripts/build_npm.ts"], options);
  await writeFile(join(project, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }');
  await writeFile(join(project, "program.mjs"), PROGRAM);
  await writeFile(join(project, "consumer.ts"), CONSUMER);
  const tarball = join(root, "npm/kaged-plugin-host.tgz");
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", tarball];
  await run("npm", [...install, "--prefix", project], options);

  const plugin = join(root, "examples/plugins/notes");
  const home = join(project, "home");
  const commands: [string, string[]][] = [
    ["node", ["program.mjs", plugin, home]],
    ["bun", ["--config=/dev/null", "--no-env-file", "--no-install", "program.mjs", plugin, home]],
    ["deno", ["run", "-A", "--quiet", "program.mjs", plugin, home]],
  ];
  for (const [name, args] of commands) {
    const { stdout } = await run(bin(name), args, { cwd: project });
    const wanted = { answer: { count: 0 }, unknown: "protocol.method_unknown", sdk: "function" };
    assert.deepEqual(JSON.parse(stdout), wanted, name);
  }

  const types = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,esnext.disposable,dom"];
  for (const mode of [["--module", "nodenext"], ["--module", "esnext", "--moduleResolution", "bundler"]]) {
    await run(bin("node"), [join(root, "node_modules/typescript/lib/tsc.js"), ...types, ...mode, "consumer.ts"], {
      cwd: project,
    });
  }
  const { stdout } = await run(bin("node"), [join(project, "node_modules/.bin/kaged"), "plugin", "check", plugin]);
  assert.match(stdout, /All \d+ rules kept/);
});
