import assert from "node:assert/strict";
import { test } from "node:test";
import { agentHooks } from "../../../../src/hooks/agent/agent_hooks.ts";
import { errorSignature } from "../../../../src/hooks/sources/builtin/error_signature.ts";
import { redactJson, redactText } from "../../../../src/hooks/sources/builtin/redact.ts";
import { secretRedactor } from "../../../../src/hooks/sources/builtin/secret_redactor.ts";
import { stage } from "../../engine/stage.ts";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
/** Made here, so that no scanner of this repository takes them for real ones. */
const SECRETS: Record<string, string> = {
  "AWS key": `AKIA${"Q".repeat(16)}`,
  "GitHub token": `ghp_${letters.slice(0, 36)}`,
  "GitLab token": `glpat-${letters.slice(0, 20)}`,
  "Slack token": `xoxb-${letters.slice(0, 24)}`,
  "Google key": `AIza${letters.slice(0, 35)}`,
  "API key": `sk-proj-${letters.slice(0, 30)}`,
  "npm token": `npm_${letters.slice(0, 36)}`,
  "Hugging Face token": `hf_${letters.slice(0, 34)}`,
  "Azure key": `${letters}${letters.slice(0, 30)}+ASt${letters.slice(0, 5)}A==`,
  "Azure secret": `abc8Q~${letters.slice(0, 34)}`,
  JWT: `eyJ${letters.slice(0, 20)}.${letters.slice(0, 20)}.${letters.slice(0, 20)}`,
};

test("B-018 secrets of known shapes are taken out, and what stands around them stays", () => {
  for (const [what, secret] of Object.entries(SECRETS)) {
    assert.deepEqual(redactText(`before ${secret} after`), { text: `before [redacted: ${what}] after`, count: 1 });
  }
});

test("B-018 what follows Bearer, a user in an address, or the word password is a secret", () => {
  const cases: [string, string][] = [
    [`Authorization: Bearer ${letters}`, "Authorization: Bearer [redacted: credentials]"],
    ["https://me:hunter2@example.com/x", "https://me:[redacted: password]@example.com/x"],
    ["DB_PASSWORD=hunter2!", "DB_PASSWORD=[redacted: password]"],
    ['{"api_key": "abc123def"}', '{"api_key": "[redacted: api_key]"}'],
    [
      `AccountName=store;AccountKey=${letters}==;EndpointSuffix=x`,
      "AccountName=store;AccountKey=[redacted: accountkey];EndpointSuffix=x",
    ],
    [
      `Endpoint=sb://x/;SharedAccessKeyName=all;SharedAccessKey=${letters}=`,
      "Endpoint=sb://x/;SharedAccessKeyName=all;SharedAccessKey=[redacted: accesskey]",
    ],
    [
      `https://x.blob.core.windows.net/a?sv=2024&sig=${letters}%3D&se=1`,
      "https://x.blob.core.windows.net/a?sv=2024&sig=[redacted: signature]&se=1",
    ],
    ["password: string;", "password: string;"],
    ['"totalTokens": 1234567', '"totalTokens": 1234567'],
    ["https://example.com:8080/a@b", "https://example.com:8080/a@b"],
  ];
  for (const [text, wanted] of cases) assert.equal(redactText(text).text, wanted);
});

test("B-018 private keys go whole, and one without an end takes the rest of the text with it", () => {
  const [begin, end] = ["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"];
  assert.equal(redactText(`a ${begin}\nMIIE\n${end} b`).text, "a [redacted: private key] b");
  assert.equal(redactText(`a ${begin}\nMIIE`).text, "a [redacted: private key]");
  const certificate = "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----";
  assert.equal(redactText(certificate).text, certificate);
  assert.equal(redactText(`${certificate}\n${begin}\nx\n${end}`).text, `${certificate}\n[redacted: private key]`);
});

test("B-018 data is redacted text by text; fields whose name says secret lose theirs whole", () => {
  const data = { token: "plain words", nested: [{ client_secret: "abcd", n: 1 }, `x ${SECRETS["AWS key"]}`], ok: null };
  assert.deepEqual(redactJson(data), {
    value: {
      token: "[redacted: token]",
      nested: [{ client_secret: "[redacted: client_secret]", n: 1 }, "x [redacted: AWS key]"],
      ok: null,
    },
    count: 3,
  });
});

