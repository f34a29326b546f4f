/**
 * Asks the person at the terminal about one request after the other, until the command is interrupted.
 *
 * @module
 */
import { addressIn } from "../core/approvals/form.ts";
import type { ApprovalAnswer } from "../core/approvals/types.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { Approval } from "../http/answers.ts";
import { type DeskOfProject, withDesks } from "./approval_desks.ts";
import { fillForm } from "./form_questions.ts";
import { unlessAborted } from "./interrupt.ts";
import type { Operator } from "./operator.ts";
import { printRequest } from "./print_request.ts";

/** Time between two looks for requests, and for those that ended elsewhere. */
const LOOK_MS = 1_000;
const LIMIT = 100;

/** What a person may do with a request. */
type Choice = "once" | "session" | "always" | "edit" | "fill" | "deny" | "never" | "later";

const CHOICES: readonly { readonly value: Choice; readonly label: string }[] = [
  { value: "once", label: "Allow this call" },
  { value: "session", label: "Allow this tool until the session ends" },
  { value: "always", label: "Always allow this tool" },
  { value: "edit", label: "Allow with other arguments" },
  { value: "deny", label: "Deny this call" },
  { value: "never", label: "Always deny this tool" },
  { value: "later", label: "Leave it" },
];

/** A connection goes where the plugin asked for: its host and port cannot be edited. */
const NETWORK_CHOICES: typeof CHOICES = [
  { value: "once", label: "Allow this connection" },
  { value: "session", label: "Allow this host and port while the plugin's process runs" },
  { value: "always", label: "Always allow the plugin this host and port" },
  { value: "deny", label: "Deny this connection" },
  { value: "never", label: "Always deny the plugin this host and port" },
  { value: "later", label: "Leave it" },
];

/** A form is filled in once: the next one may ask for something else. */
const FORM_CHOICES: typeof CHOICES = [
  { value: "fill", label: "Fill it in" },
  { value: "deny", label: "Decline" },
  { value: "later", label: "Leave it" },
];

const ADDRESS_CHOICES: typeof CHOICES = [
  { value: "once", label: "Tell the server that you open it" },
  { value: "deny", label: "Decline" },
  { value: "later", label: "Leave it" },
];

/** Shows requests as they come, and takes the answers, until the person leaves. */
export async function answerRequests(operator: Operator): Promise<void> {
  try {
    await askInTurn(operator);
  } catch (error) {
    if (!(error instanceof HostError && error.code === "install.declined")) throw error; // The person left a question.
  }
}

async function askInTurn(operator: Operator): Promise<void> {
  const { ask: { canAsk }, signal, terminal: { err }, runtime: { clock } } = operator;
  if (!canAsk) {
    throw new HostError("host.misuse", "Nobody can be asked here: this is no terminal", {
      hint: "For scripts: kaged approvals list --json, then allow or deny <id>",
    });
  }
  const left = new Set<string>();
  const warned = new Set<string>();
  let isSaid = false;
  while (!signal.aborted) {
    const isAsked = await withDesks(operator, undefined, async (desks) => {
      const next = await nextRequest(desks, left);
      if (!next) return false;
      isSaid = false;
      if (!await askAbout(next, operator)) left.add(next.request.id);
      return true;
    }, warned);
    if (isAsked) continue;
    if (!isSaid) err.line(err.paint.dim("No call waits for a person. New ones are shown as they come; Ctrl-C ends."));
    isSaid = true;
    await unlessAborted(new Promise<void>((resolve) => clock.after(LOOK_MS, resolve, { keepAlive: true })), signal);
  }
}

interface Next {
  readonly desk: DeskOfProject;
  readonly request: Approval;
}

