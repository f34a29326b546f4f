import assert from "node:assert/strict";
import { test } from "node:test";
import { escapePluginTags } from "../../../../src/hooks/sources/plugin/injections.ts";
import fc from "../../../support/fast_check.ts";

const escaped = (text: string): string => escapePluginTags(text).text;

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
  ];
  for (const tag of tags) {
    const { text, tags: count } = escapePluginTags(`before ${tag} after`);
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
    assert.deepEqual(escapePluginTags(text), { text, tags: 0 });
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
  assert.equal(escapePluginTags(text).tags, 0);
});
