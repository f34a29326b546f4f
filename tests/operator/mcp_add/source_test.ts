import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isSameServer,
  parsePackage,
  parseServerSource,
  serverSourceText,
} from "../../../src/operator/mcp_add/source.ts";
import { freeName, suggestedName, validName } from "../../../src/operator/mcp_add/names.ts";

const read = (text: string) => parseServerSource(text, (path) => path.startsWith("/") ? path : `/home/ada/${path}`);

test("N-031 a source is a package, a folder, a bundle or an address, and reads the same from the record", () => {
  const cases: [string, unknown, string][] = [
    ["memory-server", { kind: "npm", package: "memory-server", range: "" }, "npm:memory-server"],
    ["npm:@a/b@^1.2", { kind: "npm", package: "@a/b", range: "^1.2" }, "npm:@a/b@^1.2"],
    ["@a/b@latest", { kind: "npm", package: "@a/b", range: "" }, "npm:@a/b"],
    ["./x", { kind: "folder", path: "/home/ada/./x", entry: null }, "/home/ada/./x"],
    ["a/b", { kind: "folder", path: "/home/ada/a/b", entry: null }, "/home/ada/a/b"],
    ["x.mcpb", { kind: "bundle", path: "/home/ada/x.mcpb" }, "mcpb:/home/ada/x.mcpb"],
    ["/a/x.dxt", { kind: "bundle", path: "/a/x.dxt" }, "mcpb:/a/x.dxt"],
    [
      "https://mcp.example.org/mcp",
      { kind: "remote", url: "https://mcp.example.org/mcp" },
      "mcp+https://mcp.example.org/mcp",
    ],
  ];
  for (const [text, source, kept] of cases) {
    assert.deepEqual(read(text), source, text);
    assert.equal(serverSourceText(read(text)), kept, text);
    assert.deepEqual(read(kept), source, kept);
  }
});

test("N-031 a package that npm would look for outside its registry is no source", () => {
  for (
    const text of ["github:a/b", "git+ssh:x", "npm:a/b/c", "@a/b@file:../x", "x@git+https:y", "a b", "-g", "x@$(id)"]
  ) {
    assert.equal(parsePackage(text.replace(/^npm:/, "")), null, text);
  }
  assert.throws(() => read("npm:a/b/c"), { code: "mcp_add.source_invalid" });
  assert.throws(() => read("what is this"), { code: "mcp_add.source_invalid" });
  assert.throws(() => read("https://user:pw@example.org/mcp"), { code: "mcp_add.source_invalid", message: /password/ });
});

test("two versions of a package are the same server, two folders are not", () => {
  assert.ok(isSameServer(read("npm:a@1"), read("a@2")));
  assert.ok(!isSameServer(read("./a"), read("./b")));
});

test("names are short, valid, free, and not those of built-in tools", () => {
  const names = [
    "@modelcontextprotocol/server-memory",
    "@playwright/mcp",
    "mcp",
    "@notionhq/notion-mcp-server",
    "9lives",
    "search",
  ];
  assert.deepEqual(names.map(suggestedName), ["memory", "playwright", "mcp", "notion", "mcp-9lives", "search-mcp"]);
  assert.equal(validName("My GitHub (work)"), "my-git-hub-work");
  assert.deepEqual(["日本", "x"].map(validName), ["mcp", "mcp-x"]);
  assert.match(validName("x".repeat(200)), /^x{60}$/);
  assert.equal(freeName("a", (name) => ["a", "a-2"].includes(name)), "a-3");
});
