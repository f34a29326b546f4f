import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../src/core/errors/host_error.ts";
import type { Host, Session } from "../../src/host/types.ts";
import fc from "../support/fast_check.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";

/** A plugin whose tool returns what it is given, an MCP server that does so too, and one tool that fails with a text. */
const GIVING: HostedOptions = {
  primary: { giver: {}, server: {} },
  fixtures: {
    "@test/giver": {
      fixture: "answers_hooks",
      manifest: {
        name: "giver",
        hooks: [],
        tools: ["give", "fail"].map((name) => ({ name, description: name, parameters_schema: { type: "object" } })),
      },
      files: {
        "index.js": `
          import { refuse, reply, serve } from "./wire.js";
          serve({
            "giver.give": ({ id, params }) => reply(id, params.value),
            "giver.fail": ({ id, params }) => refuse(id, -32000, params.text),
          });`,
      },
    },
    "@test/server": {
      fixture: "mcp_tools",
      manifest: { name: "server" },
      files: {
        "index.js": `
          import { mcp, serve, tool } from "./wire.js";
          serve(mcp([tool("give")], ({ arguments: { value } }) => value));`,
      },
    },
  },
};

interface Kept {
  readonly kept: { handle: string; bytes: number; tokens: number; type: string; preview: string };
  readonly note: string;
}
/** The same of an MCP server. */
interface KeptContent {
  readonly content: { type: string; text: string }[];
  readonly _meta: { readonly k?: number; readonly "kaged/kept": Kept["kept"] };
}
interface Read {
  readonly text: string;
  readonly offset: number;
  readonly next_offset: number | null;
  readonly total: number;
  readonly matches: readonly { offset: number; text: string }[];
}

const give = async (session: Session, value: unknown): Promise<unknown> =>
  (await session.callTool("giver.give", { value })).output;
const serve = async (session: Session, value: unknown): Promise<unknown> =>
  (await session.callTool("server.give", { value })).output;
const read = async (session: Session, args: object): Promise<Read> =>
  (await session.callTool("read_result", { ...args })).output as Read;

/** Reads a kept result from its beginning to its end. */
async function readAll(session: Session, args: { handle: string; limit?: number; path?: string }): Promise<string> {
  let text = "";
  for (let offset: number | null = 0; offset !== null;) {
    const piece: Read = await read(session, { ...args, offset });
    text += piece.text;
    offset = piece.next_offset;
  }
  return text;
}

const keeping = (host: Host, maxBytes = 2_000): Session => host.openSession({ results: { maxBytes } });

test("N-036 a large text is kept behind a handle, and reading it in ranges gives back all of it", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host);
  const text = "0123456789".repeat(1_000);
  const { kept: { handle, preview, ...facts }, note } = await give(session, text) as Kept;
  assert.deepEqual(facts, {
    bytes: 10_000,
    tokens: Math.ceil(JSON.stringify({ role: "tool", content: text }).length / 4),
    type: "text",
  });
  assert.equal(preview, text.slice(0, 500));
  assert.ok(note.includes(`"${handle}"`) && note.includes("read_result"));
  const first = await read(session, { handle, limit: 20 });
  assert.deepEqual(first, { handle, offset: 0, text: text.slice(0, 20), next_offset: 20, total: 10_000 });
  assert.equal((await read(session, { handle, offset: 9_995 })).text, "56789");
  assert.equal(await readAll(session, { handle }), text);
  assert.equal(await give(session, "x".repeat(2_000)), "x".repeat(2_000), "what fits is shown as it is");
});

test("N-036 a kept result comes back whole from any ranges, whatever characters it has", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host, 1_024);
  const unit = fc.constantFrom("a", "\n", '"', "\u0001", "é", "漢", "😀", "👩‍👩‍👧");
  const text = fc.string({ unit, minLength: 1_025, maxLength: 3_000 });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 1_500 }), async (given, limit) => {
      const { kept: { handle } } = await give(session, given) as Kept;
      assert.equal(await readAll(session, { handle, limit: Math.max(limit, 100) }), given);
    }),
    { numRuns: 15 },
  );
});

