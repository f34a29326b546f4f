/**
 * Rules of the end of a plugin, and those that are judged over the whole run.
 *
 * @module
 */
import { NOTIFICATIONS_PER_SECOND } from "../../core/supervisor/wire_audit.ts";
import type { Notice } from "./conversation.ts";
import { failed, from, ok, type RuleTable, shown, skipped, type Verdict } from "./rule.ts";
import type { Stage } from "./stage.ts";
import { endingOf } from "../../core/values/ending_of.ts";

/** Rules about the end of a plugin. */
export const END_RULES: RuleTable = {
  "shutdown": {
    ...from("K-011", "life-of-a-plugin"),
    expected: "Ends with exit code 0 when shutdown comes, in time",
    hint: "Exit with 0 on the notification shutdown",
    attempt: (stage) => ending(stage, "shutdown"),
  },
  "eof": {
    ...from("K-064", "what-a-plugin-owes-the-host"),
    expected: "Ends when the host goes away",
    hint: "Exit when stdin ends",
    attempt: (stage) => ending(stage, "eof"),
  },
};

/** Rules about everything a plugin sent during the run. */
export const RUN_RULES: RuleTable = {
  "progress": {
    ...from("K-065", "calls"),
    expected: "Reports progress as numbers, under the id of a call",
    hint: 'List "progress" in features and send system.progress { id, progress, total?, message? } while the call runs',
    attempt(stage) {
      const reports = noticesOf(stage, ({ message }) => message.method === "system.progress");
      if (reports.length === 0) return skipped("It reported none during this run");
      if (!stage.hasFeature("progress")) return failed('It reports, and does not list "progress" in features');
      const wrong = reports.find(({ params }) => {
        const { id, progress } = (params ?? {}) as { id?: unknown; progress?: unknown };
        return typeof progress !== "number" || !["number", "string"].includes(typeof id);
      });
      return wrong === undefined
        ? ok(`${reports.length} reports`)
        : failed("A report of another shape", [shown(wrong)]);
    },
  },
  "notifications": {
    ...from("K-016", "calls"),
    expected: "Sends only notifications its manifest declares",
    hint: "List them under notifications in the manifest",
    attempt(stage) {
      const own = noticesOf(stage, isOwn);
      const other = own.find(({ method }) => !stage.manifest.notifications.includes(String(method)));
      if (other !== undefined) return failed(`It sent "${other.method}"`, [shown(other)]);
      const names = new Set(own.map(({ method }) => String(method)));
      return names.size === 0 ? skipped("It sent none during this run") : ok([...names].join(", "));
    },
  },
  "notifications.rate": {
    ...from("K-016", "calls"),
    expected: "Sends at most 100 notifications a second",
    hint: "Join what happens in quick succession into one notification",
    attempt({ notes }) {
      const times = notes.notices.filter(isOwn).map(({ atMs }) => atMs);
      if (times.length === 0) return skipped("It sent none during this run");
      // More than the limit within a second: one of them came less than a second after the one that many places before.
      const isFast = times.some((atMs, index) => atMs - (times[index - NOTIFICATIONS_PER_SECOND] ?? -Infinity) < 1_000);
      return isFast
        ? failed(`${times.length} came, more than ${NOTIFICATIONS_PER_SECOND} of them within a second`, [])
        : ok(`${times.length} during this run`);
    },
  },
  "requests": {
    ...from("K-057", "calls"),
    expected: "Asks the host for what it was granted, and for nothing else",
    hint: "Declare kaged:storage:read or kaged:storage:write; there is nothing else to ask for",
    attempt({ notes, manifest }) {
      const isGranted = manifest.capabilities.some((capability) => capability.startsWith("kaged:storage:"));
      const asked = [...new Set(notes.requests)];
      const other = asked.find((method) => !isGranted || !method.startsWith("kaged.storage."));
      if (other !== undefined) return failed(`It asked for "${other}"`, asked);
      return asked.length === 0 ? skipped("It asked for nothing during this run") : ok(asked.join(", "));
    },
  },
  "answers.once": {
    ...from("K-013", "what-a-plugin-owes-the-host"),
    expected: "Answers every request once, and what is no request never",
    hint: "Send one response for each request: a result, or an error with an integer code and a message",
    attempt({ notes: { strays } }) {
      if (strays.length === 0) return ok("Nothing but answers that were waited for");
      return failed(`${strays.length} that nobody waited for`, strays.slice(0, SHOWN));
    },
  },
  "stdout": {
    ...from("K-004", "the-wire"),
    expected: "Writes nothing but messages to stdout",
    hint: "Log to stderr",
    attempt({ notes: { noise } }) {
      if (noise.length === 0) return ok("Nothing but messages");
      return failed(`${noise.length} lines that are no messages`, noise.slice(0, SHOWN));
    },
  },
};

/** Offending lines that are shown. */
const SHOWN = 3;

async function ending(stage: Stage, how: "shutdown" | "eof"): Promise<Verdict> {
  const { shutdown_timeout_sec: seconds } = stage.manifest;
  const talk = await stage.running();
  const exit = await talk.end(how, seconds * 1000);
  if (exit === null) return failed(`It is still there after ${seconds} s`);
  // A plugin whose host is gone may say so with its exit code.
  return exit.code === 0 || how === "eof" ? ok(`It ended ${endingOf(exit)}`) : failed(`It ended ${endingOf(exit)}`);
}

const isOwn = ({ message }: Notice): boolean => !String(message.method).startsWith("system.");

const noticesOf = ({ notes }: Stage, isWanted: (notice: Notice) => boolean): Notice["message"][] =>
  notes.notices.filter(isWanted).map(({ message }) => message);
