/** The commands of docs/bundlers.md, and what they make, in a folder that has the packed host alone. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { requireOrSkip, runtimeName } from "../support/require_or_skip.ts";
import { RUNTIME_PROGRAMS } from "../support/runtime_programs.ts";
import { root } from "./support/built_packages.ts";
import { otherNode } from "./support/consumer.ts";
import { AGENT_PRINTED, type AgentFolder, agentFolder } from "./support/bundled_agent.ts";

// By the Node run of the suite, for all runtimes: bundles of one bundler run on each of them.
const isHere = runtimeName === "node";
const once = isHere ? test : () => {};
const folder: AgentFolder = isHere ? await agentFolder() : ({} as AgentFolder);
if (isHere) after(() => folder[Symbol.asyncDispose]());

const RUNTIMES = ["node", "bun", "deno"] as const;
const ESBUILD = join(root, "node_modules/esbuild/bin/esbuild");
const BUNDLERS = join(root, "tools/bundlers/node_modules");

const esbuild = (...args: string[]): Promise<void> =>
  folder.build(RUNTIME_PROGRAMS.node, [
    ESBUILD,
    "agent.mjs",
    "--bundle",
    "--platform=node",
    "--log-level=warning",
    ...args,
  ]);
const bunBuild = (...args: string[]): Promise<void> =>
  folder.build(RUNTIME_PROGRAMS.bun, ["build", "--config=/dev/null", "--no-env-file", "agent.mjs", ...args]);

once("N-037 an agent that esbuild has bundled runs on Node, Bun and Deno, far from any node_modules", async () => {
  await esbuild("--format=esm", "--outfile=dist-esbuild/agent.mjs");
  for (const on of RUNTIMES) {
    assert.deepEqual(await folder.run("dist-esbuild", "agent.mjs", { on }), AGENT_PRINTED, on);
  }
});

once("N-037 esbuild's other shapes work: minified, in several files, as CommonJS", async () => {
  await esbuild("--format=esm", "--minify", "--outfile=dist-min/agent.mjs");
  await esbuild("--format=esm", "--splitting", "--outdir=dist-split", "--out-extension:.js=.mjs");
  await esbuild("--format=cjs", "--outfile=dist-cjs/agent.cjs");
  for (const [dist, file] of [["dist-min", "agent.mjs"], ["dist-split", "agent.mjs"], ["dist-cjs", "agent.cjs"]]) {
    assert.deepEqual(await folder.run(dist!, file!), AGENT_PRINTED, dist);
  }
});

once("N-037 an agent that bun build has bundled runs on Node, Bun and Deno", async () => {
  await bunBuild("--target=node", "--outfile=dist-bun-node/agent.mjs");
  for (const on of RUNTIMES) {
    assert.deepEqual(await folder.run("dist-bun-node", "agent.mjs", { on }), AGENT_PRINTED, on);
  }
  await bunBuild("--target=bun", "--outfile=dist-bun/agent.mjs");
  assert.deepEqual(await folder.run("dist-bun", "agent.mjs", { on: "bun" }), AGENT_PRINTED);
});

once("N-037 an optional package that is installed is part of the bundle", async () => {
  const own = join(folder.dir, "node_modules/@opentelemetry");
  await cp(join(root, "node_modules/@opentelemetry/api"), join(own, "api"), { recursive: true });
  try {
    await esbuild("--format=esm", "--outfile=dist-traced/agent.mjs");
    await bunBuild("--target=node", "--outfile=dist-bun-traced/agent.mjs");
  } finally {
    await rm(own, { recursive: true });
  }
  for (const dist of ["dist-traced", "dist-bun-traced"]) {
    assert.deepEqual(await folder.run(dist, "agent.mjs"), { ...AGENT_PRINTED, tracing: "loaded" }, dist);
  }
});

once("N-037 an agent of bun build --compile runs plugins on the runtime that js names, itself included", async () => {
  await bunBuild("--compile", "--outfile=dist-compiled/agent");
  for (const js of ["itself", RUNTIME_PROGRAMS.bun, RUNTIME_PROGRAMS.node, RUNTIME_PROGRAMS.deno]) {
    assert.deepEqual(await folder.run("dist-compiled", "agent", { on: null, js }), AGENT_PRINTED, js);
  }
});

once("N-037 a compiled agent without js takes an installed runtime, or says how to name one", async () => {
  if (!existsSync(join(folder.dir, "dist-compiled"))) await bunBuild("--compile", "--outfile=dist-compiled/agent");
  const printed = await folder.run("dist-compiled", "agent", { on: null });
  const [fault] = printed.faults;
  if (!fault) assert.deepEqual(printed, AGENT_PRINTED);
  else assert.match(`${fault.code} ${fault.hint}`, /^cage\.js_missing Set the option js .*process\.execPath/);
});

once(
  "N-037 a single executable application of Node runs plugins on the runtime that js names, never on itself",
  async () => {
    await esbuild("--format=esm", "--outfile=dist-sea/agent.mjs");
    const sea = { main: "dist-sea/agent.mjs", mainFormat: "module", output: "dist-sea/agent" };
    await folder.write("sea.json", JSON.stringify({ ...sea, disableExperimentalSEAWarning: true }));
    await folder.build(await otherNode(), ["--build-sea", "sea.json"]);
    assert.deepEqual(
      await folder.run("dist-sea", "agent", { on: null, js: RUNTIME_PROGRAMS.node }),
      AGENT_PRINTED,
    );
    const { faults: [fault] } = await folder.run("dist-sea", "agent", { on: null, js: "itself" });
    assert.match(
      `${fault?.code} ${fault?.message}`,
      /^cage\.js_unusable .*this compiled program, which would start itself$/,
    );
  },
);

async function bundlers(t: TestContext): Promise<boolean> {
  const how = "sh scripts/setup.sh extras installs them in tools/bundlers";
  return await requireOrSkip(t, "Rollup and Vite", () => existsSync(join(BUNDLERS, "vite")), how);
}

once("N-037 Rollup bundles an agent with its node-resolve plugin and nothing else", async (t: TestContext) => {
  if (!await bundlers(t)) return;
  await folder.write(
    "rollup.mjs",
    `import { nodeResolve } from "${BUNDLERS}/@rollup/plugin-node-resolve/dist/es/index.js";
import { rollup } from "${BUNDLERS}/rollup/dist/es/rollup.js";
const onwarn = ({ code, message }) => {
  if (!["UNRESOLVED_IMPORT", "UNUSED_EXTERNAL_IMPORT"].includes(code)) throw new Error(message);
};
const bundle = await rollup({ input: "agent.mjs", plugins: [nodeResolve({ preferBuiltins: true })], onwarn });
await bundle.write({ dir: "dist-rollup", entryFileNames: "agent.mjs" });
`,
  );
  await folder.build(RUNTIME_PROGRAMS.node, ["rollup.mjs"]);
  for (const on of RUNTIMES) {
    assert.deepEqual(await folder.run("dist-rollup", "agent.mjs", { on }), AGENT_PRINTED, on);
  }
});

once("N-037 Vite bundles an agent as it bundles servers", async (t: TestContext) => {
  if (!await bundlers(t)) return;
  await folder.write(
    "vite.mjs",
    `import { build } from "${BUNDLERS}/vite/dist/node/index.js";
const output = { entryFileNames: "agent.mjs" };
await build({
  configFile: false,
  logLevel: "error",
  ssr: { noExternal: true },
  build: { ssr: "agent.mjs", outDir: "dist-vite", rollupOptions: { output } },
});
`,
  );
  await folder.build(RUNTIME_PROGRAMS.node, ["vite.mjs"]);
  for (const on of RUNTIMES) assert.deepEqual(await folder.run("dist-vite", "agent.mjs", { on }), AGENT_PRINTED, on);
});
