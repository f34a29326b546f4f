import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { after, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { shippedPage } from "../../scripts/npm/pages.ts";
import { blocksFor } from "../docs/support/guides.ts";
import { AGENT_FRAMEWORKS } from "../../src/operator/scaffold/scaffold_agent.ts";
import { HOW, PACKAGES as FRAMEWORKS } from "../support/framework_examples.ts";
import { requireOrSkip, runtimeName } from "../support/require_or_skip.ts";
import { builtPackages, packedFile, root } from "./support/built_packages.ts";

// npm and a build of minutes: once, by the Node run of the suite, for all runtimes.
const isHere = runtimeName === "node";
const once = isHere ? test : () => {};
const PACKAGES = ["memory-markdown", "plugin-host", "plugin-sdk", "smart-compactor"];
const PLUGINS = ["memory-markdown", "smart-compactor"];
const [INSTALL = "", AGENT = ""] = await blocksFor("tests/package/npm_first_test.ts", "README.md");

/** A folder that was empty before `npm init -y` and the command of README.md, with packages as they are published. */
const dir = isHere ? await freshFolder() : "";
if (isHere) after(() => rm(dir, { recursive: true, force: true }));

const bin = (name: string): string => join(root, "node_modules/.bin", name);
const RUNTIMES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  node: [bin("node")],
  bun: [bin("bun"), "--no-install"],
  deno: [bin("deno"), "run", "--quiet", "-RWENS", "--allow-run"],
};

