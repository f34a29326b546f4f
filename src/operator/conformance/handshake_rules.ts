/**
 * Rules of the handshake, in the order in which a host meets them.
 *
 * @module
 */
import { messageOf } from "../../core/errors/host_error.ts";
import { checkInitializeResult } from "../../core/supervisor/handshake.ts";
import type { Notes } from "./conversation.ts";
import { ailment, codeOf, failed, from, ok, type RuleTable, said, skipped } from "./rule.ts";

/** From the first message to a running plugin. */
export const HANDSHAKE_RULES: RuleTable = {
  "initialize.first": {
    ...from("K-007", "life-of-a-plugin"),
    expected: "Says nothing before it has answered initialize",
    hint: "Wait for initialize, answer it, and send nothing before that answer",
    isGround: true,
    async attempt(stage) {
      const { answer } = await stage.greet();
      const early = unasked(stage.notes);
      if (early !== undefined) return failed(`It sent ${early} first`);
      return answer.missing === undefined ? ok("Its first message is the answer") : failed(answer.missing);
    },
  },
  "initialize.result": {
    ...from("K-008", "life-of-a-plugin"),
    expected: "Answers initialize with its identity, as the manifest says",
    hint: "Answer name, version, api_version, methods, notifications and capabilities_used",
    isGround: true,
    async attempt(stage) {
      const { answer } = await stage.greet();
      if (answer.response?.result === undefined) return failed(said(answer));
      try {
        const { missing } = checkInitializeResult(answer.response.result, stage.manifest);
        if (missing.length > 0) return failed(`Its methods lack ${missing.join(", ")}`);
        return ok(`${stage.manifest.name} ${stage.manifest.version}`);
      } catch (error) {
        return failed(messageOf(error));
      }
    },
  },
  "config.update": {
    ...from("K-011", "life-of-a-plugin"),
    expected: "Takes its config, or says that it takes none",
    hint: "Answer config.update with {} or, without any config, with -32601",
    isGround: true,
    async attempt(stage) {
      const answer = await (await stage.greet()).talk.ask("config.update", stage.config);
      if (codeOf(answer) === -32601) return ok("It takes none");
      return answer.response && !answer.response.error ? ok("Taken") : failed(said(answer));
    },
  },
  "initialized.first": {
    ...from("K-006", "life-of-a-plugin"),
    expected: "Sends nothing of its own before initialized",
    hint: "Hold notifications and requests back until initialized comes",
    async attempt(stage) {
      const { talk } = await stage.greet();
      await talk.ask("config.update", stage.config); // Messages it sent before that answer have come by then.
      const early = unasked(stage.notes);
      return early === undefined ? ok("Nothing but its answers") : failed(`It sent ${early}`);
    },
  },
  "ping": {
    ...from("K-011", "what-a-plugin-owes-the-host"),
    expected: "Runs on after initialized and answers ping",
    hint: 'Answer ping with {"status": "ok"}, and do not answer initialized',
    isGround: true,
    async attempt(stage) {
      const before = stage.notes.strays.length;
      const talk = await stage.running();
      const problem = await ailment(talk);
      if (problem !== null) return failed(problem);
      const extra = stage.notes.strays[before];
      return extra === undefined ? ok('{"status":"ok"}') : failed(`It also sent ${extra}`);
    },
  },
  "config.refused": {
    ...from("K-017", "what-a-plugin-owes-the-host"),
    expected: "Refuses a config it cannot use with -32004, or overlooks it, and runs on",
    hint: "Check the config in config.update, answer -32004 with what is wrong, and keep the old one",
    async attempt(stage) {
      if (stage.manifest.config_schema === undefined) return skipped("Its manifest has no config_schema");
      const talk = await stage.running();
      const answer = await talk.ask("config.update", { no_such_setting: [null] });
      const code = codeOf(answer);
      if (answer.missing !== undefined) return failed(answer.missing);
      if (code !== undefined && ![-32004, -32602, -32601].includes(code)) return failed(said(answer));
      await talk.ask("config.update", stage.config);
      const problem = await ailment(talk);
      if (problem !== null) return failed(problem);
      return ok(code === undefined ? "It overlooks settings it does not know" : `Answered ${code}`);
    },
  },
};

/** The first thing a plugin sent that was no answer, in words. */
function unasked({ notices, requests, strays }: Notes): string | undefined {
  if (notices[0]) return `the notification "${notices[0].message.method}"`;
  return requests[0] === undefined ? strays[0] : `the request "${requests[0]}"`;
}