test("N-036 no answer of read_result is larger than results may be", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host, 1_024);
  const { kept: { handle } } = await give(session, '"needle\u0001é"\n'.repeat(1_000)) as Kept;
  for (const how of [{}, { limit: 1_000_000 }, { search: "needle", limit: 1_000 }, { search: "N", context: 20 }]) {
    const answer = await read(session, { handle, ...how });
    assert.ok(new TextEncoder().encode(JSON.stringify(answer)).length <= 1_024, JSON.stringify(how));
    assert.ok(answer.next_offset! > 0);
  }
});

test("N-036 data is kept as JSON on lines: read by search with lines around it, or by the path of a part", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host);
  const items = Array.from({ length: 200 }, (_, id) => ({ id, name: `Item ${id}`, tags: ["a", "b"] }));
  const { kept } = await give(session, { items, "a b": null }) as Kept;
  const { handle } = kept;
  assert.equal(kept.type, "json");
  assert.deepEqual(JSON.parse(await readAll(session, { handle })), { items, "a b": null });
  const { matches } = await read(session, { handle, search: "item 17" });
  assert.equal(matches.length, 11);
  assert.equal(matches[0]?.text.trim(), '"name": "Item 17",');
  const [around] = (await read(session, { handle, search: "ITEM 42", context: 1 })).matches;
  assert.match(around!.text, /"id": 42,\s+"name": "Item 42",\s+"tags": \[/);
  assert.equal((await read(session, { handle, path: "items.3.name" })).text, "Item 3");
  assert.deepEqual(JSON.parse(await readAll(session, { handle, path: "items.199" })), items[199]);
  assert.equal((await read(session, { handle, path: "a b" })).text, "null");
  const wrong = (path: string): Promise<HostError> =>
    read(session, { handle, path }).then(() => assert.fail(path), (error) => error);
  assert.equal((await wrong("items.200")).hint, '"items" is a list of 200, counted from 0');
  assert.equal((await wrong("item")).hint, "The result has items, a b");
  assert.match(
    (await wrong("__proto__.x")).message,
    /^Cannot call "read_result": path: The result has no "__proto__"$/,
  );
  const { kept: text } = await give(session, "no JSON ".repeat(1_000)) as Kept;
  await assert.rejects(read(session, { handle: text.handle, path: "x" }), { code: "tool.arguments_invalid" });
});

test("N-036 handlers of PostToolUse and listeners see the whole result before it is kept, and a changed one is kept changed", async () => {
  await using h = await hosted({ ...GIVING, events: { level: "trace" } });
  const session = keeping(h.host);
  const seen: number[] = [];
  h.host.hooks.register("PostToolUse", ({ output }) => {
    seen.push((output as string).length);
    return { action: "modify", modifiedOutput: `${output}!` };
  });
  const { kept: { handle, bytes } } = await give(session, "x".repeat(5_000)) as Kept;
  assert.deepEqual([seen, bytes], [[5_000], 5_001]);
  assert.equal((await read(session, { handle, offset: 4_999 })).text, "x!");
  assert.deepEqual(seen, [5_000], "reading is no call of a tool");
});

test("N-036 a large result of an MCP server keeps its form: a text says where it is, images and sound stay", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host);
  const text = (text: string) => ({ type: "text", text });
  const image = { type: "image", data: "A".repeat(4_000), mimeType: "image/png" };
  const small = { content: [text("short"), image] };
  assert.deepEqual(await serve(session, small), small, "an image does not count");
  const large = await serve(session, { content: [text("a".repeat(3_000)), image, text("b")], _meta: { k: 1 } });
  const { content, _meta: { k, "kaged/kept": kept }, ...rest } = large as KeptContent;
  const { handle, type, preview } = kept;
  assert.deepEqual([content[1], content.length, k, type, rest], [image, 2, 1, "text", {}]);
  assert.ok(content[0]!.text.includes(handle) && content[0]!.text.endsWith(preview));
  assert.equal(await readAll(session, { handle }), `${"a".repeat(3_000)}\n\nb`);
});

