import assert from "node:assert/strict";
import { test } from "node:test";
import { type Hosted, hosted } from "../support/hosted.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { type KagedRun, runKaged } from "../support/run_kaged.ts";

const kaged = (h: Hosted, ...args: string[]): Promise<KagedRun> => runKaged(["approvals", ...args, "--home", h.home]);

/** A host whose server asks for forms, and an open session. */
async function asking(): Promise<Hosted> {
  const fixtures = { "@test/library": "mcp_library" };
  const h = await hosted({ primary: { library: {} }, fixtures, mcp: { offers: ["elicitation"] } });
  h.host.openSession({ id: "ses_1" });
  return h;
}

/** A form that waits; `answer` is what the server gets. */
async function asked(h: Hosted, tool = "elicit"): Promise<{ answer: Promise<unknown>; id: string }> {
  const at = { agent: "primary", session: "ses_1" };
  const answer = h.host.callTool(`mcp-library.${tool}`, {}, at).then((output) => {
    return JSON.parse((output as { content: { text: string }[] }).content[0]!.text);
  });
  return { answer, id: (await h.next("approval.requested")).data.approval_id };
}

test("N-030 kaged approvals shows a form by its fields, and allow --content fills it in", async () => {
  await using h = await asking();
  const { id, answer } = await asked(h);
  assert.match(
    (await kaged(h, "list")).stdout,
    /^apr_\S+ elicit of mcp-library, primary \(music\), asked by mcp-library/,
  );
  const { stdout } = await kaged(h, "show", id);
  assert.match(stdout, /why: mcp-library asks for what the form says/);
  assert.match(stdout, /it says:\n.*Where to\?/);
  assert.ok(
    stdout.endsWith(`  fields:
    email: E-mail, email, required
    copies: copies, a whole number, at least 1, at most 9
    color: color, one of red (Red), blue (Blue)
    loud: loud, yes or no
`),
    stdout,
  );
  const wrong = await kaged(h, "allow", id, "--content", '{"email":"ann"}');
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stderr,
    /error\[approval\.answer_invalid\]: .*email: It is no e-mail address[^]*fields: email, copies/,
  );
  assert.equal((await kaged(h, "allow", id, "--content", "{email")).code, 2);
  assert.equal((await kaged(h, "allow", id, "--content", '{"email":"ann@example.org"}')).code, 0);
  assert.deepEqual(await answer, { action: "accept", content: { email: "ann@example.org" } });
  const url = await asked(h, "elicit_url");
  assert.match(
    (await kaged(h, "show", url.id)).stdout,
    /open this address yourself.*: https:\/\/login\.example\/start\?a=1/,
  );
  assert.equal((await kaged(h, "deny", url.id)).code, 0);
  assert.deepEqual(await url.answer, { action: "decline" });
});

test("N-030 the person at a terminal fills a form in, field by field", async (t) => {
  if (!await canUseTerminal(t)) return;
  await using h = await asking();
  const { answer } = await asked(h);
  const down = "\u001b[B";
  const run = onTerminal(["approvals", "--home", h.home], [
    ["elicit: allow it?", "\r", "Leave it"],
    ["E-mail (email):", "ann@example.org\r", "email):"],
    ["copies (", "\u007f4\r", "leave it out:"],
    ["color", `${down}\r`, "(leave it empty)"],
    ["loud", `${down}${down}\r`, "(leave it empty)"],
    ["New ones are shown", "\u0003", "Ctrl-C ends."],
  ]);
  assert.deepEqual(await answer, {
    action: "accept",
    content: { email: "ann@example.org", copies: 4, color: "blue" },
  });
  assert.match((await run).shown, /✓ Allowed elicit/);
});
