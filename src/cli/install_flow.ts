/**
 * From a source to an installed plugin: fetch, show, ask, copy. Shared by `plugin install` and `plugin upgrade`.
 *
 * @module
 */
import type { Consent, ReplacedVersion } from "../packages/install/apply.ts";
import type { InstallPlan, PlanRequest } from "../packages/install/plan.ts";
import { type Source, sourceText } from "../packages/install/source.ts";
import type { Operator } from "./operator.ts";
import { printPlan } from "./print_plan.ts";
import { declined, grantQuestion, type ProgressTexts } from "./questions.ts";

export interface InstallWish {
  readonly source: Source;
  /** Range of versions, or null for any. */
  readonly release: string | null;
  /** Capabilities granted by name. */
  readonly granted: readonly string[];
  readonly plan?: Partial<PlanRequest>;
  /** Called with the plan before the operator is asked; an error that it throws ends the flow. */
  check?(plan: InstallPlan): Promise<void> | void;
}

/** A plan that was carried out, and the version it replaced, where that can be brought back. */
export interface InstallFlowResult {
  readonly plan: InstallPlan;
  readonly replaced: ReplacedVersion | null;
}

/**
 * Installs or upgrades; returns the plan that was carried out. Throws `install.declined` where the answer was no, and
 * `install.consent_missing` where nobody can be asked and not every capability was named.
 */
export async function installFlow(wish: InstallWish, operator: Operator): Promise<InstallFlowResult> {
  const { ask, json } = operator;
  const [{ obtain }, { planInstall }, { applyUpgrade }] = await Promise.all([
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
  if (plan.kind === "same") return { plan, replaced: null };
  if (!json) printPlan(plan, operator);
  const consent = await consentTo(plan, wish, operator);
  const { name } = plan.manifest;
  const copying = applyUpgrade(plan, consent, operator);
  const replaced = await (plan.bytes < SLOW_BYTES ? copying : ask.during(copying, {
    message: `Copying ${Math.round(plan.bytes / 1024 / 1024)} MB`,
    done: `Copied ${name}`,
    failed: `Could not copy ${name}`,
  }));
  return { plan, replaced };
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

/** Asks whether exactly these files may be installed, with the capabilities that they ask for. */
async function consentTo(plan: InstallPlan, wish: InstallWish, { ask }: Operator): Promise<Consent> {
  const { missingGrants, consentMissing } = await import("../packages/install/apply.ts");
  const { contributionsOf } = await import("../packages/install/consent_offer.ts");
  const { manifest: { name, version }, installed, diff: { added }, hash } = plan;
  const consent = { hash, projectId: null };
  const missing = missingGrants(plan, wish.granted);
  const isNamed = missing.length === 0 && wish.granted.length > 0;
  if (isNamed || (!ask.canAsk && missing.length === 0)) return { ...consent, granted: [...wish.granted] };
  if (!ask.canAsk) {
    const shown = { source: sourceText(plan.source), hash, ...contributionsOf(plan.manifest) };
    throw consentMissing(name, missing, shown);
  }
  if (installed && added.length > 0 && !await ask.confirm(grantQuestion(name, added))) throw declined();
  const question = installed ? `Upgrade ${name} ${installed.version} → ${version}?` : `Install ${name}?`;
  if (!await ask.confirm(question)) throw declined();
  return { ...consent, granted: [...added] };
}
