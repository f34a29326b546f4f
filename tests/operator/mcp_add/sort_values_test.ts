import assert from "node:assert/strict";
import { test } from "node:test";
import { knownHosts } from "../../../src/operator/mcp_add/secret_hosts.ts";
import { type RawValues, sortValues } from "../../../src/operator/mcp_add/sort_values.ts";

const asked = {
  "input:key": { description: "API key", isSecret: true, isRequired: true, fallback: null },
  "input:region": { description: "Region", isSecret: false, isRequired: true, fallback: "eu" },
  "user_config.dir": { description: "Folder", isSecret: false, isRequired: true, fallback: null },
  "user_config.extra": { description: "Extra", isSecret: false, isRequired: false, fallback: null },
};

function sort(values: Partial<RawValues>) {
  return sortValues({
    args: [],
    env: {},
    headers: {},
    asked,
    known: { workspaceFolder: "/w", __dirname: "." },
    given: {},
    secret: [],
    hostEnv: (name) => name === "SET" ? "from the host" : null,
    ...values,
  });
}

test("N-031 variables that look like credentials become secrets, and their values stay out of the manifest", () => {
  const { env, secrets } = sort({
    env: {
      GITHUB_TOKEN: "ghp_abcdefgh",
      OPENAI_API_KEY: "${OPENAI_API_KEY}",
      FAR_SECRET: "<your secret>",
      HEADERS: '{"Authorization": "Bearer abcdefghijk"}',
      DATABASE: "postgres://ann:pw@db.example.org/x",
      S: "${input:key}",
      MEMORY_FILE_PATH: "/m.json",
      MODE: "fast",
      SOURCE: "x",
    },
    secret: ["SOURCE"],
  });
  assert.deepEqual(env, { MEMORY_FILE_PATH: "/m.json", MODE: "fast" });
  assert.deepEqual(secrets.map(({ key, value }) => [key, value.kind]), [
    ["github_token", "literal"],
    ["openai_api_key", "reference"],
    ["far_secret", "unset"],
    ["headers", "literal"],
    ["database", "literal"],
    ["s", "unset"],
    ["source_value", "literal"], // The record of the plugin has a field "source".
  ]);
  assert.equal(secrets.find(({ key }) => key === "s")!.description, "API key");
});

test("plain settings are filled in from the operator, defaults and the host, and one without a value is named", () => {
  const { args, env, missing } = sort({
    args: ["${workspaceFolder}/a", "${__dirname}/b", "${user_config.dir}", "${env:SET}", "${NOT:-d}"],
    env: { REGION: "${input:region}", EXTRA: "${user_config.extra}", LOST: "${LOST_VALUE}", GIVEN: "old" },
    given: { dir: "/given", GIVEN: "new", MORE: "more" },
  });
  assert.deepEqual(args, ["/w/a", "./b", "/given", "from the host", "d"]);
  assert.deepEqual(env, { REGION: "eu", EXTRA: "", LOST: "${LOST_VALUE}", GIVEN: "new", MORE: "more" });
  assert.deepEqual(missing, [{ where: "LOST", name: "LOST_VALUE", description: "LOST_VALUE" }]);
});

test("N-031 a secret among the arguments is refused: everybody on the machine could read it", () => {
  const refused: string[][] = [
    ["--api-key", "abc"],
    ["--token=abc"],
    ["${input:key}"],
    ["${GITHUB_TOKEN}"],
    ["postgres://ann:pw@db.example.org/x"],
    ["ghp_abcdefgh"],
  ];
  for (const args of refused) {
    assert.throws(() => sort({ args }), (error: Error & { code: string }) => {
      assert.equal(error.code, "mcp_add.secret_in_argument", args.join(" "));
      assert.ok(!/abc|pw@/.test(error.message), error.message);
      return true;
    });
  }
  assert.deepEqual(sort({ args: ["--tokens", "5", "postgres://db.example.org/x"] }).args.length, 3);
});

test("headers keep the word before the token apart from it", () => {
  const { headers, secrets } = sort({ headers: { Authorization: "Bearer ${FAR_TOKEN}", "X-Team": "a" } });
  assert.deepEqual(headers, { "X-Team": "a" });
  assert.deepEqual(secrets.map(({ key, carrier, value }) => [key, carrier, value]), [
    ["authorization", { header: "Authorization", prefix: "Bearer " }, { kind: "reference", text: "${FAR_TOKEN}" }],
  ]);
});

test("the hosts of a secret are those of an address beside it, else of a service that its name says", () => {
  const [github, gitlab, other] = sort({ env: { GITHUB_TOKEN: "", GITLAB_TOKEN: "", OTHER_TOKEN: "" } }).secrets;
  assert.deepEqual(knownHosts(github!, {}), ["api.github.com:443"]);
  assert.deepEqual(knownHosts(gitlab!, { GITLAB_API_URL: "https://git.example.org:8443/api" }), [
    "git.example.org:8443",
  ]);
  assert.equal(knownHosts(other!, {}), null);
});
