/**
 * Tries rules one after another, each within its own time, and reports on each.
 *
 * @module
 */
import { asHostError, messageOf } from "../../core/errors/host_error.ts";
import { unlessAborted } from "../../core/values/unless_aborted.ts";
import { failed, type Rule, RULE_MS, skipped, type Verdict } from "./rule.ts";
import { orAfter } from "./conversation.ts";
import { Stage, type StageOptions } from "./stage.ts";

/** A rule with the verdict on one plugin. */
export interface RuleResult
  extends Pick<Rule, "id" | "requirement" | "written" | "expected">, Pick<Verdict, "status" | "detail"> {
  /** The last lines it was sent while the rule was tried, shortened. */
  readonly sent: readonly string[];
  /** The last lines it wrote, shortened. */
  readonly came: readonly string[];
  /** Its last lines on stderr, where the rule is broken. */
  readonly log?: readonly string[];
  /** The next step, where the rule is broken. */
  readonly hint?: string;
}

/** The verdicts on one plugin. */
export interface ConformanceReport {
  /** Whether no rule is broken. */
  readonly ok: boolean;
  readonly plugin: string;
  readonly version: string;
  /** Every rule that was asked for, in order. */
  readonly rules: readonly RuleResult[];
}

/** A plugin and the rules to try on it. */
export interface TryOptions extends StageOptions {
  readonly rules: readonly Rule[];
  /** Ends the run early: the plugin is ended and the run rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Receives each result as it comes. */
  readonly onRule?: (result: RuleResult) => void;
}

/** Lines of stderr shown with a broken rule. */
const LOG_LINES = 5;

/** Tries each rule on the plugin. A plugin that breaks them is a report, not an error; rejects when it cannot start. */
export async function tryRules(options: TryOptions): Promise<ConformanceReport> {
  const { rules, manifest, signal, onRule = () => {} } = options;
  await using stage = new Stage(options);
  const results: RuleResult[] = [];
  const broken: Rule[] = [];
  for (const rule of rules) {
    signal?.throwIfAborted();
    const cause = broken.find(({ id, isGround }) => isGround || rule.needs?.includes(id));
    const result = await tryRule(rule, stage, cause, options);
    if (result.status === "failed") broken.push(rule);
    results.push(result);
    onRule(result);
  }
  const isOk = results.every(({ status }) => status !== "failed");
  return { ok: isOk, plugin: manifest.name, version: manifest.version, rules: results };
}

async function tryRule(
  rule: Rule,
  stage: Stage,
  cause: Rule | undefined,
  options: TryOptions,
): Promise<RuleResult> {
  const { id, requirement, written, expected, hint, deadlineMs = () => RULE_MS } = rule;
  const exchange = stage.takeDown();
  const strays = stage.notes.strays.length;
  const verdict = cause
    ? skipped(`Not tried: ${cause.id} failed`)
    : await within(deadlineMs(stage.manifest), attempt(rule, stage), options);
  const { status, detail, came = exchange.came } = verdict;
  const result = { id, requirement, written, expected, status, detail, sent: exchange.sent, came: [...came] };
  if (status !== "failed") return result;
  const { fault = null, wire } = stage.talk ?? {};
  if (fault?.code.startsWith("cage.")) throw fault; // That is no fault of the plugin.
  const log = wire?.stderr().slice(-LOG_LINES) ?? [];
  await stage.leave(); // The next rule meets a fresh process,
  stage.notes.strays.length = Math.min(stage.notes.strays.length, strays); // and one fault breaks one rule.
  return { ...result, ...(log.length > 0 && { log }), hint };
}

async function attempt(rule: Rule, stage: Stage): Promise<Verdict> {
  try {
    return await rule.attempt(stage);
  } catch (thrown) {
    const error = asHostError(thrown);
    if (error.code !== "check.not_running") throw error;
    return failed(messageOf(error));
  }
}

/** Settles as `work` does, fails the rule when its time is over, and rejects when the run is ended early. */
function within(ms: number, work: Promise<Verdict>, { clock, signal }: TryOptions): Promise<Verdict> {
  return unlessAborted(orAfter(ms, failed(`Undecided after ${ms / 1000} s`), work, clock), signal);
}
