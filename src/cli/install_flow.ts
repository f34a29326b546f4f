/**
 * From a source to an installed plugin: fetch, show, ask, copy. Shared by `plugin install` and `plugin upgrade`.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import { type GrantAnswer, unanswered } from "../packages/consent/withholding.ts";
import type { Consent, ReplacedVersion } from "../packages/install/apply.ts";
import type { InstallPlan, PlanRequest } from "../packages/install/plan.ts";
import { type Source, sourceText } from "../packages/install/source.ts";
import { askEach, withoutText } from "./grants.ts";
import type { Operator } from "./operator.ts";
import { printPlan } from "./print_plan.ts";
import { declined, grantQuestion, type ProgressTexts } from "./questions.ts";

export interface InstallWish {
  readonly source: Source;
  /** Range of versions, or null for any. */
  readonly release: string | null;
  /** Capabilities granted and withheld by name. */
  readonly answer: Required<GrantAnswer>;
  /** Whether to ask for each capability by itself. */
  readonly each: boolean;
  readonly plan?: Partial<PlanRequest>;
  /** Called with the plan before the operator is asked; an error that it throws ends the flow. */
  check?(plan: InstallPlan): Promise<void> | void;
}

/** A plan that was carried out, and the version it replaced, where that can be brought back. */
export interface InstallFlowResult {
  readonly plan: InstallPlan;
  readonly replaced: ReplacedVersion | null;
  /** The manifest as it is granted. */
  readonly granted: Manifest;
}

/**
 * Installs or upgrades; returns the plan that was carried out. Throws `install.declined` where the answer was no, and
 * `install.consent_missing` where nobody can be asked and not every capability was named. Files that are installed
 * already are left alone, and so are their grants.
 */
export async function installFlow(wish: InstallWish, operator: Operator): Promise<InstallFlowResult> {
  const { ask, json } = operator;
  const [{ obtain }, { planInstall }, { applyUpgrade, grantedBy }] = await Promise.all([
    import("../packages/install/obtain.ts"),
    import("../packages/install/plan.ts"),
    import("../packages/install/apply.ts"),
  ]);
  const { source, release } = wish;
  if (source.kind === "git") await agreeToFetch(source.url, operator);
  const obtaining = obtain(source, release, operator);
  await using obtained = await (source.kind === "git" ? ask.during(obtaining, fetching(source.url)) : obtaining);
  const plan = await planInstall({ dir: obtained.dir, source, ...wish.plan }, operator);
  await wish.check?.(plan);
  if (plan.kind === "same") {
    refuseSame(plan, wish);
    return { plan, replaced: null, granted: grantedBy(plan, { granted: [] }) };
  }
  const { withheld = [] } = grantedBy(plan, completed(plan, wish.answer)); // Throws for one that cannot be withheld.
  if (!json) printPlan(plan, withheld, operator);
  const consent = await consentTo(plan, wish, operator);
  const { name } = plan.manifest;
  const copying = applyUpgrade(plan, consent, operator);
  const replaced = await (plan.bytes < SLOW_BYTES ? copying : ask.during(copying, {
    message: `Copying ${Math.round(plan.bytes / 1024 / 1024)} MB`,
    done: `Copied ${name}`,
    failed: `Could not copy ${name}`,
  }));
  return { plan, replaced, granted: grantedBy(plan, consent) };
}

/** Nothing is installed: an answer that would change the grants of an installed plugin has commands of its own. */
function refuseSame({ manifest: { name, version }, withheld }: InstallPlan, { answer }: InstallWish): void {
  const back = answer.granted.filter((one) => withheld.includes(one));
  const lost = answer.withhold.filter((one) => !withheld.includes(one));
  if (back.length + lost.length === 0) return;
  const command = back.length > 0 ? `grant ${name} '${back[0]}'` : `withhold ${name} '${lost[0]}'`;
  throw new HostError("host.misuse", `Plugin ${name} ${version} is installed already, with other grants`, {
    hint: `Change them: kaged plugin ${command}`,
  });
}

/** Copying this many bytes takes long enough to show progress. */
const SLOW_BYTES = 32 * 1024 * 1024;

/** Returns the lines that show the progress of a fetch. */
export function fetching(address: string): ProgressTexts {
  return { message: `Fetching ${address}`, done: `Fetched ${address}`, failed: `Could not fetch ${address}` };
}

/** Asks whether the address may be fetched at all. Off a terminal, naming it in the command is the agreement. */
async function agreeToFetch(url: string, { terminal, ask }: Operator): Promise<void> {
  if (!ask.canAsk) terminal.err.line(`Fetching ${url}`);
  else if (!await ask.confirm(`Fetch ${url}?`)) throw declined();
}

/** Returns the answer with everything granted that it leaves open. */
function completed({ diff: { added } }: InstallPlan, answer: Required<GrantAnswer>): Required<GrantAnswer> {
  return { ...answer, granted: [...answer.granted, ...unanswered(added, answer)] };
}

/** Asks whether exactly these files may be installed, with the capabilities that they ask for. */
async function consentTo(plan: InstallPlan, wish: InstallWish, { ask }: Operator): Promise<Consent> {
  const { consentMissing, grantedBy } = await import("../packages/install/apply.ts");
  const { contributionsOf } = await import("../packages/install/consent_offer.ts");
  const { manifest: { name, version }, installed, diff: { added }, hash } = plan;
  const consent = { hash, projectId: null };
  const answer = wish.each && ask.canAsk ? await askEach(name, added, wish.answer, ask) : wish.answer;
  const missing = unanswered(added, answer);
  const isNamed = missing.length === 0 && !wish.each && wish.answer.granted.length + wish.answer.withhold.length > 0;
  if (isNamed || (!ask.canAsk && missing.length === 0)) return { ...consent, ...answer };
  if (!ask.canAsk) {
    const shown = { source: sourceText(plan.source), hash, ...contributionsOf(plan.manifest) };
    throw consentMissing(name, missing, shown);
  }
  if (installed && missing.length > 0 && !await ask.confirm(grantQuestion(name, missing))) throw declined();
  const whole = completed(plan, answer);
  const without = withoutText(grantedBy(plan, whole).withheld ?? []);
  const question = installed ? `Upgrade ${name} ${installed.version} → ${version}` : `Install ${name}`;
  if (!await ask.confirm(`${question}${without}?`)) throw declined();
  return { ...consent, ...whole };
}
