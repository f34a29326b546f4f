import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { SDK_JS } from "../../src/cli/generated/sdk_source.ts";
import { type DrivenPlugin, driveProcess, jsCommand, type Message } from "../support/plugin_driver.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** Starts a real plugin program that carries the SDK with it, as `kaged plugin new` writes it. */
async function startProgram(
  t: { after(run: () => Promise<void>): void },
  source: string,
  env: Message = {},
): Promise<DrivenPlugin> {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "kaged_sdk.js"), SDK_JS);
  await writeFile(join(dir, "package.json"), '{ "type": "module" }');
  await writeFile(join(dir, "index.js"), `import { createPlugin } from "./kaged_sdk.js";\n${source}`);
  return driveProcess(dir, jsCommand("./index.js"), env);
}

const logLines = (plugin: DrivenPlugin): Message[] =>
  plugin.log().trimEnd().split("\n").filter(Boolean).map((line) => JSON.parse(line));

test("K-058 a program with the SDK in its folder shakes hands, answers and ends with code 0 at shutdown", async (t) => {
  await using plugin = await startProgram(
    t,
    `createPlugin({ name: "test", version: "1.0.0", methods: { "math.add": ({ a, b }) => a + b } }).start();`,
  );
  assert.deepEqual((await plugin.handshake()).result.methods, ["math.add"]);
  assert.equal((await plugin.ask("math.add", { a: 1, b: 2 })).result, 3);
  plugin.send({ method: "shutdown", params: {} });
  assert.equal(await plugin.ended, 0);
});

test("K-058 nothing a plugin prints reaches the wire: console and process.stdout write log lines", async (t) => {
  await using plugin = await startProgram(
    t,
    `
    const plugin = createPlugin({
      name: "test",
      version: "1.0.0",
      methods: {
        "print.all": () => {
          console.log("{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":%s}", "forged");
          console.info("info", { a: 1 });
          console.debug("debug");
          console.warn("warn");
          console.error("error");
          console.table([{ column: 1 }]);
          console.dir({ dir: true });
          console.group("group");
          console.groupEnd();
          console.time("timer");
          console.timeEnd("timer");
          console.count("counter");
          console.assert(false, "assertion");
          console.trace("trace");
          process.stdout.write("raw text\\n");
          process.stdout.write(new TextEncoder().encode("raw bytes\\n"), () => plugin.log.info("called back"));
          return "printed";
        },
      },
    });
    plugin.start();
    `,
    { KAGED_LOG_LEVEL: "debug" },
  );
  await plugin.handshake();
  assert.equal((await plugin.ask("print.all", {})).result, "printed");
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  plugin.closeInput();
  await assert.rejects(plugin.next(), /nothing more/);
  assert.equal(await plugin.ended, 0);
  const lines = logLines(plugin).filter(({ msg }) => !msg.startsWith("Host and plugin disagree"));
  const levelOf = (text: string): string | undefined => lines.find(({ msg }) => msg.includes(text))?.level;
  assert.equal(lines[0]?.msg, '{"jsonrpc":"2.0","id":1,"result":forged}');
  for (
    const text of ["info { a: 1 }", "column", "dir: true", "group", "timer", "counter: 1", "raw text", "raw bytes"]
  ) {
    assert.equal(levelOf(text), "info", text);
  }
  assert.deepEqual(["debug", "warn", "error", "assertion"].map(levelOf), ["debug", "warn", "error", "error"]);
  assert.equal(levelOf("called back"), "info");
});

test("K-047 KAGED_LOG_LEVEL says which lines are written", async (t) => {
  const source = `
    const plugin = createPlugin({ name: "test", version: "1.0.0" });
    for (const level of ["debug", "info", "warn", "error"]) plugin.log[level](level);
    plugin.start();`;
  const written = async (env: Message): Promise<string[]> => {
    await using plugin = await startProgram(t, source, env);
    plugin.closeInput();
    await plugin.ended;
    return logLines(plugin).map(({ msg }) => msg);
  };
  assert.deepEqual(await written({ KAGED_LOG_LEVEL: "warn" }), ["warn", "error"]);
  assert.deepEqual(await written({}), ["info", "warn", "error"]);
});

