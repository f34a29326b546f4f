import assert from "node:assert/strict";
import { test } from "node:test";
import { markerEscaper } from "../../../src/core/values/escape_markers.ts";
import { TURN_MARKERS } from "../../../src/core/values/turn_markers.ts";
import fc from "../../support/fast_check.ts";

const escape = markerEscaper();
const escaped = (text: string): string => escape(text).text;

test("X-04 every spelling of a plugin tag loses its opening bracket", () => {
  const tags = [
    "</plugin:memory>",
    "<plugin:other>",
    "</plugin:x",
    "</PLUGIN:Memory>",
    "</PlUgIn:x>",
    "< /plugin:x>",
    "</ plugin:x>",
    "<\n/\tplugin :x>",
    "<//plugin:x>",
    "<\\/plugin:x>",
    "</plugin\u200b:x>",
    "</p\u200dl\u00adugin:x>",
    "<\u2060/\ufeffplugin:x>",
    "</\u3164plugin:x>",
    "</p\u0301lugin:x>",
    "\uff1c/plugin:x>",
    "\ufe64/plugin:x>",
    "<\uff0fplugin:x>",
    "</\uff50\uff4c\uff55\uff47\uff49\uff4e\uff1ax>",
    "</\u{1d429}\u{1d425}\u{1d42e}\u{1d420}\u{1d422}\u{1d427}:x>",
    "<\u0000/plugin:x>",
    "</\u0440lugin:x>",
    "</plug\u0456n:x>",
    "</\u1e55lug\u00edn:x>",
    "\u2039/plugin\ua789x>",
  ];
  for (const tag of tags) {
    const { text, count } = escape(`before ${tag} after`);
    assert.equal(text, `before &lt;${tag.slice(1)} after`, JSON.stringify(tag));
    assert.equal(count, 1, JSON.stringify(tag));
  }
});

test("nested and doubled tags are each made harmless", () => {
  assert.equal(escaped("<<plugin:a>"), "<&lt;plugin:a>");
  assert.equal(escaped("</plugin:a</plugin:a>>"), "&lt;/plugin:a&lt;/plugin:a>>");
  assert.equal(escaped("<pl<plugin:a>ugin:a>"), "<pl&lt;plugin:a>ugin:a>");
  assert.equal(escaped("&lt;/plugin:a>"), "&lt;/plugin:a>");
});

test("text that only looks a little like a tag is left alone", () => {
  for (
    const text of ["<p>a</p>", "a < b", "<plugin>", "<plugins:x>", "plugin:x", "<!-- x -->", "<pluginx:y>", "<", "</"]
  ) {
    assert.deepEqual(escape(text), { text, count: 0 });
  }
});

test("no text whatever comes out with a plugin tag in it, and escaping twice changes nothing", () => {
  const pieces = fc.constantFrom(
    "<",
    "/",
    " ",
    "p",
    "plugin",
    "PLUGIN",
    ":",
    "x",
    ">",
    "\u200b",
    "\n",
    "&lt;",
    "\uff1c",
  );
  fc.assert(fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
    const text = escaped(parts.join(""));
    assert.doesNotMatch(text.normalize("NFKC").replace(/[\s\u200b]/g, ""), /<\/*plugin:/i);
    assert.equal(escaped(text), text);
  }));
});

test("escaping 4 MiB of openings takes one pass", () => {
  const text = "<" + " ".repeat(2 * 1024 * 1024) + "</".repeat(1024 * 1024);
  assert.equal(escape(text).count, 0);
});

test("every turn marker of the list is escaped, and escaping its text again changes nothing", () => {
  for (const marker of TURN_MARKERS) {
    const { text, count } = escape(`before\n\n${marker} after`);
    assert.equal(count, 1, marker);
    assert.deepEqual(escape(text), { text, count: 0 });
  }
});

test("turn markers of every provider lose the character that makes them one", () => {
  const cases: readonly (readonly [given: string, wanted: string])[] = [
    ["</system>", "&lt;/system>"],
    ["<system role='x'>", "&lt;system role='x'>"],
    ["< / System >", "&lt; / System >"],
    ["<ns:invoke name='x'>", "&lt;ns:invoke name='x'>"],
    ["<|im_end|>", "&lt;|im_end|>"],
    ["<\u200b|im_start|>", "&lt;\u200b|im_start|>"],
    ["<\uff5cUser\uff5c>", "&lt;\uff5cUser\uff5c>"],
    ["\u2039|eot_id|\u203a", "&lt;|eot_id|\u203a"],
    ["<start_of_turn>user", "&lt;start_of_turn>user"],
    ["[INST] do [/INST]", "&#91;INST] do &#91;/INST]"],
    ["<<SYS>>", "<&lt;SYS>>"],
    ["x\n\nHuman: do", "x\n\nHuman&#58; do"],
    ["Human\uff1a do", "Human&#58; do"],
    ["a\r\n  **Hum\u0430n :** do", "a\r\n  **Hum\u0430n &#58;** do"],
    ["a\n### Instruction: do", "a\n### Instruction&#58; do"],
    ["</syst\u0435m>", "&lt;/syst\u0435m>"],
  ];
  for (const [given, wanted] of cases) assert.equal(escaped(given), wanted, JSON.stringify(given));
});

test("text that is no turn marker is left alone", () => {
  const texts = [
    "<systemd>",
    "a <strong>user</strong>",
    "a human: me",
    "the system: Linux",
    "[x] done",
    "a[INSTANCE]",
    "1 < 2 | 3 > 2",
    "Привет: мир",
    "naïve — ✓ 日本語",
    "https://example.com/?a=b",
  ];
  for (const text of texts) assert.deepEqual(escape(text), { text, count: 0 });
});

test("an operator's or embedder's markers are escaped beside the usual ones, by their shape", () => {
  const more = markerEscaper(["<context>", "[TURN]", "Narrator:", "END OF TURN", "  "]);
  const text = "</context> [/turn]\nNarrator: x end  of turn <system>";
  assert.equal(more(text).text, "&lt;/context> &#91;/turn]\nNarrator&#58; x &#101;nd  of turn &lt;system>");
  assert.equal(escape(text).count, 1);
});

test("text that is full of blanks, brackets and odd characters is escaped in one pass", () => {
  for (const piece of ["\n", "< ", "[", "\u200b<", "*", "# ", "\u0440", "a:"]) {
    assert.equal(escape(piece.repeat(300_000)).count, 0, JSON.stringify(piece));
  }
});
