import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gitServer } from "../support/git_server.ts";
import { canCage } from "../support/hook_repo.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("a command shows on a terminal that it works from the first moment on, and nothing of it in a pipe", async (t) => {
  if (!await canCage(t) || !await canUseTerminal(t)) return;
  const dir = await scratchDir(t);
  const home = ["--home", join(dir, "home")];
  const tasks = fileURLToPath(new URL("../../examples/plugins/tasks", import.meta.url));
  assert.equal((await runKaged(["plugin", "call", tasks, "tasks.add", '{"title": "Mix"}', ...home])).code, 0);
  const { code, shown } = await onTerminal(["plugin", "export", "tasks", "-o", "one.sqlite", ...home], [], {
    cwd: dir,
  });
  assert.equal(code, 0, shown);
  assert.match(shown, /Writing the data of tasks[^]*Written\n[^]*one\.sqlite: tasks\n$/);
  const piped = await runKaged(["plugin", "export", "tasks", "-o", "two.sqlite", ...home], { cwd: dir });
  assert.deepEqual(piped, { code: 0, stdout: `${join(dir, "two.sqlite")}: tasks\n`, stderr: "" });
});

test("colours of the command itself are colours on a terminal, not disarmed like a plugin's", async (t) => {
  if (!await canUseTerminal(t)) return;
  const dir = await scratchDir(t);
  const home = ["--home", join(dir, "home")];
  const tasks = fileURLToPath(new URL("../../examples/plugins/tasks", import.meta.url));
  const grants = ["--grant", "kaged:storage:write"];
  assert.equal((await runKaged(["plugin", "install", tasks, ...grants, ...home])).code, 0);
  for (const args of [["plugin", "info", "tasks"], ["plugin", "list", "--verbose"]]) {
    const { code, shown } = await onTerminal([...args, ...home], [], { env: { NO_COLOR: "" } });
    assert.equal(code, 0, shown);
    assert.match(shown, /tasks +0\.1\.0/);
    assert.doesNotMatch(shown, /\\u001b/);
  }
});

test("K-054 a fetch shows on a terminal that it works, after the yes to it", async (t) => {
  if (!await canUseTerminal(t)) return;
  const dir = await scratchDir(t);
  const made = await runKaged(["plugin", "new", "greeter"], { cwd: dir });
  assert.equal(made.code, 0, made.stderr);
  await using server = await gitServer(join(dir, "srv"));
  const url = await server.publish("greeter", join(dir, "greeter"));
  const args = ["plugin", "install", url, "--allow-http", "--home", join(dir, "home")];
  const { code, shown } = await onTerminal(args, [[`Fetch ${url}?`, "y"], ["Install greeter?", "y"]]);
  assert.equal(code, 0, shown);
  assert.match(shown, /Fetch http[^]*Fetching http[^]*Fetched http[^]*✓ Installed greeter/);
});
