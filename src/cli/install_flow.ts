/**
 * From a source to an installed plugin: fetch, show, ask, copy. Shared by `plugin install` and `plugin upgrade`.
 *
 * @module
 */
import type { Consent } from "../packages/install/apply.ts";
import type { InstallPlan, PlanRequest } from "../packages/install/plan.ts";
import type { Source } from "../packages/install/source.ts";
import type { Operator } from "./operator.ts";
import { printPlan } from "./print_plan.ts";
import { declined, grantQuestion, type Questions } from "./questions.ts";
import { printable, type Terminal } from "./terminal.ts";

/** What to install. */
export interface InstallWish {
  /** Where it is had. */
  readonly source: Source;
  /** Range of versions that will do, or null. */
  readonly release: string | null;
  /** Capabilities granted by name. */
  readonly granted: readonly string[];
  /** More about the plan. */
  readonly plan?: Partial<PlanRequest>;
  /** Looks at the plan before anybody is asked; what it throws ends it. */
  check?(plan: InstallPlan): Promise<void> | void;
}

/** What a flow needs of the command around it. */
export interface FlowPorts {
  readonly operator: Operator;
  readonly terminal: Terminal;
  readonly ask: Questions;
  /** Whether a program reads the output. */
  readonly json: boolean;
}

/**
 * Installs or upgrades; returns what was done. Throws `install.declined` where the answer was no, and
 * `install.consent_missing` where nobody can be asked and not every capability was named.
 */
export async function installFlow(wish: InstallWish, ports: FlowPorts): Promise<InstallPlan> {
  const { operator, terminal, ask, json } = ports;
  const [{ obtain }, { planInstall }, { applyInstall }] = await Promise.all([
    import("../packages/install/obtain.ts"),
    import("../packages/install/plan.ts"),
    import("../packages/install/apply.ts"),
  ]);
  const { source, release } = wish;
  if (source.kind === "git") await agreeToFetch(source.url, ports);
  const done = source.kind === "git" ? await ask.progress(`Fetching ${source.url}`) : () => {};
  const obtaining = obtain(source, release, operator);
  await obtaining.catch(() => done(`Could not fetch ${source.kind === "git" ? source.url : ""}`));
  await using obtained = await obtaining;
  if (source.kind === "git") done(`Fetched ${source.url}`);
  const plan = await planInstall({ dir: obtained.dir, source, ...wish.plan }, operator);
  await wish.check?.(plan);
  if (plan.kind === "same") return plan;
  if (!json) {
    const { home, runtime } = operator;
    printPlan(plan, terminal.out, { home, projectDir: null, userHome: runtime.env("HOME") });
  }
  const consent = await consentTo(plan, wish, ports);
  const copied = plan.bytes < SLOW_BYTES ? () => {} : await ask.progress(`Copying ${megabytes(plan.bytes)} MB`);
  try {
    await applyInstall(plan, consent, operator);
    copied(`Copied ${plan.manifest.name}`);
  } catch (error) {
    copied(`Could not copy ${plan.manifest.name}`);
    throw error;
  }
  return plan;
}

/** What takes more than a moment to copy. */
const SLOW_BYTES = 32 * 1024 * 1024;

const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/** The first yes: to go to that address at all. Off a terminal, who names it has said it. */
async function agreeToFetch(url: string, { terminal, ask }: FlowPorts): Promise<void> {
  if (!ask.canAsk) terminal.err.line(printable(`Fetching ${url}`));
  else if (!await ask.confirm(`Fetch ${printable(url)}?`)) throw declined();
}

/** The second yes: to what these very files ask for. */
async function consentTo(plan: InstallPlan, wish: InstallWish, { ask }: FlowPorts): Promise<Consent> {
  const { missingGrants, consentMissing } = await import("../packages/install/apply.ts");
  const { manifest: { name, version }, installed, diff: { added }, hash } = plan;
  const consent = { hash, projectId: null };
  const missing = missingGrants(plan, wish.granted);
  const isNamed = missing.length === 0 && wish.granted.length > 0;
  if (isNamed || (!ask.canAsk && missing.length === 0)) return { ...consent, granted: [...wish.granted] };
  if (!ask.canAsk) throw consentMissing(name, missing);
  if (installed && added.length > 0 && !await ask.confirm(grantQuestion(name, added))) throw declined();
  const question = installed ? `Upgrade ${name} ${installed.version} → ${version}?` : `Install ${name}?`;
  if (!await ask.confirm(question)) throw declined();
  return { ...consent, granted: [...added] };
}