/** Returns the oldest request that the person has not left. */
async function nextRequest(desks: readonly DeskOfProject[], left: ReadonlySet<string>): Promise<Next | null> {
  const found = await Promise.all(desks.map(async (desk) => {
    const { approvals } = await desk.list({ state: "waiting", limit: LIMIT });
    return approvals.filter(({ id }) => !left.has(id)).map((request) => ({ desk, request })).reverse();
  }));
  const [oldest] = found.flat().sort((a, b) => a.request.created_at < b.request.created_at ? -1 : 1);
  return oldest ?? null;
}

/** Asks about one request; false when the person leaves it. */
async function askAbout({ desk, request: { id } }: Next, operator: Operator): Promise<boolean> {
  const { ask, terminal: { out, err }, runtime: { clock } } = operator;
  const request = await desk.find(id);
  if (request?.state !== "waiting") return true;
  out.line();
  printRequest(request, out, clock.now());
  using watch = watchEnd(desk, id, operator);
  const choice = await ask.choose(`${request.tool}: allow it?`, choicesFor(request), watch.signal);
  if (choice === null) {
    err.line(endedWords(await desk.find(id)));
    return true;
  }
  if (choice === "later") return false;
  const answer = await answerFor(choice, request, operator);
  if (!answer) return await askAbout({ desk, request }, operator);
  try {
    await desk.answer(id, answer);
    out.done(`${answer.decision === "allow" ? "Allowed" : "Denied"} ${request.tool}`);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    err.line(`${err.paint.red("error")}[${error.code}]: ${error.message}`);
    err.hint(error.hint);
    if (error.code !== "approval.ended") return await askAbout({ desk, request }, operator);
  }
  return true;
}

function choicesFor({ source: { kind }, arguments: form }: Approval): typeof CHOICES {
  if (kind === "network") return NETWORK_CHOICES;
  if (kind !== "elicitation") return CHOICES;
  return addressIn(form) === null ? FORM_CHOICES : ADDRESS_CHOICES;
}

async function answerFor(choice: Choice, request: Approval, { ask, terminal: { err } }: Operator) {
  if (choice === "deny" || choice === "never") {
    const { kind } = request.source;
    const isHeard = kind === "rule" || kind === "hook"; // A plugin hears that it was denied, and no more.
    const reason = await ask.text(`Why? ${isHeard ? "The model is told; l" : "L"}eave it empty to give no reason.`);
    const scope = choice === "never" ? "always" as const : "once" as const;
    return { decision: "deny", scope, ...(reason !== "" && { reason }) } satisfies ApprovalAnswer;
  }
  if (choice === "fill") {
    return { decision: "allow", content: await fillForm(request.arguments, ask) } satisfies ApprovalAnswer;
  }
  if (choice !== "edit") return { decision: "allow", scope: choice as "once" } satisfies ApprovalAnswer;
  const text = await ask.text("The arguments, as JSON:", JSON.stringify(request.arguments));
  try {
    const edited: unknown = JSON.parse(text);
    if (isMap(edited)) return { decision: "allow", arguments: edited } satisfies ApprovalAnswer;
    err.line("That is no JSON object");
  } catch (error) {
    err.line(`That is no JSON: ${messageOf(error)}`);
  }
  return null;
}

/** Aborts its signal once the request no longer waits. */
function watchEnd(
  desk: DeskOfProject,
  id: string,
  { runtime: { clock } }: Operator,
): { readonly signal: AbortSignal; [Symbol.dispose](): void } {
  const ended = new AbortController();
  let cancel = (): void => {};
  const look = (): void => {
    cancel = clock.after(LOOK_MS, async () => {
      const request = await desk.find(id).catch(() => null);
      if (request?.state !== "waiting") ended.abort();
      else if (!ended.signal.aborted) look();
    });
  };
  look();
  return {
    signal: ended.signal,
    [Symbol.dispose]() {
      cancel();
      ended.abort();
    },
  };
}

function endedWords(request: Approval | null): string {
  if (!request) return "The request is gone: its host has ended";
  const { state, end } = request;
  return `The request is ${state}${end?.by ? ` by ${end.by}` : ""}${end?.reason ? `: ${end.reason}` : ""}`;
}
