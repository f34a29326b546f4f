/**
 * One call that waits for a person, or has waited: what it would do, who asks and why, and the answer.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { contentProblem, formFields } from "../../src/core/approvals/form.ts";
import type { Approval } from "../../src/http/answers.ts";
import { ApiError, ask } from "../model/api.ts";
import { endWords, sourceWords, timeLeft } from "../model/approval_words.ts";
import { draftOfArguments, readDraft } from "../model/argument_draft.ts";
import { contentOf, draftOfForm, type FormDraft } from "../model/form_draft.ts";
import { refreshApprovals } from "../model/live.ts";
import { linkTo } from "../model/route.ts";
import { nameOf } from "../model/shown_values.ts";
import { agentName, dateAndTime } from "../model/words.ts";
import { useDoing } from "./action.tsx";
import { AnswerForm, type GivenAnswer } from "./answer_form.tsx";
import { ArgumentEditor } from "./argument_editor.tsx";
import { ArgumentList, FoldedText } from "./argument_list.tsx";
import { ChangeList } from "./change_list.tsx";
import { ElicitForm } from "./elicit_form.tsx";
import { FailureNote } from "./failure.tsx";
import { Loading } from "./states.tsx";

/** Errors that the editor shows at its field. */
const OF_ARGUMENTS = new Set(["tool.arguments_invalid", "approval.answer_invalid", "http.body_too_large"]);

interface DetailProps {
  readonly id: string;
  /** The request as the list has it; undefined once it has ended. */
  readonly listed: Approval | undefined;
  readonly nowMs: number;
  /** The person leaves the editor: the focus goes back to the list. */
  readonly onLeave: () => void;
  /** Opens the next request; undefined when none waits. */
  readonly onNext: (() => void) | undefined;
}

/** A request. It is drawn anew for each id (`key`), and stays as it is when others come and go. */
export function RequestDetail({ id, listed, nowMs, onLeave, onNext }: DetailProps): JSX.Element {
  const [read, setRead] = useState<Approval | null>(null);
  const [isMine, setMine] = useState(false);
  const [draft, setDraft] = useState<string | null>(null);
  const [doing, loading] = [useDoing(), useDoing()];
  const article = useRef<HTMLElement>(null);
  const last = useRef(listed);
  if (listed) last.current = listed;
  const request = read?.end ? read : read ?? listed ?? last.current ?? null;
  const load = async (): Promise<Approval> => {
    const whole = await ask("GET /api/v1/approvals/{id}", { id });
    setRead(whole);
    return whole;
  };
  const isListed = listed !== undefined;
  useEffect(() => {
    if (!isListed) void loading.run(load);
  }, [isListed]);
  const edited = useMemo(() => draft === null || !request ? null : readDraft(draft, request.arguments), [
    draft,
    request,
  ]);
  const isForm = request?.source.kind === "elicitation";
  const fields = useMemo(() => isForm ? formFields(request.arguments) ?? [] : [], [request?.arguments]);
  const [filled, setFilled] = useState<FormDraft>({});
  const isCutForm = isForm && request.arguments_cut;
  useEffect(() => {
    if (isCutForm) void loading.run(load); // A list leaves out parts of a long form.
    else setFilled(draftOfForm(fields));
  }, [fields.length, isCutForm]);
  if (!request) return loading.error ? <FailureNote of={loading.error} isAlert /> : <Loading />;

  const answer = async ({ decision, scope, why }: GivenAnswer): Promise<void> => {
    if (decision === "allow" && edited?.problem) throw new ApiError(0, { code: "page", detail: edited.problem });
    const changed = decision === "allow" && edited?.args ? { arguments: edited.args } : {};
    const content = contentOf(fields, filled);
    const problem = isForm && decision === "allow" ? contentProblem(request.arguments, content) : null;
    if (problem !== null) throw new ApiError(0, { code: "page", detail: problem });
    const form = fields.length > 0 && decision === "allow" ? { content } : {};
    const json = { decision, scope, by: "console", ...(why !== "" && { reason: why }), ...changed, ...form };
    try {
      setRead(await ask("POST /api/v1/approvals/{id}/answer", { id }, json));
      setMine(true);
      article.current?.focus();
    } catch (error) {
      await load();
      // Somebody else was first: the notice says who, and nothing has failed.
      if (!(error instanceof ApiError && error.code === "approval.ended")) throw error;
      article.current?.focus();
    } finally {
      void refreshApprovals().catch(() => {});
    }
  };
  const isWaiting = request.state === "waiting";
  const atEditor = doing.error !== null && draft !== null && (edited?.problem || OF_ARGUMENTS.has(doing.error.code));
  return (
    <article class="card request" ref={article} tabIndex={-1} aria-label={`Request for ${nameOf(request.tool)}`}>
      <header>
        <h2 class="mono">{nameOf(request.tool)}</h2>
        {isWaiting
          ? <span class="badge warn number">{timeLeft(request.expires_at, nowMs)} left</span>
          : <span class={`badge ${request.state === "allowed" ? "good" : "plain"}`}>{request.state}</span>}
      </header>
      {!isWaiting && <EndNotice of={request} isMine={isMine} onNext={onNext} />}
      <Facts of={request} />
      {isForm && (
        <ElicitForm
          of={request}
          fields={fields}
          draft={filled}
          onDraft={(draft) => {
            setFilled(draft);
            doing.forget();
          }}
        />
      )}
      {!isForm && (
        <ArgumentsPart
          of={request}
          draft={draft}
          problem={edited?.problem ? { message: edited.problem, hint: undefined } : atEditor ? doing.error : null}
          onDraft={(text) => {
            setDraft(text);
            doing.forget();
          }}
          onWhole={load}
          onLeave={onLeave}
        />
      )}
      {request.changed && <ChangeList of={request.changed} after={request.arguments} />}
      {doing.error && !atEditor && <FailureNote of={doing.error} isAlert />}
      {loading.error && <FailureNote of={loading.error} isAlert />}
      {isWaiting && (
        <AnswerForm of={request} isEdited={edited !== null && edited.args !== null} doing={doing} onAnswer={answer} />
      )}
    </article>
  );
}

