/**
 * Calls of tools that wait for a person: one is open at a time, and stays open until the person chooses another, so that
 * no click meant for one request reaches another.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Approval } from "../../src/http/answers.ts";
import { timeLeft } from "../model/approval_words.ts";
import { linkTo, place } from "../model/route.ts";
import { nameOf, previewOf } from "../model/shown_values.ts";
import { approvals, hasMoreApprovals } from "../model/state.ts";
import { agentName, counted } from "../model/words.ts";
import { KeyHelp, useRequestKeys } from "../parts/request_keys.tsx";
import { RequestDetail } from "../parts/request_detail.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { AnswersPart, EndedPart } from "./approval_history.tsx";

const PARTS: Readonly<Record<string, string>> = {
  waiting: "Waiting",
  ended: "Ended",
  answers: "Standing answers",
};
const SECOND_MS = 1000;

export function ApprovalsView({ part }: { part: string }): JSX.Element {
  const waiting = approvals.value?.length ?? 0;
  return (
    <>
      <header class="view-head">
        <h1>Approvals</h1>
        <p class="quiet">
          {waiting === 0
            ? "No call waits for you."
            : `${counted(waiting, "call")}${hasMoreApprovals.value ? " and more" : ""} ${
              waiting === 1 ? "waits" : "wait"
            } for you.`}
        </p>
      </header>
      <nav class="tabs" aria-label="Approvals">
        {Object.entries(PARTS).map(([name, text]) => (
          <a key={name} href={linkTo("approvals", name)} aria-current={name === part ? "page" : undefined}>{text}</a>
        ))}
      </nav>
      {part === "ended" ? <EndedPart /> : part === "answers" ? <AnswersPart /> : <WaitingPart />}
    </>
  );
}

function WaitingPart(): JSX.Element {
  const waiting = approvals.value;
  const { tab } = place.value;
  const [chosen, setChosen] = useState<string | null>(tab);
  const nowMs = useNow();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (tab !== null) setChosen(tab);
  }, [tab]);
  const first = waiting?.[0]?.id ?? null;
  useEffect(() => {
    if (chosen === null) setChosen(first);
  }, [chosen, first]);

  // A request that ends leaves the list; while it is open, it stays open, and the next key goes to the oldest that waits.
  const ids = (waiting ?? []).map(({ id }) => id);
  const next = ids.find((id) => id !== chosen);
  const focusRow = (id: string | null): void =>
    list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id ?? "")}"]`)?.focus();
  const choose = (id: string | undefined): void => {
    if (id === undefined) return;
    setChosen(id);
    focusRow(id);
  };
  const keys = useRequestKeys({
    move(by) {
      const at = ids.indexOf(chosen ?? "");
      choose(at === -1 ? next : ids[Math.min(ids.length - 1, Math.max(0, at + by))]);
    },
    leave: () => focusRow(chosen),
  });
  if (waiting === null) return <Loading />;
  if (chosen === null) {
    return (
      <Empty title="Nothing waits for you">
        A call that a rule or a hook asks about appears here, and the agent waits for your answer.
      </Empty>
    );
  }
  return (
    <div class="requests">
      <div class="request-side">
        <div class="request-list">
          <ul ref={list} aria-label="Waiting calls, the oldest first">
            {waiting.map((one) => (
              <Row
                key={one.id}
                of={one}
                isOpen={one.id === chosen}
                nowMs={nowMs}
                onOpen={() => choose(one.id)}
              />
            ))}
          </ul>
          {waiting.length === 0 && <p class="hint">No other call waits.</p>}
          {hasMoreApprovals.value && <p class="hint">More calls wait; they follow as you answer these.</p>}
        </div>
        <KeyHelp of={keys} />
      </div>
      <RequestDetail
        key={chosen}
        id={chosen}
        listed={waiting.find(({ id }) => id === chosen)}
        nowMs={nowMs}
        onLeave={() => focusRow(chosen)}
        onNext={next === undefined ? undefined : () => choose(next)}
      />
    </div>
  );
}

function Row({ of: request, isOpen, nowMs, onOpen }: {
  of: Approval;
  isOpen: boolean;
  nowMs: number;
  onOpen: () => void;
}): JSX.Element {
  const { id, tool, agent_path, expires_at } = request;
  return (
    <li>
      <button type="button" class="row" data-id={id} aria-current={isOpen || undefined} onClick={onOpen}>
        <span class="mono tool">{nameOf(tool)}</span>
        <span class="number quiet">{timeLeft(expires_at, nowMs)}</span>
        <span class="quiet about">{agentName(nameOf(agent_path))}</span>
        <span class="quiet about">{previewOf(request.arguments)}</span>
      </button>
    </li>
  );
}

/** The time, a second at a time. */
function useNow(): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
