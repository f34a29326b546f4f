import assert from "node:assert/strict";
import { test } from "node:test";
import { eventFilter } from "../../../src/hooks/files/matcher.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import { parseRule } from "../../../src/hooks/files/permission_rule.ts";
import { subcommands } from "../../../src/hooks/files/subcommands.ts";
import { hookEvent } from "../../support/hook_repo.ts";

/** Whether a hook with this `if` runs at a call of a tool with this input. */
async function runs(condition: string, tool: string, input: unknown): Promise<boolean> {
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "x", if: condition }] }] };
  const parsed = await parseHookFile(JSON.stringify({ hooks }), { file: "/r/.claude/settings.json" });
  const wants = await eventFilter(parsed.hooks, { dir: "/r", home: "/home/u" });
  return wants(parsed.hooks[0]!, hookEvent({ tool: { name: tool }, input }));
}

const bash = (condition: string, command: string): Promise<boolean> => runs(`Bash(${condition})`, "Bash", { command });

test("N-038 if: a rule about commands fits whole words, anywhere in a line, as Claude Code documents", async () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ["git push *", "git push origin main", true],
    ["git push *", "git push", true],
    ["git push:*", "git push -f", true],
    ["git push *", "git pushx", false],
    ["ls *", "lsof", false],
    ["ls*", "lsof", true],
    ["npm test", "npm test", true],
    ["npm test", "npm test --watch", false],
    ["rm *", "cd a && rm -rf b", true],
    ["rm *", "echo a; FOO=1 rm b", true],
    ["rm *", "echo rm", false],
    ["rm *", "echo 'a; rm b'", false],
    ["rm *", 'echo "$(rm b)"', true],
    ["rm *", "echo `rm b`", true],
    ["rm *", "timeout 5 rm b", true],
    ["rm *", "echo 'unfinished", true],
    ["* --force", "git push --force", true],
    ["git push *", "git $ACTION", true],
    ["git *", "echo $HOME", false],
  ];
  for (const [rule, command, wanted] of table) assert.equal(await bash(rule, command), wanted, `${rule} : ${command}`);
});

test("N-038 if: a rule about files reads paths as .gitignore does, from the project, the home and the root", async () => {
  const table: readonly (readonly [string, string, string, boolean])[] = [
    ["Edit(src/**)", "Edit", "/r/src/a/b.ts", true],
    ["Edit(src/**)", "Write", "/r/src/a.ts", true],
    ["Edit(src/**)", "Edit", "/r/lib/src/a.ts", false],
    ["Edit(**/src/**)", "Edit", "/r/lib/src/a.ts", true],
    ["Edit(*.ts)", "Edit", "/r/deep/a.ts", true],
    ["Edit(*.ts)", "Edit", "/r/deep/a.tsx", false],
    ["Edit(/docs/*.md)", "Edit", "/r/docs/a.md", true],
    ["Edit(/docs/*.md)", "Edit", "/r/docs/x/a.md", false],
    ["Read(~/.ssh/**)", "Read", "/home/u/.ssh/id", true],
    ["Read(//etc/*)", "Read", "/etc/hosts", true],
    ["Read(.env)", "Read", "a/.env", true],
    ["Write(src/**)", "Edit", "/r/src/a.ts", false],
  ];
  for (const [rule, tool, file_path, wanted] of table) {
    assert.equal(await runs(rule, tool, { file_path }), wanted, `${rule} : ${tool} ${file_path}`);
  }
});

test("N-038 if: a rule names a tool, tools of a server, a host or a parameter", async () => {
  assert.equal(await runs("Bash", "Bash", { command: "ls" }), true);
  assert.equal(await runs("Bash(*)", "Bash", { command: "ls" }), true);
  assert.equal(await runs("Bash", "Edit", {}), false);
  assert.equal(await runs("Bash", "shell", { command: "ls" }), true, "a tool of that kind by another name");
  assert.equal(await runs("mcp__github__*", "mcp__github__push", {}), true);
  assert.equal(await runs("mcp__github__*", "github.push", {}), true, "as this host names it");
  assert.equal(await runs("mcp__github__*", "mcp__gitlab__push", {}), false);
  assert.equal(await runs("WebFetch(domain:example.com)", "WebFetch", { url: "https://example.com/a" }), true);
  assert.equal(await runs("WebFetch(domain:*.example.com)", "WebFetch", { url: "https://a.example.com/" }), true);
  assert.equal(await runs("WebFetch(domain:example.com)", "WebFetch", { url: "https://example.org/" }), false);
  assert.equal(await runs("Agent(subagent_type:scout)", "Agent", { subagent_type: "scout" }), true);
  assert.equal(await runs("Agent(subagent_type:scout)", "Agent", { subagent_type: "cook" }), false);
});

test("N-038 if: one that is no rule is met by every call, since its hook is a check", async () => {
  for (const text of ["Bash() && Edit", "", "Bash(a", "Bash()"]) assert.equal(parseRule(text), null, text);
  assert.equal(await runs("Bash(a) || Edit(b)", "Edit", { file_path: "/r/c" }), true);
});

test("subcommands() takes a line apart, or gives up on one that it cannot read", () => {
  assert.deepEqual(subcommands("a 2>&1 | b && (c; d) & e"), ["a 2>&1", "b", "c", "d", "e"]);
  assert.deepEqual(subcommands("A='x y' nice -n 5 env b"), ["env b"]);
  assert.deepEqual(subcommands('echo "a;b" \\; c'), ['echo "a;b" \\; c']);
  for (const line of ["'a", "$(a", "`a", '"a']) assert.equal(subcommands(line), null, line);
});
