import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../src/create_host.ts";
import type { KindAt } from "../../src/hooks/kinds/types.ts";
import type { Host } from "../../src/host/types.ts";
import { DARK, jsTheme, THEME, themeHost, themeProject, writeThemeSpec } from "../support/theme_kind.ts";

const BRIGHT = {
  ...DARK,
  "theme.hook.names": `["bright"]`,
  "theme.hook.title": `({ text: params.text + ", bright" })`,
  "theme.hook.font": `"Bright Serif"`,
};

const atOf = (host: Host): KindAt => ({ agent: "primary", session: host.openSession().id });

test("N-033 D-009 a hook of a kind of one's own is dispatched in the way of its class", async (t) => {
  const project = await themeProject(t, async (root) => ({
    dark: await jsTheme(root, "dark"),
    bright: await jsTheme(root, "bright", { methods: BRIGHT }),
  }));
  await using h = await themeHost(project);
  const { kinds } = h.host;
  const at = atOf(h.host);
  const day = { mode: "day" };
  const paper = { ink: { hex: "#ffffff" }, paper: { hex: "#222222" } };
  assert.deepEqual(await kinds.dispatch("theme", "colors", day, { ...at, plugin: "bright" }), paper);
  await assert.rejects(kinds.dispatch("theme", "colors", day, at), { code: "hook.ambiguous" });
  const weigh = (plugin: string) =>
    plugin === "bright" ? { priority: 1, capabilities: ["serif"] } : { isFallback: true };
  assert.deepEqual(await kinds.dispatch("theme", "colors", day, { ...at, weigh }), paper);
  assert.deepEqual(await kinds.dispatch("theme", "names", {}, at), {
    answers: [{ name: "dark", value: ["dark"] }, { name: "bright", value: ["bright"] }],
    failures: [],
  });
  assert.equal(await kinds.dispatch("theme", "reset", {}, at), undefined);
  assert.deepEqual(await kinds.dispatch("theme", "title", { text: "Shop" }, at), {
    value: { text: "Shop in the dark, bright" },
    stoppedBy: null,
  });
  const font = (capability: string) => kinds.dispatch("theme", "font", {}, { ...at, weigh, capability });
  assert.deepEqual([await font("serif"), await font("mono")], ["Bright Serif", "Dark Sans"]);
  await assert.rejects(kinds.dispatch("theme", "font", {}, at), { code: "host.misuse" });
});

test("N-033 D-012 a plugin that does not fit a kind is listed with the reason, warned of, and runs", async (t) => {
  const project = await themeProject(t, async (root) => ({
    dark: await jsTheme(root, "dark"),
    old: await jsTheme(root, "old", { kinds: { theme: "2.0.0", shop: "1.0.0" } }),
    new: await jsTheme(root, "new", { kinds: { theme: "1.2.0" } }),
  }));
  await using h = await themeHost(project);
  const [theme] = h.host.kinds.list("primary");
  assert.deepEqual([theme!.kind, theme!.version, h.host.kinds.list("primary").length], ["theme", "1.1.0", 1]);
  assert.deepEqual(theme!.plugins, [
    { plugin: "dark", version: "1.0.0", hooks: ["colors", "names", "reset", "title", "font"], unavailable: null },
    { plugin: "old", version: "2.0.0", hooks: [], unavailable: "2.x is wanted, and 1.x is here" },
    { plugin: "new", version: "1.2.0", hooks: [], unavailable: "1.2 is wanted, and only 1.1 is here" },
  ]);
  assert.deepEqual(h.warnings, [
    'Plugin "old" is unavailable as theme: 2.x is wanted, and 1.x is here',
    'Plugin "old" is unavailable as shop: No hookspec has this kind',
    'Plugin "new" is unavailable as theme: 1.2 is wanted, and only 1.1 is here',
  ]);
  assert.deepEqual(h.host.plugins("primary").map(({ state }) => state), ["running", "running", "running"]);
  await assert.rejects(h.host.callMethod("old", "theme.hook.names"), { code: "protocol.method_unknown" });
  await h.host.disable("dark");
  assert.equal(h.host.kinds.list("primary")[0]!.plugins[0]!.unavailable, "The plugin is disabled");
});

