/**
 * What every place for requests for a person's yes promises, as cases that each run on a fresh one.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ApprovalEnd, ApprovalStore, StandingAnswer } from "../../src/core/approvals/types.ts";
import { approvalRequest as request } from "../support/approval_request.ts";

/** One promise. */
export interface ApprovalsCase {
  readonly name: string;
  run(store: ApprovalStore): Promise<void>;
}

const end: ApprovalEnd = {
  state: "allowed",
  at: "2026-01-01T00:01:00.000Z",
  by: "cli",
  answer: { decision: "allow", scope: "once" },
  reason: null,
};
const withdrawn: ApprovalEnd = { ...end, state: "withdrawn", by: null, answer: null, reason: "gone" };
const answer = (id: string, fields: Partial<StandingAnswer> = {}): StandingAnswer => ({
  id,
  createdAt: "2026-01-01T00:00:00.000Z",
  projectId: "harbor",
  agentPath: "primary",
  tool: "mail.send",
  source: { kind: "hook", id: "guard" },
  decision: "allow",
  reason: null,
  sessionId: null,
  by: "cli",
  ...fields,
});
const ids = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id);

export const approvalsContract: readonly ApprovalsCase[] = [
  {
    name: "N-027 a request is found as it was given, and the first end counts",
    async run(store) {
      const opened = await store.open(request("apr_1"), null);
      assert.deepEqual(opened, request("apr_1"));
      assert.deepEqual(await store.get("apr_1"), opened);
      assert.equal(await store.get("apr_2"), null);
      assert.deepEqual(await store.ended(["apr_1"]), []);
      const ends = [end, { ...end, state: "denied" }] as const;
      const both = await Promise.all(ends.map((one) => store.end("apr_1", one)));
      const [won, ...more] = both.filter((one) => one !== null);
      assert.deepEqual(more, []);
      const first = ends[both.indexOf(won!)]!;
      assert.deepEqual(won, { ...opened, state: first.state, end: first });
      assert.deepEqual(await store.ended(["apr_1", "apr_2"]), [won]);
      assert.equal(await store.end("apr_2", end), null);
    },
  },
  {
    name: "N-030 what a person filled in is kept with the end of a form",
    async run(store) {
      const source = { kind: "elicitation", id: "library" } as const;
      const form = { message: "Where to?", requestedSchema: { type: "object", properties: {} } };
      const asked = request("apr_1", { tool: "elicit", source, sources: [source], arguments: form });
      assert.deepEqual(await store.open(asked, null), asked);
      const content = { email: "ann@example.org", copies: 2, colors: ["red"], loud: false };
      const filled = { ...end, answer: { decision: "allow", scope: "once", content } } as const;
      await store.end("apr_1", filled);
      assert.deepEqual((await store.get("apr_1"))?.end, filled);
      assert.deepEqual((await store.list({ projectId: "harbor", limit: 1 }))[0]?.arguments, form);
    },
  },
  {
    name: "N-027 the same call of a job joins its request, answered or not, and a withdrawn one is asked anew",
    async run(store) {
      await store.open(request("apr_1", { jobId: "job_1" }), "call");
      const later = { expiresAt: "2026-01-01T01:00:00.000Z", jobId: "job_1" };
      const joined = await store.open(request("apr_2", later), "call");
      assert.deepEqual([joined.id, joined.expiresAt], ["apr_1", later.expiresAt]);
      assert.equal((await store.open(request("apr_3", later), "other")).id, "apr_3");
      await store.end("apr_1", end);
      assert.deepEqual(await store.open(request("apr_4", later), "call"), {
        ...request("apr_1", later),
        state: "allowed",
        end,
      });
      await store.end("apr_3", withdrawn);
      assert.equal((await store.open(request("apr_5", later), "other")).id, "apr_5");
    },
  },
  {
    name: "N-026 requests are listed from the newest on, page by page, those of one project",
    async run(store) {
      for (const at of [1, 2, 3, 4]) await store.open(request(`apr_${at}`), null);
      await store.open(request("apr_5", { projectId: "other" }), null);
      await store.end("apr_2", end);
      const list = async (query: object) => ids(await store.list({ projectId: "harbor", limit: 10, ...query }));
      assert.deepEqual(await list({}), ["apr_4", "apr_3", "apr_2", "apr_1"]);
      assert.deepEqual(await list({ state: "waiting" }), ["apr_4", "apr_3", "apr_1"]);
      assert.deepEqual(await list({ state: "ended" }), ["apr_2"]);
      assert.deepEqual(await list({ limit: 2 }), ["apr_4", "apr_3"]);
      assert.deepEqual(await list({ limit: 2, before: "apr_3" }), ["apr_2", "apr_1"]);
    },
  },
  {
    name: "N-027 requests end with their job; those of no job when they have run out",
    async run(store) {
      await store.open(request("apr_1", { jobId: "job_1" }), "a");
      await store.open(request("apr_2", { jobId: "job_2" }), "b");
      await store.open(request("apr_3"), null);
      await store.open(request("apr_4", { expiresAt: "2026-01-02T00:00:00.000Z" }), null);
      assert.deepEqual(ids(await store.endJob("job_1", withdrawn)), ["apr_1"]);
      assert.deepEqual(await store.endJob("job_1", withdrawn), []);
      const lost = { ...withdrawn, state: "expired" } as const;
      assert.deepEqual(ids(await store.endLost("other", "2026-01-01T12:00:00.000Z", lost)), []);
      assert.deepEqual(ids(await store.endLost("harbor", "2026-01-01T12:00:00.000Z", lost)), ["apr_3"]);
      assert.deepEqual(ids(await store.list({ projectId: "harbor", state: "waiting", limit: 9 })), ["apr_4", "apr_2"]);
    },
  },
  {
    name: "N-026 an answer for later calls is kept once, and can be taken back",
    async run(store) {
      await store.keep(answer("ans_1"));
      await store.keep(answer("ans_2", { decision: "deny" }));
      await store.keep(answer("ans_3", { sessionId: "ses_1" }));
      await store.keep(answer("ans_4", { projectId: "other" }));
      assert.deepEqual(await store.standing("harbor"), [
        answer("ans_2", { decision: "deny" }),
        answer("ans_3", { sessionId: "ses_1" }),
      ]);
      await store.endSession("harbor", "ses_1");
      assert.equal(await store.revoke("ans_1"), false);
      assert.equal(await store.revoke("ans_2"), true);
      assert.deepEqual(await store.standing("harbor"), []);
      assert.equal((await store.standing("other")).length, 1);
    },
  },
  {
    name: "N-026 a list holds short forms of big requests, and their ids lead to the whole",
    async run(store) {
      const big = request("apr_1", { arguments: { text: "x".repeat(1_000_000) } });
      const changed = { before: { text: "y".repeat(1_000_000) }, by: ["guard"] };
      await store.open(big, null);
      await store.open(request("apr_2", { changed }), null);
      await store.end("apr_1", end);
      const found = await store.list({ projectId: "harbor", limit: 9 });
      assert.deepEqual(ids(found), ["apr_2", "apr_1"]);
      assert.ok(JSON.stringify(found).length < 50_000);
      assert.deepEqual(found.map(({ state, argumentsCut }) => [state, argumentsCut]), [
        ["waiting", false],
        ["allowed", true],
      ]);
      assert.deepEqual((await store.get("apr_1"))?.arguments, big.arguments);
      assert.deepEqual((await store.get("apr_2"))?.changed, changed);
    },
  },
  {
    name: "N-026 of the answers for later calls the newest is the last, also where it replaced an older one",
    async run(store) {
      await store.keep(answer("ans_1"));
      await store.keep(answer("ans_2", { sessionId: "ses_1" }));
      await store.keep(answer("ans_3", { decision: "deny" }));
      assert.deepEqual(ids(await store.standing("harbor")), ["ans_2", "ans_3"]);
    },
  },
  {
    name: "N-027 requests that ended long ago are forgotten, and no others",
    async run(store) {
      for (const at of [1, 2, 3]) await store.open(request(`apr_${at}`), null);
      await store.end("apr_1", end);
      await store.end("apr_2", { ...end, at: "2026-02-01T00:00:00.000Z" });
      assert.equal(await store.forget("2026-01-15T00:00:00.000Z"), 1);
      assert.deepEqual(ids(await store.list({ projectId: "harbor", limit: 9 })), ["apr_3", "apr_2"]);
    },
  },
];
