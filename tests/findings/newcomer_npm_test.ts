/**
 * An author's first hour with the package: archives, messages of chat APIs as they are, and types that need no cast.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createHost } from "../../mod.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

// The guides promised "a folder or an archive", and an archive was no source.
test("N-037 a plugin is installed from an archive as npm pack makes it", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await fixturePlugin("echo");
  const dir = await scratchDir(t);
  const archive = join(dir, "echo.tgz");
  await promisify(execFile)("tar", ["-czf", archive, "-C", plugin.dir, "--transform", "s,^\\.,package,", "."]);
  const { code, stderr } = await runKaged(["plugin", "install", archive, "--home", join(dir, "home")]);
  assert.equal(code, 0, stderr);
});

// A window that began with a developer message came back without it.
test("N-035 a developer message stays in a compacted window, as a system message does", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "project.yaml"), "primary: { compaction: { strategy: drop, keep_last: 2 } }\n");
  await using host = await createHost({ project: dir, home: join(dir, "home"), audit: [] });
  const { id: session } = host.openSession();
  const said = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `${index} ${"word ".repeat(20)}`,
  }));
  const messages = [{ role: "developer", content: "Be brief" }, ...said];
  const request = { agent: "primary", session, trigger: "threshold_crossed", targetTokens: 200 };
  const { messages: left } = await host.compact({ ...request, messages });
  assert.ok(left.length < messages.length);
  assert.equal(left[0]?.content, "Be brief");
});

// Neither the messages of the AI SDK nor those of OpenAI could be handed over without a cast.
test("N-035 messages of a client's own type go into compact() and come out, without a cast", async (t) => {
  const dir = join(ROOT, ".scratch", `types_${crypto.randomUUID()}`);
  await mkdir(dir, { recursive: true });
  t.after(() => rm(dir, { recursive: true, force: true }));
  await writeFile(
    join(dir, "window.ts"),
    `import type { Host } from "../../mod.ts";
interface SystemParam { role: "developer" | "system"; content: string; name?: string }
interface UserParam { role: "user"; content: string | { type: "text"; text: string }[] }
interface AssistantParam {
  role: "assistant";
  content?: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}
interface ToolParam { role: "tool"; tool_call_id: string; content: string }
type Param = SystemParam | UserParam | AssistantParam | ToolParam;

export async function smaller(host: Host, messages: Param[]): Promise<Param[]> {
  const request = { agent: "primary", session: "one", trigger: "threshold_crossed" };
  return (await host.compact({ ...request, messages })).messages;
}
`,
  );
  const config = { extends: "../../tsconfig.json", include: ["window.ts"], exclude: [] };
  await writeFile(join(dir, "tsconfig.json"), JSON.stringify(config));
  const checked = promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["-p", dir], { cwd: ROOT });
  assert.equal((await checked.catch((error: { stdout: string }) => error)).stdout, "");
});

// They were folders of the repository alone, so that the first program of README.md had no plugin.
test("N-037 the reference plugins are packages that carry all they need", async () => {
  for (const name of ["memory-markdown", "smart-compactor"]) {
    const cwd = join(ROOT, "plugins", name);
    const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json"], { cwd });
    const [{ name: packed, files }] = JSON.parse(stdout) as [{ name: string; files: { path: string }[] }];
    assert.equal(packed, `@kaged/${name}`);
    const paths = files.map(({ path }) => path);
    for (const path of ["index.js", "kaged-plugin.yaml"]) assert.ok(paths.includes(path), path);
  }
});