async function run([file, ...before]: readonly string[], args: readonly string[] = [], cwd = dir) {
  const env = { HOME: join(dir, "home"), PATH: "/usr/local/bin:/usr/bin:/bin", NO_COLOR: "1" };
  const options = { cwd, env, maxBuffer: 1 << 24 };
  return await promisify(execFile)(file!, [...before, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

async function freshFolder(): Promise<string> {
  await builtPackages();
  const made = await mkdtemp(join(tmpdir(), "kaged-first-"));
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const npm = (...args: string[]) => promisify(execFile)("npm", [...args, "--loglevel=error"], { cwd: made, env });
  await npm("init", "-y");
  const files = PACKAGES.map((name) => packedFile(`kaged-${name}.tgz`));
  // Offline: a package that had to be fetched would fail.
  await npm("install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", ...files);
  return made;
}

const packageFile = async (path: string): Promise<string> =>
  await readFile(join(dir, "node_modules/@kaged", path), "utf8");

once(
  "N-037 README.md: its first program runs from an empty folder on Node, Bun and Deno, whatever npm init says",
  async () => {
    assert.deepEqual(INSTALL.trim(), "npm install @kaged/plugin-host @kaged/memory-markdown");
    const yaml = /```yaml\n(# my-project\/project\.yaml\n.*?)```/s.exec(
      await readFile(join(root, "README.md"), "utf8"),
    )![1]!;
    await mkdir(join(dir, "my-project"), { recursive: true });
    await writeFile(join(dir, "my-project/project.yaml"), yaml);
    await writeFile(join(dir, "agent.mjs"), AGENT);
    const own = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
    assert.notEqual(own.type, "module", "as npm init writes it");
    for (const type of ["commonjs", "module"]) {
      await writeFile(join(dir, "package.json"), JSON.stringify({ ...own, type }));
      for (const [name, command] of Object.entries(RUNTIMES)) {
        const { code, stdout, stderr } = await run(command, ["agent.mjs"]);
        assert.deepEqual([code, stderr], [0, ""], `${name}, ${type}`);
        assert.match(stdout, /^You are a helpful agent\.[^]* 4 \{[^]*memories/, `${name}, ${type}`);
      }
    }
    await writeFile(join(dir, "package.json"), JSON.stringify(own));
  },
);

/** The package that the Claude Agent SDK's tools are served by, as npm install would put it there, until the test ends. */
async function linkServer(t: TestContext): Promise<void> {
  const name = "node_modules/@modelcontextprotocol";
  t.after(() => rm(join(dir, name), { recursive: true, force: true }));
  await mkdir(join(dir, name), { recursive: true });
  await symlink(join(root, name, "server"), join(dir, name, "server"));
}

/** Makes an agent with the packed command, and runs it as its package.json says. */
async function runInitialized(framework: string, runtime: string) {
  const folder = join(dir, "agents", `${framework}-${runtime}`);
  const command = [...RUNTIMES["node"]!, "node_modules/@kaged/plugin-host/src/cli/bin.js"];
  const flags = ["--framework", framework, "--runtime", runtime, "--yes"];
  assert.deepEqual((await run(command, ["init", folder, ...flags])).stderr, "");
  const { scripts } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const [program, ...args] = (scripts.start as string).split(" ");
  return await run([bin(program!)], args, folder);
}

once("N-037 kaged init: an agent without a framework runs from the packed packages on Node, Bun and Deno", async () => {
  for (const runtime of Object.keys(RUNTIMES)) {
    const { code, stdout, stderr } = await runInitialized("plain", runtime);
    assert.deepEqual([code, stderr], [0, ""], runtime);
    assert.match(stdout, /^tool memory-markdown__recall: /m, runtime);
  }
});

once("N-037 kaged init: an agent of each framework runs from the packed packages", async (t) => {
  if (!await requireOrSkip(t, "the frameworks' packages", existsSync(FRAMEWORKS), HOW)) return;
  await mkdir(join(dir, "agents"), { recursive: true });
  await symlink(FRAMEWORKS, join(dir, "agents/node_modules"));
  const missing = await runInitialized("claude-agent", "node");
  assert.match(missing.stdout, /error\[mcp\.sdk_missing\]/, missing.stderr);
  await linkServer(t);
  for (const [index, framework] of Object.keys(AGENT_FRAMEWORKS).filter((name) => name !== "plain").entries()) {
    const runtime = Object.keys(RUNTIMES)[index % 3]!;
    const { code, stdout, stderr } = await runInitialized(framework, runtime);
    assert.equal(code, 0, `${framework} on ${runtime}: ${stderr}`);
    assert.match(stdout, /^> When .*\n.*(?:Thursdays|nine)/m, `${framework} on ${runtime}: ${stderr}`);
  }
});

once("N-037 README.md's program names a plugin that could not start, and the next step", async () => {
  await mkdir(join(dir, "bare/my-project"), { recursive: true });
  await writeFile(
    join(dir, "bare/my-project/project.yaml"),
    'id: bare\nprimary: { plugins: { m: { package: "@kaged/nothing" } } }',
  );
  await writeFile(join(dir, "bare/agent.mjs"), AGENT);
  const { code, stderr } = await run(RUNTIMES["node"]!, ["agent.mjs"], join(dir, "bare"));
  assert.equal(code, 1);
  assert.match(stderr, /^\S+: Plugin "@kaged\/nothing" is not installed\. Run: npm install @kaged\/nothing\n/);
});

once("N-037 CommonJS programs require() every entry that Node can use", async () => {
  const { exports } = JSON.parse(await packageFile("plugin-host/package.json"));
  const others = ["./bun", "./deno", "./cli", "./package.json"];
  const names = Object.keys(exports).filter((entry) => !others.includes(entry)).map((entry) => entry.slice(1));
  const list = JSON.stringify(names.map((name) => `@kaged/plugin-host${name}`));
  const seen = `for (const name of ${list}) if (Object.keys(require(name)).length === 0) throw new Error(name);`;
  const used = `const { createHost, HostError } = require("@kaged/plugin-host");
createHost({ project: "nowhere" }).catch((error) => console.log(error instanceof HostError, error.code));`;
  await writeFile(join(dir, "agent.cjs"), `${seen}\n${used}\n`);
  assert.deepEqual(await run(RUNTIMES["node"]!, ["agent.cjs"]), {
    code: 0,
    stdout: "true project.missing\n",
    stderr: "",
  });
});

once(
  "N-037 installing the host brings no package besides, and it names the licence of each that it contains",
  async () => {
    const installed = (await readdir(join(dir, "node_modules"))).filter((name) => !name.startsWith("."));
    assert.deepEqual([installed, await readdir(join(dir, "node_modules/@kaged"))], [["@kaged"], PACKAGES]);
    const manifest = JSON.parse(await packageFile("plugin-host/package.json"));
    assert.equal(manifest.dependencies, undefined);
    const page = await packageFile("plugin-host/THIRD-PARTY-LICENSES.md");
    const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const optional = Object.keys(manifest.peerDependencies);
    for (const name of Object.keys(dependencies).filter((each) => !optional.includes(each))) {
      const { version } = JSON.parse(await readFile(join(root, "node_modules", name, "package.json"), "utf8"));
      assert.ok(page.includes(`## ${name} ${version} (`), name);
    }
    for (const name of optional) assert.ok(!page.includes(`## ${name} `), `${name} is not contained`);
  },
);

once("N-037 on an old runtime importing works, and createHost() says in one line what it needs", async () => {
  const older = "const versions = { ...process.versions, node: '22.11.0' }; " +
    "Object.defineProperty(process, 'versions', { value: versions });";
  await writeFile(join(dir, "older.mjs"), older);
  await writeFile(
    join(dir, "old.mjs"),
    `import { createHost } from "@kaged/plugin-host";
createHost({ project: "my-project" }).catch((error) => console.log(error.code, error.message));`,
  );
  const says = (version: string) =>
    `host.runtime_old @kaged/plugin-host needs node 24.15.0 or newer, and this is ${version}\n`;
  const faked = await run(RUNTIMES["node"]!, ["--import", "./older.mjs", "old.mjs"]);
  assert.deepEqual(faked, { code: 0, stdout: says("22.11.0"), stderr: "" });
  // The Node of npm is often an old one: then it is asked too.
  const { stdout: own } = await run(["node"], ["-p", "process.versions.node"]);
  if (Number.parseInt(own) >= 24) return;
  assert.deepEqual(await run(["node"], ["old.mjs"]), { code: 0, stdout: says(own.trim()), stderr: "" });
  const required =
    `require("@kaged/plugin-host/package.json"); import("@kaged/plugin-host/sdk").then(() => console.log("ok"))`;
  assert.equal((await run(["node"], ["-e", required])).stdout, "ok\n");
});

once("N-037 the guides are in the package, and every link in them leads to a file of it", async () => {
  const at = join(dir, "node_modules/@kaged/plugin-host");
  const pages = (await readdir(at, { recursive: true })).filter((path) => path.endsWith(".md"));
  for (const page of ["README.md", "docs/README.md", "docs/projects.md", "docs/plugins.md"]) {
    assert.ok(pages.includes(page));
  }
  let checked = 0;
  for (const page of pages.filter((path) => path !== "THIRD-PARTY-LICENSES.md")) {
    const text = (await readFile(join(at, page), "utf8")).replaceAll(/^( *)(`{3,}).*?^ *\2$/gms, "")
      .replaceAll(/`[^`\n]*`|<!--.*?-->/gs, "");
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^([a-z]+:|#)/.test(link)) continue;
      checked++;
      await stat(join(at, dirname(page), link.split("#")[0]!)).catch(() => assert.fail(`${page}: ${link}`));
    }
  }
  assert.ok(checked > 100, `${checked} links`);
  const size = await stat(packedFile("kaged-plugin-host.tgz"));
  assert.ok(size.size < 4_500_000, `${size.size} bytes`);
});

once("N-037 reference plugins are packages of the host's version, each whole in one file", async () => {
  const { version } = JSON.parse(await packageFile("plugin-host/package.json"));
  for (const name of PLUGINS) {
    const manifest = JSON.parse(await packageFile(`${name}/package.json`));
    const { version: own, license, keywords } = manifest;
    assert.deepEqual(
      [own, license, keywords, manifest.dependencies],
      [version, "MIT", ["kaged-plugin"], undefined],
      name,
    );
    assert.deepEqual(
      (await readdir(join(dir, "node_modules/@kaged", name))).sort(),
      ["LICENSE", "README.md", "index.js", "kaged-plugin.yaml", "package.json"],
    );
    const imports = [...(await packageFile(`${name}/index.js`)).matchAll(/^import .* from "(.*)";$/gm)];
    assert.deepEqual(imports.map(([, from]) => from).filter((from) => !from!.startsWith("node:")), [], name);
    const kaged = [...RUNTIMES["node"]!, join(dir, "node_modules/.bin/kaged")];
    const checked = await run(kaged, ["plugin", "check", `node_modules/@kaged/${name}`]);
    assert.match(checked.stdout, /All \d+ rules kept/, checked.stdout + checked.stderr);
  }
});

once(
  "N-037 K-058 @kaged/plugin-sdk is a package of the host's version, and a plugin that imports it runs",
  async (t) => {
    const { version } = JSON.parse(await packageFile("plugin-host/package.json"));
    const { version: own, dependencies } = JSON.parse(await packageFile("plugin-sdk/package.json"));
    assert.deepEqual([own, dependencies], [version, undefined]);
    assert.deepEqual(
      (await readdir(join(dir, "node_modules/@kaged/plugin-sdk"))).sort(),
      ["LICENSE", "README.md", "kaged_sdk.d.ts", "kaged_sdk.js", "package.json"],
    );
    const plugin = join(dir, "greeter");
    t.after(() => rm(plugin, { recursive: true }));
    await cp(join(dir, "node_modules/@kaged/plugin-sdk"), join(plugin, "node_modules/@kaged/plugin-sdk"), {
      recursive: true,
    });
    const program = `import { createPlugin } from "@kaged/plugin-sdk";
createPlugin({ name: "greeter", version: "0.1.0", methods: { "greeter.greet": ({ name }) => \`Hello, \${name}\` } }).start();
`;
    const manifest = {
      name: "greeter",
      version: "0.1.0",
      kaged_api: 1,
      description: "Greets.",
      command: ["js", "./main.mjs"],
      capabilities: [],
      methods: ["greeter.greet"],
    };
    await writeFile(join(plugin, "package.json"), JSON.stringify({ dependencies: { "@kaged/plugin-sdk": version } }));
    await writeFile(join(plugin, "main.mjs"), program);
    await writeFile(join(plugin, "kaged-plugin.yaml"), JSON.stringify(manifest));
    for (const command of Object.values(RUNTIMES)) {
      const kaged = [...command, join(dir, "node_modules/@kaged/plugin-host/src/cli/bin.js")];
      const called = await run(kaged, ["plugin", "call", "./greeter", "greeter.greet", '{ "name": "Ada" }']);
      assert.match(called.stdout, /Hello, Ada/, called.stdout + called.stderr);
    }
  },
);

test("N-037 the release workflow publishes every package that the build packs", async () => {
  const workflow = await readFile(join(root, ".github/workflows/release.yml"), "utf8");
  const [, names = ""] = /for name in (.*); do/.exec(workflow) ?? [];
  const folders = ["sdk/javascript", ...(await readdir(join(root, "plugins"))).map((name) => `plugins/${name}`)];
  const own = folders.map((folder) => join(root, folder, "package.json")).filter(existsSync);
  const packed = await Promise.all(own.map(async (file) => JSON.parse(await readFile(file, "utf8")).name as string));
  assert.deepEqual(
    names.split(" ").sort(),
    ["plugin-host", ...packed.map((name) => name.replace("@kaged/", ""))].sort(),
  );
  assert.deepEqual(names.split(" ").sort(), [...PACKAGES].sort());
});

once("N-037 kaged plugin install takes the archive that npm pack writes", async () => {
  const kaged = [...RUNTIMES["node"]!, join(dir, "node_modules/.bin/kaged")];
  const archive = relative(dir, packedFile("kaged-smart-compactor.tgz"));
  const { code, stdout, stderr } = await run(kaged, ["plugin", "install", archive, "--json"]);
  assert.equal(code, 0, stderr);
  const { name, done, source } = JSON.parse(stdout);
  assert.deepEqual([name, done, source], ["smart-compactor", "installed", packedFile("kaged-smart-compactor.tgz")]);
});

once(
  "N-037 a page of the package links to the repository where that is known, else to nothing that is not there",
  () => {
    const text = "[a](docs/a.md#x) [b](src/b.ts) ![p](docs/img/p.png) `[c](src/c.ts)` [d](https://d.example) [e](#e)";
    const shipped = new Set(["docs/a.md"]);
    const page = { page: "README.md", shipped };
    assert.equal(
      shippedPage(text, { ...page, addressOf: null }),
      "[a](docs/a.md#x) b  `[c](src/c.ts)` [d](https://d.example) [e](#e)",
    );
    assert.equal(
      shippedPage(text, { ...page, addressOf: (file, as) => `https://r.example/${as}/${file}` }),
      "[a](docs/a.md#x) [b](https://r.example/page/src/b.ts) ![p](https://r.example/picture/docs/img/p.png) " +
        "`[c](src/c.ts)` [d](https://d.example) [e](#e)",
    );
  },
);
