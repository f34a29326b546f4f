import assert from "node:assert/strict";
import { test } from "node:test";
import { PLUGIN_TEMPLATES } from "../../../src/cli/generated/plugin_templates.ts";
import { pluginNameProblem, scaffold, SCAFFOLD_RUNTIMES } from "../../../src/operator/scaffold/scaffold.ts";

const texts = {
  ...PLUGIN_TEMPLATES,
  "kaged_sdk.js": "// sdk\n",
  "kaged_sdk.d.ts": "// types\n",
  "kaged_sdk.py": "# sdk\n",
};

test("K-065 scaffold() brings the SDK to JavaScript and Python plugins and to no other", () => {
  const files = (runtime: typeof SCAFFOLD_RUNTIMES[number]) => [...scaffold({ name: "demo", runtime, texts }).keys()];
  const js = ["kaged-plugin.yaml", "README.md", "index.js", "kaged_sdk.js", "kaged_sdk.d.ts", "package.json"];
  for (const runtime of ["js", "deno", "bun", "node"] as const) assert.deepEqual(files(runtime), js, runtime);
  assert.deepEqual(files("bash"), ["kaged-plugin.yaml", "README.md", "plugin.sh"]);
  assert.deepEqual(files("python"), ["kaged-plugin.yaml", "README.md", "plugin.py", "kaged_sdk.py"]);
});

test("scaffold() puts the name wherever the plugin states it and leaves no placeholder", () => {
  for (const runtime of SCAFFOLD_RUNTIMES) {
    const all = [...scaffold({ name: "my-greeter", runtime, texts }).values()].map(({ content }) => content).join("\n");
    assert.match(all, /my-greeter/, runtime);
    assert.doesNotMatch(all, /\{\{|undefined/, runtime);
  }
});

test("scaffold() makes what is run directly executable", () => {
  assert.equal(scaffold({ name: "demo", runtime: "bash", texts }).get("plugin.sh")?.mode, 0o755);
});

test("pluginNameProblem() takes names of the grammar that leave room for tools", () => {
  for (const name of ["ab", "memory-markdown", "a1", "x".repeat(64)]) assert.equal(pluginNameProblem(name), null, name);
  for (const name of ["", "a", "A-b", "1a", "a_b", "a.b", "-a", "x".repeat(65)]) {
    assert.notEqual(pluginNameProblem(name), null, name);
  }
});