test("B-018 a secret that is the key of a map goes too, and no field is lost for it", () => {
  const [first, second] = [SECRETS["GitHub token"]!, SECRETS["GitHub token"]!.replace("a", "b")];
  assert.deepEqual(redactJson({ [first]: 1, [second]: { [first]: "x" }, plain: 2 }), {
    value: {
      "[redacted: GitHub token]": 1,
      "[redacted: GitHub token] 2": { "[redacted: GitHub token]": "x" },
      plain: 2,
    },
    count: 3,
  });
});

test("B-018 keys in camelCase name secrets too; tokens to read on with are none", () => {
  const { value } = redactJson({
    accountKey: "abcdef",
    clientSecret: "abcdef",
    accessToken: "abcdef",
    dbPassword: "abcdef",
    nextPageToken: "abcdef",
    passwordHint: "abcdef",
    keyName: "abcdef",
  });
  assert.deepEqual(value, {
    accountKey: "[redacted: accountkey]",
    clientSecret: "[redacted: clientsecret]",
    accessToken: "[redacted: accesstoken]",
    dbPassword: "[redacted: dbpassword]",
    nextPageToken: "abcdef",
    passwordHint: "abcdef",
    keyName: "abcdef",
  });
});

test("B-018 hostile text costs no more than its length", () => {
  const hostile = ["-----BEGIN ", "eyJ-", "eyJa.", "://a:", "password=", "sk-", "bearer ", "xoxb-", "a@"];
  for (const piece of hostile) redactText(piece.repeat(400_000 / piece.length));
  for (const piece of ["/a", "0x1", "a ", "https://", "2026-01-01T", "c:\\"]) errorSignature(piece.repeat(100_000));
});

test("B-018 secretRedactor() modifies a tool's output before anyone else sees it", async () => {
  const s = stage();
  s.engine.add(secretRedactor({ secrets: ["opensesame"] }));
  const seen: unknown[] = [];
  s.engine.register("PostToolUse", ({ output }) => void seen.push(output), { priority: 6 });
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const { output, warnings } = await hooks.afterTool({ name: "env", output: { text: `opensesame ${SECRETS["JWT"]}` } });
  const wanted = { text: "[redacted: secret] [redacted: JWT]" };
  assert.deepEqual([output, seen, warnings], [wanted, [wanted], ["2 secrets taken out of what env returned"]]);
  assert.deepEqual((await hooks.afterTool({ name: "env", output: "nothing here" })).output, "nothing here");
  assert.deepEqual(s.engine.list().map(({ onFailure, priority }) => [onFailure, priority]), [
    ["block", 5],
    ["pass", 6],
    ["block", 5],
  ]);
});

test("B-018 secretRedactor() takes secrets out of the text of an error, which the output then replaces", async () => {
  const s = stage();
  s.engine.add(secretRedactor());
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const error = new Error(`login failed with ${SECRETS["Hugging Face token"]}`);
  const wanted = "login failed with [redacted: Hugging Face token]";
  const { output, warnings, blocked } = await hooks.afterTool({ name: "env", error });
  assert.deepEqual([output, warnings, blocked], [wanted, ["1 secret taken out of what env failed with"], false]);
  assert.equal((await hooks.onError(error)).output, wanted);
  assert.equal((await hooks.afterTool({ name: "env", error: "exit 1" })).output, undefined, "others stay as they are");
  const both = await hooks.afterTool({ name: "env", output: `x ${SECRETS["JWT"]}`, error: "exit 1" });
  assert.equal(both.output, "x [redacted: JWT]");
});

test("B-017 a signature is what stays the same when the same thing fails again", () => {
  const cases: [string, string][] = [
    ["ENOENT: no such file, open '/home/me/x/a.json'", "enoent: no such file, open '<path>'"],
    ["Timeout after 3041 ms at 2026-01-02T03:04:05.678Z", "timeout after <n> ms at <time>"],
    ["GET https://example.com/a?b=1 failed", "get <url> failed"],
    ["Object 3f2504e0-4f89-41d3-9a0c-0305e82c3301 gone", "object <id> gone"],
    ["at 0x7ffe12ab34cd in deadbeef1234", "at <hex> in <hex>"],
    ["C:\\Users\\me\\a.txt  is\n locked", "<path> is locked"],
    [`login failed for ${SECRETS["AWS key"]}`, "login failed for [redacted: aws key]"],
  ];
  for (const [message, wanted] of cases) assert.equal(errorSignature(message), wanted);
  assert.equal(errorSignature("x".repeat(10_000)).length, 240);
});
