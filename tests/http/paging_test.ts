import assert from "node:assert/strict";
import { test } from "node:test";
import { canCage } from "../support/hook_repo.ts";
import { type Served, served } from "../support/served.ts";

const AGENTS = ["primary", ..."ab".split("").map((name) => `primary.subagents.${name}`)];

/** A project whose every agent has a plugin of its own, which offers several tools, and lacks another. */
const many = {
  yaml: {
    primary: {
      plugins: {
        memory: { package: "@test/memory" },
        ...Object.fromEntries([1, 2, 3].map((at) => [`lacking${at}`, { package: `@test/lacking${at}` }])),
      },
      subagents: Object.fromEntries(
        AGENTS.slice(1).map((path) => [path.split(".")[2]!, { plugins: { memory: { package: "@test/memory" } } }]),
      ),
    },
  },
  fixtures: {
    "@test/memory": {
      fixture: "echo",
      manifest: {
        methods: ["echo.log"],
        tools: ["one", "two", "three"].map((name) => ({
          name,
          description: name,
          parameters_schema: { type: "object" },
        })),
      },
    },
  },
} as const;

/** Every item of a list, two at a time. */
async function walked(s: Served, path: string, items: string): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { status, body } = await s.ask(`${path}?limit=2${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(body[items].length <= 2);
    all.push(...body[items]);
    cursor = body.next;
    assert.ok(all.length < 100, "The cursors lead in a circle");
  }
  return all;
}

test("plugins, agents, tools and consents are walked by cursor, and are whole", async (t) => {
  if (!await canCage(t)) return;
  await using s = await served(many as never);
  const whole = async (path: string, items: string) => (await s.ask(path)).body[items];
  const lists = [["plugins", "plugins"], ["agents", "agents"], ["agents/primary/tools", "tools"], [
    "consents",
    "consents",
  ]];
  for (const [path, items] of lists as [string, string][]) {
    const all = await walked(s, `/api/v1/${path}`, items);
    assert.ok(all.length > 2, path);
    assert.deepEqual(all, await whole(`/api/v1/${path}`, items));
  }
});

test("a page's limit goes from 1 to 1000, and a cursor that is none is refused", async (t) => {
  if (!await canCage(t)) return;
  await using s = await served({ ...many, start: false } as never);
  for (const limit of ["0", "1001", "-1", "x", ""]) {
    assert.equal((await s.ask(`/api/v1/plugins?limit=${limit}`)).status, 400, limit);
  }
  const { status, body } = await s.ask("/api/v1/agents?cursor=00");
  assert.deepEqual([status, body.code], [400, "http.cursor_invalid"]);
});

test("log lines are walked from the newest page to the oldest", async (t) => {
  if (!await canCage(t)) return;
  const { yaml: { primary: { plugins: { memory } } }, fixtures } = many;
  await using s = await served({ yaml: { primary: { plugins: { memory } } }, fixtures } as never);
  await s.h.host.callMethod("echo", "echo.log", { text: "1\n2\n3\n4\n5\n" });
  await s.h.logged(5);
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { body } = await s.ask(`/api/v1/plugins/echo/logs?limit=2${query}`);
    pages.push(body.entries.map(({ data }: { data: { line: string } }) => data.line));
    cursor = body.next;
    assert.ok(pages.length < 10, "The cursors lead in a circle");
  }
  assert.deepEqual(pages, [["4", "5"], ["2", "3"], ["1"]]);
  const { body: { next } } = await s.ask("/api/v1/plugins/echo/logs?limit=2");
  // 1000 lines are kept: everything before the cursor is pushed out.
  await s.h.host.callMethod("echo", "echo.log", { text: `${"x\n".repeat(999)}` });
  await s.h.logged(1004);
  for (const cursor of [next, "log-9-1"]) {
    const { status, body } = await s.ask(`/api/v1/plugins/echo/logs?limit=2&cursor=${cursor}`);
    assert.deepEqual([status, body.code], [410, "http.cursor_gone"]);
  }
});
