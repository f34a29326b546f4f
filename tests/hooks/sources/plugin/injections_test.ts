import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { byteLength, cutText } from "../../../../src/core/values/cut_text.ts";
import { openInjections } from "../../../../src/hooks/sources/plugin/injections.ts";
import fc from "../../../support/fast_check.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

test("K-019 injected text is wrapped under the plugin's name and recorded", async () => {
  const wrapped = await openInjections().wrap("memory", "on_session_start", "Uses bun");
  assert.deepEqual(wrapped, {
    text: "<plugin:memory>\nUses bun\n</plugin:memory>",
    injection: { plugin: "memory", hook: "on_session_start", bytes: 8, sha256: sha256("Uses bun"), cut: false },
    returnedBytes: 8,
    escapedTags: 0,
  });
});

test("X-04 text that brings its own wrap is wrapped once more, its tags escaped", async () => {
  const own = "<plugin:memory>\nKnown\n</plugin:memory>";
  const { text, escapedTags } = (await openInjections().wrap("memory", "post_compact", own))!;
  assert.equal(text, "<plugin:memory>\n&lt;plugin:memory>\nKnown\n&lt;/plugin:memory>\n</plugin:memory>");
  assert.equal(escapedTags, 2);
});

test("K-019 an empty text is no injection", async () => {
  assert.equal(await openInjections().wrap("memory", "on_session_start", ""), null);
});

test("text above 32 KiB is cut, and the block, the record and the hash say of what", async () => {
  const text = "ä".repeat(20_000);
  const { text: block, injection, returnedBytes } = (await openInjections().wrap("memory", "on_session_start", text))!;
  assert.deepEqual(injection, {
    plugin: "memory",
    hook: "on_session_start",
    bytes: 32768,
    sha256: sha256(text),
    cut: true,
  });
  assert.equal(returnedBytes, 40_000);
  const notice = "[cut by the host: 32768 of 40000 bytes are shown]";
  assert.equal(block, `<plugin:memory>\n${"ä".repeat(16_384)}\n${notice}\n</plugin:memory>`);
});

test("text that escaping makes larger than its room is cut as well", async () => {
  const { text, injection } = (await openInjections({ pluginBytes: 30, totalBytes: 100 }).wrap(
    "a",
    "on_session_start",
    "<plugin:b>".repeat(3),
  ))!;
  assert.deepEqual([injection.bytes, injection.cut], [30, true]);
  assert.equal(
    text,
    "<plugin:a>\n&lt;plugin:b>&lt;plugin:b>&lt;\n[cut by the host: 30 of 39 bytes are shown]\n</plugin:a>",
  );
});

test("text of exactly 32 KiB is whole", async () => {
  const { injection } = (await openInjections().wrap("memory", "on_session_start", "x".repeat(32_768)))!;
  assert.deepEqual([injection.bytes, injection.cut], [32_768, false]);
});

test("one plugin's texts share its room, and all plugins share 128 KiB", async () => {
  const injections = openInjections();
  const bytes = async (plugin: string, size: number) =>
    (await injections.wrap(plugin, "pre_compact", "x".repeat(size)))!.injection.bytes;
  assert.deepEqual([await bytes("a", 20_000), await bytes("a", 20_000)], [20_000, 12_768]);
  assert.deepEqual(
    [await bytes("b", 40_000), await bytes("c", 40_000), await bytes("d", 40_000)],
    Array(3).fill(32_768),
  );
  const { text, injection } = (await injections.wrap("e", "pre_compact", "late"))!;
  assert.deepEqual([injection.bytes, injection.cut], [0, true]);
  assert.equal(text, "<plugin:e>\n[cut by the host: 0 of 4 bytes are shown]\n</plugin:e>");
});

test("a tag that the cut would end in does not come back to life", async () => {
  const limits = { pluginBytes: 10, totalBytes: 100 };
  for (let lead = 0; lead < 12; lead++) {
    const returned = "x".repeat(lead) + "</plugin:a>";
    const { text } = (await openInjections(limits).wrap("a", "on_session_start", returned))!;
    assert.equal(text.match(/<\/plugin:a>/g)?.length, 1, text);
  }
});

test("cutText() keeps whole characters within the bytes, and loses no more than one", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(120), (text, maxBytes) => {
    const kept = cutText(text, maxBytes);
    assert.ok(text.startsWith(kept) && kept.isWellFormed());
    assert.ok(byteLength(kept) <= maxBytes);
    if (kept !== text) assert.ok(byteLength(kept) > maxBytes - 4);
  }));
});

test("cutText() of nothing, to nothing, or below nothing is empty", () => {
  assert.deepEqual([cutText("", 5), cutText("abc", 0), cutText("abc", -1)], ["", "", ""]);
});

test("half a character in a plugin's text becomes a replacement character", async () => {
  const { text } = (await openInjections().wrap("a", "on_session_start", "x\ud83d"))!;
  assert.equal(text, "<plugin:a>\nx\ufffd\n</plugin:a>");
});