/** How it ended. It stands where no button of the form was, so that a second click does nothing. */
function EndNotice({ of: request, isMine, onNext }: {
  of: Approval;
  isMine: boolean;
  onNext: (() => void) | undefined;
}): JSX.Element {
  const { end } = request;
  const isAnswer = end?.answer !== null;
  return (
    <div class="notice" role="status">
      <p>
        {!isMine && (isAnswer ? "Answered elsewhere: " : "No answer is needed any more: ")}
        {endWords(request, isMine)}.
      </p>
      {end?.reason && <FoldedText of={end.reason} label="reason of the answer" />}
      {onNext && (
        <p>
          <button type="button" class="link" onClick={onNext}>Next request</button>
        </p>
      )}
    </div>
  );
}

function Facts({ of: request }: { of: Approval }): JSX.Element {
  const { plugin, agent_path, session_id, job_id, sources, reason, created_at } = request;
  return (
    <dl class="facts">
      <div>
        <dt>Plugin</dt>
        <dd class="mono">{plugin === null ? "none: a tool of the program" : nameOf(plugin)}</dd>
      </div>
      <div>
        <dt>Agent</dt>
        <dd>
          {agentName(nameOf(agent_path))}
          {session_id !== null && <span class="hint mono">{nameOf(session_id)}</span>}
          {job_id !== null && (
            <span class="hint">
              in a <a href={linkTo("jobs")}>job</a>
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>Asked by</dt>
        <dd>
          <span class="mono">{sources.map(sourceWords).join(", ")}</span>
          <time class="hint number" dateTime={created_at}>{dateAndTime(created_at)}</time>
        </dd>
      </div>
      {reason !== "" && (
        <div>
          <dt>Why</dt>
          <dd>
            <FoldedText of={reason} label="reason" />
          </dd>
        </div>
      )}
    </dl>
  );
}

function ArgumentsPart({ of: request, draft, problem, onDraft, onWhole, onLeave }: {
  of: Approval;
  draft: string | null;
  problem: Pick<ApiError, "message" | "hint"> | null;
  onDraft: (draft: string | null) => void;
  onWhole: () => Promise<Approval>;
  onLeave: () => void;
}): JSX.Element {
  const opening = useDoing();
  const [isTooBig, setTooBig] = useState(false);
  const edit = async (): Promise<void> => {
    const whole = request.arguments_cut ? await onWhole() : request;
    setTooBig(whole.arguments_cut);
    if (!whole.arguments_cut) onDraft(draftOfArguments(whole.arguments));
  };
  const isWaiting = request.state === "waiting";
  const isEditable = isWaiting && request.source.kind !== "network"; // A connection goes there, or nowhere.
  return (
    <section aria-label="Arguments">
      <header class="part-head">
        <h3>Arguments</h3>
        {isEditable && draft === null && (
          <button type="button" class="link edit" onClick={() => void opening.run(edit)}>Edit</button>
        )}
      </header>
      {isTooBig && <p class="hint">The arguments are too big to be edited.</p>}
      {opening.error && <FailureNote of={opening.error} isAlert />}
      {isWaiting && draft !== null
        ? (
          <ArgumentEditor
            id={request.id}
            draft={draft}
            problem={problem}
            onDraft={onDraft}
            onDiscard={() => onDraft(null)}
            onLeave={onLeave}
          />
        )
        : (
          <ArgumentList
            of={request.arguments}
            label="Arguments"
            isCut={request.arguments_cut}
            onWhole={() => opening.run(onWhole)}
          />
        )}
    </section>
  );
}