test("N-036 data of an MCP server is kept once where its text only repeats it, and beside it where it does not", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host);
  const structuredContent = { rows: Array.from({ length: 1_000 }, (_, row) => row) };
  const whole = async (value: object): Promise<unknown> => {
    const { _meta: { "kaged/kept": { handle } } } = await serve(session, value) as KeptContent;
    return JSON.parse(await readAll(session, { handle }));
  };
  const content = [{ type: "text", text: JSON.stringify(structuredContent, null, 2) }];
  assert.deepEqual(await whole({ content, structuredContent }), structuredContent);
  const other = [{ type: "text", text: "1000 rows" }];
  assert.deepEqual(await whole({ content: other, structuredContent }), { content: other, structuredContent });
  const resource = [{ type: "resource", resource: { uri: "file:///a", text: "y".repeat(3_000) } }];
  assert.deepEqual(await whole({ content: resource }), { content: resource });
  const links = Array.from({ length: 50 }, (_, at) => ({ type: "resource_link", uri: `file:///${at}`, name: "n" }));
  assert.deepEqual(await whole({ content: links }), { content: links });
});

test("N-036 nothing is kept unless it is asked for: by the session, or by a call", async () => {
  await using h = await hosted(GIVING);
  const session = h.host.openSession();
  const text = "x".repeat(100_000);
  assert.equal(await give(session, text), text);
  const { output } = await session.callTool("giver.give", { value: text }, { maxResultBytes: 5_000 });
  const { kept: { handle } } = output as Kept;
  assert.equal(await readAll(session, { handle }), text);
  const other = keeping(h.host);
  assert.equal((await other.callTool("giver.give", { value: text }, { maxResultBytes: Infinity })).output, text);
  const through = await other.callTool("call_tool", { name: "giver.give", arguments: { value: text } });
  assert.equal((through.output as Kept).kept.bytes, 100_000);
  for (const maxBytes of [0, 1_023, NaN, "2000" as unknown as number]) {
    assert.throws(() => h.host.openSession({ results: { maxBytes } }), { code: "host.misuse" });
    await assert.rejects(session.callTool("giver.give", {}, { maxResultBytes: maxBytes }), { code: "host.misuse" });
  }
  assert.throws(() => h.host.openSession({ results: { keepBytes: -1 } }), { code: "host.misuse" });
});

test("N-036 the oldest results go when there is no more room, and reading one says so", async () => {
  await using h = await hosted(GIVING);
  const session = h.host.openSession({ results: { maxBytes: 1_024, keepBytes: 10_000 } });
  const handles: string[] = [];
  const keep = async (bytes: number): Promise<void> =>
    void handles.push((await give(session, "x".repeat(bytes)) as Kept).kept.handle);
  const left = async (): Promise<number[]> => {
    const found = await Promise.allSettled(handles.map((handle) => read(session, { handle })));
    return found.flatMap(({ status }, at) => status === "fulfilled" ? [at] : []);
  };
  for (const bytes of [4_000, 4_000, 2_000]) await keep(bytes);
  assert.deepEqual(await left(), [0, 1, 2]);
  await keep(3_000);
  assert.deepEqual(await left(), [1, 2, 3]);
  await assert.rejects(read(session, { handle: handles[0]! }), {
    code: "result.dropped",
    message: `The result "${handles[0]}" is kept no longer: newer ones took its room`,
    hint: "Call the tool again, for less at once if it can",
  });
  await keep(50_000);
  assert.deepEqual(await left(), [4], "the newest is kept, however large it is");
  assert.equal((await readAll(session, { handle: handles[4]! })).length, 50_000);
  const many = h.host.openSession({ results: { maxBytes: 1_024 } });
  const first = (await give(many, "x".repeat(1_100)) as Kept).kept.handle;
  for (let count = 0; count < 99; count++) await give(many, "x".repeat(1_100));
  await read(many, { handle: first });
  await give(many, "x".repeat(1_100));
  await assert.rejects(read(many, { handle: first }), { code: "result.dropped" });
});

