import assert from "node:assert/strict";
import { test } from "node:test";
import { indexOfTools, indexTools, type SearchedTool, searchIndex } from "../../../src/core/tools/search_index.ts";
import type { AgentTool } from "../../../src/core/tools/tool_registry.ts";
import fc from "../../support/fast_check.ts";

const tool = (name: string, description = "", properties: object = {}): SearchedTool => ({
  name,
  description,
  parametersSchema: { type: "object", properties },
});
const found = (tools: readonly SearchedTool[], query: string): string[] =>
  searchIndex(indexTools(tools), query).map(({ name }) => name);

const DESK: readonly SearchedTool[] = [
  tool("mail.send", "Sends an e-mail message to people", { to: { type: "string", description: "Addresses" } }),
  tool("mail.list", "Lists messages of a folder", { folder: { type: "string" } }),
  tool("calendar.create_event", "Creates a meeting", { attendees: { description: "People who are invited" } }),
  tool("files.readFile", "Returns the text of a file", { path: { type: "string" } }),
  tool("weather.forecast", "Weather of the next days", { city: { type: "string" } }),
];

test("N-036 a search finds tools by name, description, and names and descriptions of properties", () => {
  assert.deepEqual(found(DESK, "forecast"), ["weather.forecast"]);
  assert.deepEqual(found(DESK, "meeting"), ["calendar.create_event"]);
  assert.deepEqual(found(DESK, "attendees"), ["calendar.create_event"]);
  assert.deepEqual(found(DESK, "invited"), ["calendar.create_event"]);
  assert.deepEqual(found(DESK, "submarine"), []);
});

test("N-036 a word counts for more in a name than in a description, and a rare word for more than a common one", () => {
  assert.deepEqual(found(DESK, "send a message")[0], "mail.send");
  assert.deepEqual(found([tool("a.x", "About mail"), tool("b.mail", "About x")], "mail"), ["b.mail", "a.x"]);
  const common = [1, 2, 3, 4].map((number) => tool(`n.tool${number}`, "reads data"));
  assert.deepEqual(found([...common, tool("z.tool", "reads polygons")], "reads polygons")[0], "z.tool");
});

test("N-036 words agree across case, camel case, separators, plurals and accents, and find longer words they begin", () => {
  for (const query of ["read file", "READ_FILES", "readFile", "read-file", "files.readFile", "files__readfile"]) {
    assert.equal(found(DESK, query)[0], "files.readFile", query);
  }
  assert.deepEqual(found([tool("a.b", "Répertoires")], "repertoire"), ["a.b"]);
  assert.deepEqual(found(DESK, "calend"), ["calendar.create_event"]);
  assert.deepEqual(found(DESK, "ca"), [], "two letters begin too much");
  assert.deepEqual(found([tool("a.long", "messenger"), tool("b.whole", "message")], "message"), ["b.whole"]);
});

test("N-036 small words of a sentence find nothing by themselves, unless a query has no others", () => {
  assert.deepEqual(found(DESK, "how do I send this to the people?"), ["mail.send", "calendar.create_event"]);
  assert.deepEqual(found(DESK, "of the"), ["weather.forecast", "files.readFile", "mail.list"]);
});

test("N-036 a tool that is asked for by its name comes first, whatever else has the words", () => {
  const loud = tool("loud.search", "list list list mail list mail.list mail list");
  for (const query of ["mail.list", "mail__list", "list", " MAIL.LIST "]) {
    assert.equal(found([...DESK, loud], query)[0], "mail.list", query);
  }
});

test("N-036 equal tools come in the order of their names, however they were listed; no word finds all", () => {
  const tools = ["c.same", "a.same", "b.same"].map((name) => tool(name, "does one thing"));
  assert.deepEqual(found(tools, "thing"), ["a.same", "b.same", "c.same"]);
  assert.deepEqual(found(tools, "  …  "), ["a.same", "b.same", "c.same"]);
  const alike = [tool("y1.same", "alpha"), tool("x1.same", "gamma")];
  for (const query of ["alpha gamma", "gamma alpha"]) assert.deepEqual(found(alike, query), ["x1.same", "y1.same"]);
  assert.deepEqual(found([], "thing"), []);
});

test("N-036 the order of a search does not depend on the order of the list", () => {
  const words = fc.constantFrom("mail", "send", "list", "file", "read", "day");
  const tools = fc.uniqueArray(fc.tuple(fc.string({ unit: words, minLength: 1, maxLength: 3 }), fc.array(words)), {
    selector: ([name]) => name,
    maxLength: 12,
  });
  fc.assert(fc.property(tools, fc.array(words, { maxLength: 3 }), (given, query) => {
    const list = given.map(([name, about]) => tool(`p.${name}`, about.join(" ")));
    const ranked = found(list, query.join(" "));
    assert.deepEqual(found([...list].reverse(), query.join(" ")), ranked);
    assert.equal(new Set(ranked).size, ranked.length);
  }));
});

test("N-036 values of a schema are no words of a tool, and nested properties are", () => {
  const nested = { filter: { anyOf: [{ type: "object", properties: { latitude: { enum: ["polar"] } } }] } };
  const list = [tool("map.find", "", nested), tool("other.tool", "")];
  assert.deepEqual(found(list, "latitude"), ["map.find"]);
  assert.deepEqual(found(list, "polar"), []);
  const titled = { ...tool("srv.t1"), definition: { title: "Translate a page" } };
  assert.deepEqual(found([titled, ...list], "translate"), ["srv.t1"]);
});

test("N-036 a hostile tool costs a search no more than its share: deep and wide schemas, endless texts", () => {
  let deep: object = { description: "abyss" };
  for (let level = 0; level < 5_000; level++) deep = { items: deep };
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`wide${at}x`, {}]));
  const list = [
    tool("a.deep", "", { deep }),
    tool("a.wide", "", wide),
    tool("a.long", `${"filler ".repeat(100_000)} abyss`),
    { ...tool("a.odd"), parametersSchema: { properties: [null, 7, { description: 8 }], items: "x" } },
  ];
  assert.deepEqual(found(list, "abyss"), []);
  assert.deepEqual(found(list, "wide0x"), ["a.wide"]);
  assert.ok(indexTools(list).postings.size < 2_000);
  assert.deepEqual(found(list, "odd ".repeat(10_000)), ["a.odd"]);
});

test("N-036 one list is indexed once", () => {
  const tools = new Map([["a.b", tool("a.b", "finds") as AgentTool]]);
  assert.equal(indexOfTools(tools), indexOfTools(tools));
  assert.notEqual(indexOfTools(tools), indexOfTools(new Map(tools)));
});