test("an exception nobody caught is logged as one JSON line and ends the plugin with code 1", async (t) => {
  for (const blow of [`throw new Error("boom")`, `Promise.reject(new Error("boom"))`]) {
    await using plugin = await startProgram(
      t,
      `
      createPlugin({
        name: "test",
        version: "1.0.0",
        methods: { "blow.up": () => void setTimeout(() => { ${blow}; }, 0) },
      }).start();`,
    );
    await plugin.handshake();
    await plugin.ask("blow.up", {});
    assert.equal(await plugin.ended, 1, blow);
    const last = logLines(plugin).at(-1);
    assert.equal(last?.level, "error");
    assert.match(last?.error, /boom/);
  }
});

test("a plugin ends when its stdin closes, after onShutdown, even with timers waiting", async (t) => {
  await using plugin = await startProgram(
    t,
    `
    setInterval(() => {}, 60_000);
    const plugin = createPlugin({ name: "test", version: "1.0.0", onShutdown: () => plugin.log.info("saved") });
    plugin.start();`,
  );
  await plugin.handshake();
  plugin.closeInput();
  assert.equal(await plugin.ended, 0);
  assert.equal(logLines(plugin).at(-1)?.msg, "saved");
});

test("a plugin's answers are whole on the wire before it ends", async (t) => {
  await using plugin = await startProgram(
    t,
    `createPlugin({ name: "test", version: "1.0.0", methods: { "text.big": () => "x".repeat(3_000_000) } }).start();`,
  );
  await plugin.handshake();
  plugin.send({ id: 8, method: "text.big", params: {} });
  plugin.send({ method: "shutdown", params: {} });
  assert.equal((await plugin.next()).result.length, 3_000_000);
  assert.equal(await plugin.ended, 0);
});

test("a plugin may notify and use storage right after start(), as its author writes it", async (t) => {
  await using plugin = await startProgram(
    t,
    `
    const plugin = createPlugin({ name: "test", version: "1.0.0", notifications: ["catalog.updated"] });
    plugin.start();
    plugin.notify("catalog.updated", { entries_added: 3 });
    const { rows } = await plugin.storage.query("SELECT 1 AS one");
    plugin.notify("catalog.counted", { rows });`,
  );
  await plugin.handshake();
  assert.equal((await plugin.next()).method, "catalog.updated");
  const asked = await plugin.next();
  assert.equal(asked.method, "kaged.storage.query");
  plugin.send({ id: asked.id, result: { rows: [{ one: 1 }], columns: ["one"] } });
  assert.deepEqual((await plugin.next()).params, { rows: [{ one: 1 }] });
});

test("resolvePath() leads to the folders that the host granted, and nowhere else", async (t) => {
  const source = `
    const plugin = createPlugin({
      name: "test",
      version: "1.0.0",
      methods: { "path.of": ({ path }) => plugin.resolvePath(path) },
    });
    plugin.start();`;
  const env = { KAGED_CONFIG_DIR: "/srv/files/", KAGED_PLUGIN_DIR: "/opt/test" };
  await using plugin = await startProgram(t, source, env);
  await plugin.handshake();
  const answer = async (path: string): Promise<unknown> => {
    const { result, error } = await plugin.ask("path.of", { path });
    return result ?? error.code;
  };
  assert.deepEqual(
    [
      await answer("config:/memory"),
      await answer("config:/./a//b/"),
      await answer("plugin:/"),
      await answer("config:/…"),
    ],
    ["/srv/files/memory", "/srv/files/a/b", "/opt/test", "/srv/files/…"],
  );
  assert.equal(await answer("project:/out"), -32001);
  for (const path of ["config:memory", "config:/../x", "config:/a/..", "/etc/passwd", "home:/x", "", "config:/a\0b"]) {
    assert.equal(await answer(path), -32602, path);
  }
});
