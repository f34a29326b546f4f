/**
 * Calls that have waited for a person, and the answers that hold for later calls.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Approval, ApprovalPage, StandingAnswer } from "../../src/http/answers.ts";
import { type ApiError, ask } from "../model/api.ts";
import { endWords, SCOPE_WORDS, sourceWords } from "../model/approval_words.ts";
import { nameOf } from "../model/shown_values.ts";
import { approvals } from "../model/state.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { agentName, dateAndTime } from "../model/words.ts";
import { Action, useDoing } from "../parts/action.tsx";
import { ArgumentList, FoldedText } from "../parts/argument_list.tsx";
import { ChangeList } from "../parts/change_list.tsx";
import { FailureNote } from "../parts/failure.tsx";
import { Empty, Loading, WhenLoaded } from "../parts/states.tsx";

const PAGE = 25;
const LOOKS: Readonly<Record<Approval["state"], string>> = {
  waiting: "warn",
  allowed: "good",
  denied: "bad",
  expired: "warn",
  withdrawn: "plain",
};

/** Requests that have ended, the newest first, page by page. */
export function EndedPart(): JSX.Element {
  const [{ page, error }, setState] = useState<{ page?: ApprovalPage; error?: ApiError }>({});
  const [isDeep, setDeep] = useState(false);
  const older = useDoing();
  const load = (cursor?: string): Promise<ApprovalPage> =>
    ask("GET /api/v1/approvals", { state: "ended", limit: PAGE, cursor });
  const waiting = approvals.value?.map(({ id }) => id).join(" ");
  useEffect(() => {
    let isOver = false;
    // A person who has gone back is not thrown to the newest page.
    if (!isDeep) load().then((page) => isOver || setState({ page }), (error) => isOver || setState({ error }));
    return () => {
      isOver = true;
    };
  }, [waiting, isDeep]);
  const more = async (): Promise<void> => {
    setDeep(true);
    const { approvals, next } = await load(page!.next!);
    setState((old) => ({ page: { approvals: [...old.page!.approvals, ...approvals], next } }));
  };
  if (error) return <FailureNote of={error} isAlert />;
  if (!page) return <Loading />;
  if (page.approvals.length === 0) return <Empty title="No request has ended yet" />;
  return (
    <>
      <ul class="history" aria-label="Ended requests, the newest first">
        {page.approvals.map((one) => <Ended key={one.id} of={one} />)}
      </ul>
      {page.next !== null && (
        <p class="bar">
          <Action doing={older} act={more} label="Older requests">Older requests</Action>
        </p>
      )}
      {older.error && <FailureNote of={older.error} isAlert />}
    </>
  );
}

function Ended({ of: listed }: { of: Approval }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [whole, setWhole] = useState<Approval | null>(null);
  const doing = useDoing();
  const request = whole ?? listed;
  const { id, tool, agent_path, created_at, state, end, sources, reason } = request;
  const edited = end?.answer?.arguments;
  return (
    <li class="card">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class={`badge ${LOOKS[state]}`}>{state}</span> <code>{nameOf(tool)}</code>{" "}
          <span>{agentName(nameOf(agent_path))}</span>{" "}
          <time class="number" dateTime={created_at}>{dateAndTime(end?.at ?? created_at)}</time>
        </summary>
        {isOpen && (
          <>
            <dl class="facts">
              <div>
                <dt>End</dt>
                <dd>{endWords(request)}</dd>
              </div>
              {end?.reason && <Words name="Reason" text={end.reason} />}
              <div>
                <dt>Asked by</dt>
                <dd class="mono">{sources.map(sourceWords).join(", ")}</dd>
              </div>
              {reason !== "" && <Words name="Why" text={reason} />}
            </dl>
            <h3>Arguments</h3>
            <ArgumentList
              of={request.arguments}
              label="Arguments"
              isCut={request.arguments_cut}
              onWhole={() => doing.run(async () => setWhole(await ask("GET /api/v1/approvals/{id}", { id })))}
            />
            {request.changed && <ChangeList of={request.changed} after={request.arguments} />}
            {edited && <h3>Sent instead</h3>}
            {edited && <ArgumentList of={edited} label="Edited arguments" />}
            {doing.error && <FailureNote of={doing.error} isAlert />}
          </>
        )}
      </details>
    </li>
  );
}

function Words({ name, text }: { name: string; text: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <FoldedText of={text} label={name.toLowerCase()} />
      </dd>
    </div>
  );
}

/** Answers that hold for later calls, each with its end. */
export function AnswersPart(): JSX.Element {
  const [turn, setTurn] = useState(0);
  const [news, setNews] = useState("");
  const loaded = useLoaded("GET /api/v1/approvals/answers", { limit: 1000 }, `${turn} ${approvals.value?.length}`);
  return (
    <>
      <p class="lead quiet">
        Answers you gave for a session or for good. An answer to a rule of yours for good is a rule in{" "}
        <code>config.toml</code>, and is changed there.
      </p>
      <p role="status" class={news ? "notice" : ""}>{news}</p>
      <WhenLoaded of={loaded}>
        {({ answers }) =>
          answers.length === 0
            ? <Empty title="No answer holds for later calls" />
            : (
              <ul class="history" aria-label="Standing answers">
                {answers.map((one) => (
                  <Standing
                    key={one.id}
                    of={one}
                    onRevoked={() => {
                      setTurn((old) => old + 1);
                      setNews(`Calls of ${nameOf(one.tool)} are asked about again`);
                    }}
                  />
                ))}
              </ul>
            )}
      </WhenLoaded>
    </>
  );
}

function Standing({ of: answer, onRevoked }: { of: StandingAnswer; onRevoked: () => void }): JSX.Element {
  const { id, tool, agent_path, decision, session_id, source, reason, by, created_at } = answer;
  const doing = useDoing();
  const revoke = async (): Promise<void> => {
    await ask("DELETE /api/v1/approvals/answers/{id}", { id, by: "console" });
    onRevoked();
  };
  return (
    <li class="card standing">
      <header class="part-head">
        <span class={`badge ${decision === "allow" ? "good" : "bad"}`}>
          {decision} {SCOPE_WORDS[session_id === null ? "always" : "session"]}
        </span>
        <code>{nameOf(tool)}</code>
        <span>{agentName(nameOf(agent_path))}</span>
        <Action doing={doing} act={revoke} label={`Revoke the answer for ${nameOf(tool)}`}>Revoke</Action>
      </header>
      <p class="hint">
        asked by {sourceWords(source)}
        {session_id !== null && `, in ${nameOf(session_id)}`}, answered {dateAndTime(created_at)}
        {by !== null && ` by ${nameOf(by)}`}
      </p>
      {reason !== null && reason !== "" && <FoldedText of={reason} label="reason" />}
      {doing.error && <FailureNote of={doing.error} isAlert />}
    </li>
  );
}
