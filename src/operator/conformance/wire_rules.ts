/**
 * Rules of the wire itself: lines, ids, what is no message.
 *
 * @module
 */
import { isMap, mapOf } from "../../core/values/plain_data.ts";
import { parseLine } from "../../core/wire/codec.ts";
import { MAX_LINE_BYTES } from "../../core/wire/connection_types.ts";
import { ailment, codeOf, failed, from, ok, RULE_MS, type RuleTable, said, skipped, type Verdict } from "./rule.ts";
import type { Stage } from "./stage.ts";

/** A line of 4 MiB is read byte by byte in some languages. */
const LONG_LINE_MS = 120_000;

/** Framing, ids, unknown and broken messages. */
export const WIRE_RULES: RuleTable = {
  "id.number": {
    ...from("K-006", "what-a-plugin-owes-the-host"),
    expected: "Answers under the number it was asked under",
    hint: "Echo the id exactly as it came",
    attempt: (stage) => pingUnder(stage, 9007199254740991),
  },
  "utf8": {
    ...from("K-001", "the-wire"),
    expected: "Reads UTF-8 and JSON escapes",
    hint: "Decode stdin as UTF-8, and read JSON with a JSON library",
    needs: ["id.number"],
    attempt: (stage) => pingUnder(stage, 801, { text: 'aä€😀\u2028"\\\n\u0000' }),
  },
  "lines": {
    ...from("K-001", "the-wire"),
    expected: "Reads lines, however they come in pieces",
    hint: "Collect bytes until a newline; one read may bring half a line or two",
    needs: ["id.number"],
    async attempt(stage) {
      const talk = await stage.running();
      const line = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{}}\n`;
      const answers = [811, 812, 813].map((id) => talk.answerTo(id));
      talk.write(line(811).slice(0, 20));
      talk.write(line(811).slice(20) + line(812) + line(813));
      for (const answer of await Promise.all(answers)) if (answer.missing !== undefined) return failed(answer.missing);
      return ok("A line in two pieces, two lines in one");
    },
  },
  "lines.long": {
    ...from("K-002", "the-wire"),
    expected: "Reads a line of 4 MiB",
    hint: "Do not cap lines below 4,194,304 bytes",
    needs: ["id.number"],
    deadlineMs: () => LONG_LINE_MS + RULE_MS,
    async attempt(stage) {
      const talk = await stage.running();
      const [head, tail] = ['{"jsonrpc":"2.0","id":821,"method":"ping","params":{"padding":"', '"}}'];
      const answer = talk.answerTo(821, LONG_LINE_MS);
      talk.write(`${head}${"x".repeat(MAX_LINE_BYTES - head.length - tail.length)}${tail}\n`);
      const { missing } = await answer;
      return missing === undefined ? ok("4,194,304 bytes") : failed(missing);
    },
  },
  "method.unknown": {
    ...from("K-017", "what-a-plugin-owes-the-host"),
    expected: "Answers a method it does not know with -32601",
    hint: "Answer every request: what you do not know, with -32601",
    async attempt(stage) {
      const answer = await (await stage.running()).ask("conformance.no_such_method", {});
      return codeOf(answer) === -32601 ? ok("Answered -32601") : failed(said(answer));
    },
  },
  "notification.unknown": {
    ...from("K-006", "calls"),
    expected: "Does not answer a notification it does not know",
    hint: "A message without an id is never answered",
    attempt: (stage) =>
      unharmed(stage, '{"jsonrpc":"2.0","method":"conformance.no_such_notification","params":{}}', () => false),
  },
  "garbage": {
    ...from("K-017", "what-a-plugin-owes-the-host"),
    expected: "Survives a line that is no JSON",
    hint: "Answer it with -32700 under the id null, or pass over it",
    attempt: (stage) => unharmed(stage, "{ this is no JSON", (code) => code === -32700),
  },
  "message.invalid": {
    ...from("K-017", "what-a-plugin-owes-the-host"),
    expected: "Survives JSON that is no message",
    hint: "Answer it with -32600 under the id null, or pass over it",
    attempt: (stage) => unharmed(stage, '{"jsonrpc":"2.0"}', (code) => code === -32600),
  },
  "batch": {
    ...from("K-005", "calls"),
    expected: "Refuses a batch",
    hint: "Answer an array once, with -32600 under the id null, or pass over it",
    attempt: (stage) => {
      const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
      return unharmed(stage, `[${ping(901)},${ping(902)}]`, (code) => code === -32600);
    },
  },
  "cancel": {
    ...from("K-065", "calls"),
    expected: "Takes system.cancel, also for a call it does not know",
    hint: 'Pass over ids you do not know, and never answer a notification; or do not list "cancel" in features',
    attempt: (stage) =>
      stage.hasFeature("cancel")
        ? unharmed(stage, '{"jsonrpc":"2.0","method":"system.cancel","params":{"id":987654}}', () => false)
        : skipped('It does not list "cancel" in features'),
  },
};

async function pingUnder(
  stage: Stage,
  id: number,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Verdict> {
  const before = stage.notes.strays.length;
  const answer = await (await stage.running()).ask("ping", params, { id });
  if (answer.missing === undefined) return ok(JSON.stringify(id));
  const other = stage.notes.strays[before];
  return failed(other === undefined ? answer.missing : `It answered ${other}`);
}

/** Writes a line that must change nothing; an answer under the id null is fine when `isFitting` says so. */
async function unharmed(stage: Stage, line: string, isFitting: (code: unknown) => boolean): Promise<Verdict> {
  const talk = await stage.running();
  const before = stage.notes.strays.length;
  talk.write(line + "\n");
  const problem = await ailment(talk);
  if (problem !== null) return failed(problem);
  const answers = stage.notes.strays.splice(before);
  const unfit = answers.find((text) => !isRefusal(text, isFitting));
  if (unfit !== undefined || answers.length > 1) return failed(`It answered ${unfit ?? answers.join(" and ")}`);
  return ok(answers.length === 1 ? "Refused" : "Passed over");
}

function isRefusal(text: string, isFitting: (code: unknown) => boolean): boolean {
  const answer = parseLine(text);
  return isMap(answer) && answer.id === null && isFitting(mapOf(answer, "error").code);
}
