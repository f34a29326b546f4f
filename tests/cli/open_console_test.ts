import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { openConsole } from "../../src/cli/open_console.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const LINK = "http://127.0.0.1:1/#token=secret";

test("the link with the token goes to the browser in a page only this user may read, and the page goes away", async (t) => {
  const home = await scratchDir(t);
  await mkdir(join(home, "run"), { mode: 0o700 });
  const runtime = await detectRuntime();
  const given: string[] = [];
  const here = {
    ...runtime,
    env: (name: string) => name === "DISPLAY" ? ":0" : null,
    // There is no screen here: what would be started is looked at.
    processes: {
      ...runtime.processes,
      spawn({ file, args }: { readonly file: string; readonly args: readonly string[] }): Promise<never> {
        given.push(file, ...args);
        return Promise.reject(new Error("no such program"));
      },
    },
  };
  const opened = await openConsole(LINK, home, here);
  const [opener, page = ""] = given;
  assert.deepEqual([opener, given.length], ["/usr/bin/xdg-open", 2]);
  assert.ok(page.startsWith(join(home, "run/console-")), page);
  assert.equal((await stat(page)).mode & 0o777, 0o600);
  assert.ok((await readFile(page, "utf8")).includes(`url=${LINK}"`));
  await opened!.close();
  assert.deepEqual(await readdir(join(home, "run")), []);
  assert.equal(await openConsole(LINK, home, { ...here, env: () => null }), null);
});

test("the page of a command that was killed is removed by the next one, and that of a living one is not", async (t) => {
  const home = await scratchDir(t);
  const run = join(home, "run");
  await mkdir(run, { mode: 0o700 });
  const { network } = await detectRuntime();
  const living = await network.listen(join(run, "4194001.sock"), (socket) => socket.destroy());
  const kept = ["4194001.sock", "console-4194001-page_a.html", "notes.html"];
  for (const name of [...kept.slice(1), "console-4194002-page_b.html"]) await writeFile(join(run, name), "");
  await runKaged(["plugin", "list", "--home", home]);
  const left = await readdir(run);
  await living.close();
  assert.deepEqual(left.sort(), kept);
});
