import assert from "node:assert/strict";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { memoryFolder } from "../../plugins/memory-markdown/src/memory_folder.ts";
import { canCage } from "../support/hook_repo.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { blocksFor } from "./support/guides.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const drawingIn = async (file: string): Promise<string[]> => {
  const [drawing] = await blocksFor("tests/docs/drawings_test.ts", file);
  return drawing!.trimEnd().split("\n");
};

/** The paths a drawing of folders names: what is indented lies in the last folder that is not. */
function pathsIn(lines: readonly string[]): string[] {
  let folder = "";
  return lines.flatMap((line) => {
    const [, indent = "", names = ""] = /^( *)(.+?)(?: {2,}.*)?$/.exec(line)!;
    if (indent === "") folder = names.endsWith("/") && !names.includes(" ") ? names : "";
    const isHead = indent === "" && folder !== "";
    // `node/ bun/ deno/` are three; what follows them on the line is what they are.
    return isHead ? [names] : /^\S+(?: \S+\/)*/.exec(names)![0].split(" ").map((name) => folder + name);
  });
}

/** Everything below a folder of the repository, folders with a slash at their end. */
async function treeOf(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries.map((entry) => `${join(entry.parentPath, entry.name).slice(root.length)}${entry.isFile() ? "" : "/"}`);
}

/** `<name>`, `*` and `{a,b}` of a drawing, as a pattern. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${
      path.replaceAll(/[.]/g, "\\.").replaceAll(/<\w+>|\*/g, "[^/]+")
        .replaceAll(/\{([^}]+)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
    }$`,
  );

test("docs/architecture.md draws folders and files that are there, and every room of the core", async () => {
  const drawn = pathsIn(await drawingIn("docs/architecture.md"));
  const top = (await readdir(root, { withFileTypes: true })).map((each) => each.name + (each.isFile() ? "" : "/"));
  const there = new Set([...top, ...await treeOf("src"), ...await treeOf("sdk")]);
  assert.deepEqual(drawn.filter((path) => !there.has(path)), []);
  const rooms = [...there].filter((path) => /^src\/core\/[^/]+\/$/.test(path) && !path.endsWith("/errors/"));
  assert.deepEqual(rooms.filter((room) => !drawn.includes(room)), []);
});

test("docs/hookspec.md draws folders and files that are there", async () => {
  const there = [...await treeOf("hookspec"), "hookspec/", ...await treeOf("src/core/contract")];
  for (const path of pathsIn(await drawingIn("docs/hookspec.md"))) {
    assert.ok(there.some((each) => patternOf(path).test(each)), path);
  }
});

test("plugins/memory-markdown/README.md draws the folders in which an agent's memories are", async () => {
  const drawn = (await drawingIn("plugins/memory-markdown/README.md")).map((line) => line.split(" ")[0]!);
  const at = (agent_path: string, isolation: "agent" | "project") =>
    `config:/memory/${memoryFolder({ project_id: "music", agent_path }, isolation)}/x.md`;
  const made = [at("primary", "agent"), at("primary.subagents.researcher", "agent"), at("primary", "project")];
  assert.deepEqual(made.map((path) => drawn.findIndex((each) => patternOf(each).test(path))), [1, 2, 3]);
});

test("docs/wire.md draws the messages of a plugin's life as they go over the wire", async (t) => {
  if (!await canCage(t)) return;
  const dir = await scratchDir(t);
  await mkdir(join(dir, "home"));
  const plugin = join(root, "examples/plugins/notes");
  const args = ["plugin", "call", plugin, "notes.count", "--record", "tape.jsonl", "--home", join(dir, "home")];
  const { code, stderr } = await runKaged(args, { cwd: dir });
  assert.equal(code, 0, stderr);
  const [, ...tape] = (await readFile(join(dir, "tape.jsonl"), "utf8")).trimEnd().split("\n")
    .map((line) => JSON.parse(line));
  const said = tape.filter(({ message }) => message !== undefined && message.method !== "notes.added")
    .map(({ from, message }) => from === "plugin" ? "response" : message.method);
  const drawn = (await drawingIn("docs/wire.md")).map((line) => /[─] (\w[\w.]*)/.exec(line)?.[1]).filter(Boolean);
  const [calls, answers] = [drawn.indexOf("presets.list"), drawn.indexOf("responses")];
  drawn.splice(calls, answers - calls + 1, "notes.count", "response"); // Any call, and its answer.
  assert.deepEqual(said, drawn);
});