test("N-033 a host has both majors of a kind, and each plugin answers the one it is written for", async (t) => {
  const second = { ...THEME, kind_api_version: "2.0.0", hooks: THEME.hooks.slice(0, 2) };
  const project = await themeProject(t, async (root) => ({
    dark: await jsTheme(root, "dark"),
    next: await jsTheme(root, "next", { kinds: { theme: "2.0.0" } }),
  }));
  await writeThemeSpec(join(project.dir, "hookspec"), second, { major: 2 });
  await using h = await themeHost(project);
  const at = atOf(h.host);
  const first = await h.host.kinds.dispatch("theme", "names", {}, { ...at, major: 1 });
  const newest = await h.host.kinds.dispatch("theme", "names", {}, at);
  const who = (result: unknown) => (result as { answers: { name: string }[] }).answers.map(({ name }) => name);
  assert.deepEqual([who(first), who(newest)], [["dark"], ["next"]]);
});

test("N-033 an unknown kind, version or hook is an error that names the known ones", async (t) => {
  const project = await themeProject(t, async (root) => ({ dark: await jsTheme(root, "dark") }));
  await using h = await themeHost(project);
  const at = atOf(h.host);
  const fails = (kind: string, hook: string, more: Partial<KindAt> = {}) =>
    h.host.kinds.dispatch(kind, hook, {}, { ...at, ...more });
  await assert.rejects(fails("them", "names"), { code: "hook.unknown_kind", hint: 'Did you mean "theme"?' });
  await assert.rejects(fails("theme", "names", { major: 3 }), { code: "hook.unknown_kind", hint: "Versions: 1.1.0" });
  await assert.rejects(fails("theme", "name"), { code: "hook.unknown", hint: 'Did you mean "names"?' });
});

test("N-033 a method of a kind that is a tool of the plugin passes the gate", async (t) => {
  const kind = { ...THEME, wire_method_template: "dark.{hook}" };
  const tools = { names: `["dark"]` };
  const project = await themeProject(
    t,
    async (root) => ({ dark: await jsTheme(root, "dark", { methods: {}, tools }) }),
    {
      kind,
    },
  );
  await using h = await themeHost(project);
  h.host.hooks.register("PreToolUse", () => ({ action: "block", reason: "Not now" }));
  await assert.rejects(h.host.kinds.dispatch("theme", "names", {}, atOf(h.host)), { code: "tool.blocked" });
});

test("N-033 a hookspec that the host cannot serve is refused with its place", async (t) => {
  const tries: readonly [string, object, object?][] = [
    ["hookspec.reserved_method", { ...THEME, wire_method_template: "kaged.hook.{hook}" }],
    ["hookspec.invalid", { ...THEME, kind_api_version: "one" }],
    ["hookspec.missing", THEME, { hookspec: "./elsewhere" }],
    ["project.invalid", THEME, { hookspec: "../hookspec" }],
    ["project.invalid", THEME, { hookspec: 7 }],
  ];
  for (const [code, kind, yaml] of tries) {
    const { dir, home } = await themeProject(t, () => Promise.resolve({}), { kind, ...(yaml && { yaml }) });
    await assert.rejects(createHost({ project: dir, home, control: false, audit: [] }), { code }, code);
  }
  const project = await themeProject(t, () => Promise.resolve({}));
  const hookspecs = [join(project.dir, "hookspec")];
  await assert.rejects(themeHost(project, { hookspecs }), {
    code: "hookspec.kind_taken",
    message: /"theme" is described/,
  });
  const own = await writeThemeSpec(join(project.dir, "own"), { ...THEME, kind: "tool" }, { name: "tool" });
  await assert.rejects(themeHost(project, { hookspecs: [own] }), {
    code: "hookspec.kind_taken",
    message: /the host itself/,
  });
  const same = await writeThemeSpec(join(project.dir, "same"), { ...THEME, kind: "skin" }, { name: "skin" });
  await assert.rejects(themeHost(project, { hookspecs: [same] }), {
    code: "hookspec.kind_taken",
    message: /Method "theme/,
  });
});