test("N-036 a handle is its session's alone, and ends with it", async () => {
  await using h = await hosted(GIVING);
  const [one, two] = [keeping(h.host), keeping(h.host)];
  const [first, second] = [await give(one, "1".repeat(3_000)), await give(two, "2".repeat(3_000))] as [Kept, Kept];
  assert.notEqual(first.kept.handle, second.kept.handle);
  for (const handle of [first.kept.handle, "", "x", `${second.kept.handle}0`, second.kept.handle.replace(/1$/, "01")]) {
    await assert.rejects(read(two, { handle }), { code: "result.unknown" }, handle);
  }
  await one.close();
  await assert.rejects(read(one, { handle: first.kept.handle }), { code: "session.unknown" });
  assert.match((await read(two, { handle: second.kept.handle })).text, /^2+$/);
});

test("N-036 a failure with more to say than is shown keeps its code, and its text is kept too", async () => {
  await using h = await hosted(GIVING);
  const session = keeping(h.host);
  const failure = (name: string, args: object): Promise<HostError> =>
    session.callTool(name, { ...args }).then(() => assert.fail(name), (error) => error);
  const short = await failure("giver.fail", { text: "The disk is full" });
  assert.equal(short.message, "The disk is full");
  const long = await failure("server.give", {
    value: { content: [{ type: "text", text: "trace ".repeat(1_000) }], isError: true },
  });
  const { kept: { handle } } = long.data as Kept;
  assert.equal(long.code, "mcp.tool_failed");
  assert.ok(long.message.length < 600 && long.message.startsWith("trace trace"));
  assert.ok(long.hint!.includes(handle));
  assert.equal(await readAll(session, { handle }), "trace ".repeat(1_000));
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  const structuredContent = { rows: "r".repeat(3_000) };
  const odd = await failure("server.give", { value: { content: [image], structuredContent, isError: true } });
  const { content } = odd.data as KeptContent;
  assert.deepEqual([content.length, content[1]], [2, image]);
  assert.ok(JSON.stringify([odd.message, odd.data]).length < 3_000);
  const own = await failure("giver.fail", { text: "why ".repeat(1_000) });
  assert.deepEqual(Object.keys(own.data as object), ["kept"]);
});

test("N-036 host.callTool and a run's tools.call hand out what their session keeps, and usage counts what is shown", async () => {
  await using h = await hosted(GIVING);
  const session = h.host.openSession({ id: "ses_1", results: { maxBytes: 2_000 }, usage: true });
  const at = { agent: "primary", session: "ses_1" };
  const { kept: { handle } } = await h.host.callTool("giver.give", { value: "x".repeat(40_000) }, at) as Kept;
  assert.equal((await readAll(session, { handle })).length, 40_000);
  const rows = new Map(session.usage().map(({ plugin, counted }) => [plugin, counted!]));
  assert.ok(rows.get("giver")!.resultTokens < 500);
  assert.ok(rows.get("host")!.resultTokens > 10_000 && rows.get("host")!.calls > 20);
  h.host.agent("primary", async ({ tools, session: own }) => {
    const { kept } = await tools.call("giver.give", { value: "y".repeat(3_000) }) as Kept;
    return (await read(own, { handle: kept.handle, limit: 3 })).text;
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "Hello", conversationId: "ses_1" });
  assert.equal((await h.host.jobs.finished(id)).result, "yyy");
});
