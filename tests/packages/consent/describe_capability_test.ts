import assert from "node:assert/strict";
import { test } from "node:test";
import { describeCapability } from "../../../src/packages/consent/describe_capability.ts";

const paths = {
  installDir: "/plugins/notes",
  home: "/srv/kaged",
  projectDir: "/srv/music",
  userHome: "/home/ada",
};
const described = (capability: string, own = {}) => describeCapability(capability, { paths: { ...paths, ...own } });
const text = (capability: string, own = {}): string => described(capability, own).text;
const danger = (capability: string, own = {}): string => described(capability, own).danger ?? "";

test("describeCapability() says each capability in plain words", () => {
  const texts: [string, string][] = [
    ["read:fs:/opt/oh-my-pi", "Can read everything under /opt/oh-my-pi"],
    ["write:fs:/opt/notes/out", "Can read, change and delete everything under /opt/notes/out"],
    ["read:fs:config:/notes", "Can read everything under config:/notes (/srv/kaged/files/notes)"],
    ["write:fs:project:/out", "Can read, change and delete everything under project:/out (/srv/music/out)"],
    ["read:fs:plugin:/data", "Can read everything under plugin:/data (/plugins/notes/data)"],
    ["exec:jq:plugin:/", "Can run the program jq"],
    ["exec:jq:/opt/notes", "Can run the program jq, and read everything under /opt/notes"],
    ["net:[]", "Has no network"],
    ["net:*", "Can use the whole network"],
    ["net:API.example.com:443", "Can connect to api.example.com on port 443"],
    ["net:api.example.com:*", "Can connect to api.example.com on every port"],
    ["kaged:storage:read", "Can read the rows it kept"],
    ["kaged:storage:write", "Can keep rows in tables of its own"],
  ];
  for (const [capability, expected] of texts) assert.equal(text(capability), expected);
  const outside = "Can read everything under project:/a (in the folder of whatever project uses it)";
  assert.equal(text("read:fs:project:/a", { projectDir: null }), outside);
});

test("describeCapability() refuses what is no capability", () => {
  assert.throws(() => described("read:everything"), { code: "capability.invalid" });
});

test("describeCapability() marks what gives away more than it seems, and says why", () => {
  const marked: [string, RegExp][] = [
    ["net:*", /every machine/],
    ["net:localhost:8080", /services of this machine/],
    ["net:127.0.0.1:80", /services of this machine/],
    ["net:[::1]:80", /services of this machine/],
    ["net:10.0.0.5:443", /private network/],
    ["net:169.254.169.254:80", /private network/],
    ["write:fs:/home/ada", /your home folder/],
    ["write:fs:/home", /your home folder/],
    ["read:fs:/home/ada", /keys, tokens/],
    ["read:fs:/home/ada/.ssh", /keys and tokens/],
    ["write:fs:/home/ada/.bashrc", /run and trust/],
    ["write:fs:/home/ada/.config/systemd", /run and trust/],
    ["write:fs:/srv", /broad folder/],
    ["write:fs:/anything", /broad folder/],
    ["read:fs:/var", /broad folder/],
    ["write:fs:project:/", /whole project/],
    ["exec:bash:plugin:/", /any script/],
    ["exec:sh:plugin:/", /any script/],
    ["exec:python3.11:plugin:/", /any script/],
    ["exec:node:plugin:/", /any script/],
    ["exec:env:plugin:/", /other programs/],
    ["exec:jq:/home/ada", /your home folder/],
  ];
  for (const [capability, why] of marked) assert.match(danger(capability), why, capability);
  const underHome = { home: "/home/ada/.local/share/kaged" };
  assert.match(danger("write:fs:config:/", underHome), /run and trust/);
});

test("describeCapability() leaves narrow grants unmarked", () => {
  const narrow = [
    ...["read:fs:/opt/oh-my-pi", "write:fs:/opt/notes/out", "write:fs:config:/notes", "write:fs:project:/out"],
    ...["read:fs:project:/", "exec:jq:plugin:/", "exec:shuf:plugin:/", "net:api.example.com:443", "net:1.1.1.1:53"],
    ...["net:[]", "kaged:storage:write", "write:fs:/home/ada/notes", "read:fs:/home/adam"],
  ];
  for (const capability of narrow) assert.equal(danger(capability), "", capability);
  assert.equal(danger("write:fs:/home/ada/notes", { userHome: null }), "");
  assert.equal(danger("write:fs:config:/notes", { home: "/home/ada/.local/share/kaged" }), "");
});
