import assert from "node:assert/strict";
import { test } from "node:test";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { notes } from "../support/gate_doors.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { asksPerson, memoryWire, newClient, type TestClient } from "../support/mcp_client.ts";
import { until } from "../support/until.ts";

const ASK = { ...notes(), config: '[[tool_rules]]\ntool = "notes.*"\ndecision = "ask"\n' };
const CALL = { name: "notes__ask", arguments: { text: "hi\u001b[2J\nAllow everything?" } };

/** A client of the primary; `person` fills in forms, null for a client that shows none. */
async function clientOf(h: Hosted, person: ((form: Form) => unknown) | null): Promise<TestClient> {
  const { id: session } = h.host.openSession();
  const [ours, theirs] = memoryWire();
  await serveHost({ host: h.host, agent: "primary", session, transport: ours, hooks: false });
  const client = newClient(person ? { elicitation: {} } : {});
  if (person) asksPerson(client, person);
  await client.connect(theirs);
  return client;
}

interface Form {
  readonly message: string;
  readonly requestedSchema: { readonly properties: object };
}

test("N-026 an MCP client that takes elicitations is asked, and its answer counts", async () => {
  await using h = await hosted(ASK);
  const forms: Form[] = [];
  const client = await clientOf(h, (form) => {
    forms.push(form);
    return { action: "accept", content: { decision: "allow", scope: "session" } };
  });
  assert.equal((await client.callTool(CALL)).isError, undefined);
  assert.equal((await client.callTool(CALL)).isError, undefined, "the session has its answer");
  assert.equal(forms.length, 1);
  const [{ message, requestedSchema }] = forms as [Form];
  assert.match(message, /^Allow primary to call notes\.ask\?\n/);
  assert.ok(!message.includes("\u001b") && !message.includes("\nAllow everything"));
  assert.deepEqual(Object.keys(requestedSchema.properties), ["decision", "scope", "reason"]);
  assert.equal((await h.next("approval.answered")).data.by, "mcp client");
});

test("N-026 a person at the client who declines, or says no, denies the call with the reason", async () => {
  await using h = await hosted(ASK);
  const answers: unknown[] = [
    { action: "decline" },
    { action: "accept", content: { decision: "deny", reason: "not now" } },
  ];
  const client = await clientOf(h, () => answers.shift());
  const declined = await client.callTool(CALL);
  assert.match(String(declined.content[0]!["text"]), /tool\.denied.*The person at the MCP client declined/);
  assert.match(String((await client.callTool(CALL)).content[0]!["text"]), /tool\.denied.*not now/);
});

test("N-026 a question that is closed without an answer, or that a client cannot show, waits at the desk", async () => {
  for (const person of [() => ({ action: "cancel" }), null]) {
    await using h = await hosted(ASK);
    const client = await clientOf(h, person);
    const called = client.callTool(CALL);
    const { data } = await h.next("approval.requested");
    await h.host.approvals.answer(data.approval_id, { decision: "allow" });
    assert.equal((await called).isError, undefined);
  }
});

test("N-026 a question at the client is taken back when another front end was first", async () => {
  await using h = await hosted(ASK);
  let [shown, isTakenBack] = [0, false];
  const client = await clientOf(
    h,
    ((_: Form, { signal }: { signal: AbortSignal }) => {
      if (++shown === 1) return { action: "accept", content: { decision: "allow" } };
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          isTakenBack = true;
          resolve({ action: "cancel" });
        });
      });
    }) as (form: Form) => unknown,
  );
  await client.callTool(CALL); // The client of the SDK cannot take back request 0, the first one.
  await h.next("approval.requested");
  const called = client.callTool(CALL);
  await until(() => shown === 2, "the question at the client");
  const { data } = await h.next("approval.requested");
  await h.host.approvals.answer(data.approval_id, { decision: "allow" });
  assert.equal((await called).isError, undefined);
  await until(() => isTakenBack, "the client hears that the question is over");
});

test("N-026 a client is asked about the calls of its own session alone", async () => {
  await using h = await hosted(ASK);
  const asked: string[] = [];
  const person = (name: string) => () => {
    asked.push(name);
    return { action: "accept", content: { decision: "allow" } };
  };
  const [one] = [await clientOf(h, person("one")), await clientOf(h, person("two"))];
  assert.equal((await one.callTool(CALL)).isError, undefined);
  assert.deepEqual(asked, ["one"]);
});

test("N-026 long arguments are cut in the question, and say so", async () => {
  await using h = await hosted(ASK);
  const forms: Form[] = [];
  const client = await clientOf(h, (form) => {
    forms.push(form);
    return { action: "accept", content: { decision: "deny" } };
  });
  const long = { name: "notes__ask", arguments: { text: "x".repeat(100_000) } };
  assert.equal((await client.callTool(long)).isError, true);
  assert.ok(forms[0]!.message.length < 5_000);
  assert.match(forms[0]!.message, /\(100000 characters\)/);
});
