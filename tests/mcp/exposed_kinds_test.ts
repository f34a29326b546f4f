import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { connectClient, type TestClient } from "../support/mcp_client.ts";
import { hasPython } from "../support/python_plugin.ts";
import { DARK, jsTheme, pythonTheme, THEME, type ThemeProject, themeProject } from "../support/theme_kind.ts";

/** The official client at the real `kaged mcp` of a project. */
async function clientOf(t: TestContext, project: ThemeProject, more: readonly string[] = []): Promise<TestClient> {
  const folders = Object.entries(project.plugins).flatMap(([pkg, dir]) => ["--plugin", `${pkg}=${dir}`]);
  const args = ["mcp", "--project", project.dir, "--home", project.home, ...folders, ...more];
  return (await connectClient(t, args, project.dir)).client;
}

/** The code of a call that failed. */
async function codeOf(client: TestClient, name: string, args: object): Promise<unknown> {
  const { isError, _meta } = await client.callTool({ name, arguments: args });
  assert.equal(isError, true);
  return (_meta!["kaged/error"] as { code: string }).code;
}

const names = async (client: TestClient): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

test("N-033 D-004 hooks of a kind of one's own are tools of kaged mcp, for plugins in JavaScript and Python", async (t) => {
  if (!await hasPython(t)) return;
  const project = await themeProject(t, async (root) => ({
    dark: await jsTheme(root, "dark"),
    light: await pythonTheme(root, "light"),
    plain: await jsTheme(root, "plain", { kinds: {}, methods: {} }),
  }));
  const client = await clientOf(t, project);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), [
    "theme.dark.colors",
    "theme.light.colors",
    "theme.dark.names",
    "theme.light.names",
    "theme__dark__colors",
    "theme__light__colors",
    "theme__dark__names",
    "theme__light__names",
  ]);
  const color = { type: "object", properties: { hex: { type: "string", maxLength: 7 } }, required: ["hex"] };
  assert.deepEqual(tools[0], {
    name: "theme.dark.colors",
    description: "Makes colors. (of dark)",
    inputSchema: {
      type: "object",
      properties: { mode: { description: "Time of day.", type: "string", enum: ["day", "night"] } },
      required: ["mode"],
    },
    outputSchema: {
      type: "object",
      properties: { ink: { $ref: "#/$defs/Color" }, paper: { $ref: "#/$defs/Color" } },
      required: ["ink", "paper"],
      $defs: { Color: color },
    },
  });
  const answers = { dark: ["#ffffff", "#000000"], light: ["#111111", "#cccccc"] };
  for (const [plugin, [ink, paper]] of Object.entries(answers)) {
    for (const name of [`theme.${plugin}.colors`, `theme__${plugin}__colors`]) {
      const { structuredContent } = await client.callTool({ name, arguments: { mode: "night" } });
      assert.deepEqual(structuredContent, { ink: { hex: ink }, paper: { hex: paper } }, name);
    }
  }
  const { content, isError } = await client.callTool({ name: "theme__light__names", arguments: {} });
  assert.deepEqual([content, isError], [[{ type: "text", text: '["light","paper"]' }], undefined]);
});

test("N-033 a hook of a kind is called with what its schema takes, and may answer only what its schema allows", async (t) => {
  const wrong = { ...DARK, "theme.hook.colors": `({ ink: { hex: "white as snow" }, paper: 7 })` };
  const project = await themeProject(t, async (root) => ({ dark: await jsTheme(root, "dark", { methods: wrong }) }));
  const client = await clientOf(t, project);
  assert.equal(await codeOf(client, "theme.dark.colors", { mode: "noon" }), "hook.input_invalid");
  assert.equal(await codeOf(client, "theme__dark__colors", {}), "hook.input_invalid");
  assert.equal(await codeOf(client, "theme.dark.colors", { mode: "day" }), "hook.output_invalid");
  const { isError } = await client.callTool({ name: "theme.dark.names", arguments: {} });
  assert.equal(isError, undefined);
});

test("N-033 D-012 a plugin written for another version of a kind is no part of it, and the others are", async (t) => {
  const project = await themeProject(t, async (root) => ({
    dark: await jsTheme(root, "dark"),
    old: await jsTheme(root, "old", { kinds: { theme: "2.0.0" } }),
    part: await jsTheme(root, "part", { methods: { "theme.hook.names": `["part"]` } }),
  }));
  const client = await clientOf(t, project);
  assert.deepEqual((await names(client)).filter((name) => name.includes(".")), [
    "theme.dark.colors",
    "theme.dark.names",
    "theme.part.names",
  ]);
  await assert.rejects(client.callTool({ name: "theme.old.colors", arguments: { mode: "day" } }), { code: -32602 });
});

test("N-033 --hookspec names a hookspec outside the project, whose exposed hooks need no name on the wire", async (t) => {
  const { wire_method_template: _, ...kind } = THEME;
  const methods = { "theme.colors": DARK["theme.hook.colors"]!, "theme.reset": "null" };
  const project = await themeProject(t, async (root) => ({ dark: await jsTheme(root, "dark", { methods }) }), {
    kind,
    yaml: {},
  });
  assert.deepEqual(await names(await clientOf(t, project)), []);
  const client = await clientOf(t, project, ["--hookspec", join(project.dir, "hookspec")]);
  assert.deepEqual(await names(client), ["theme.dark.colors", "theme__dark__colors"]);
  const { structuredContent } = await client.callTool({ name: "theme__dark__colors", arguments: { mode: "day" } });
  assert.deepEqual(structuredContent, { ink: { hex: "#ffffff" }, paper: { hex: "#222222" } });
});

test("N-033 a tool keeps its name when a hook would be listed under the same one", async (t) => {
  const project = await themeProject(t, async (root) => ({
    dark: await jsTheme(root, "dark"),
    theme: await jsTheme(root, "theme", {
      kinds: {},
      methods: {},
      tools: { dark__colors: `"the tool"` },
    }),
  }));
  const client = await clientOf(t, project);
  const [tool, hook] = (await names(client)).filter((name) => name.startsWith("theme__dark__colors"));
  assert.equal(tool, "theme__dark__colors");
  assert.match(hook!, /^theme__dark__colors_[0-9a-z]{8}$/);
  const { content } = await client.callTool({ name: tool, arguments: {} });
  assert.deepEqual(content, [{ type: "text", text: "the tool" }]);
  const { structuredContent } = await client.callTool({ name: hook!, arguments: { mode: "day" } });
  assert.deepEqual(structuredContent, { ink: { hex: "#ffffff" }, paper: { hex: "#222222" } });
});
