/**
 * Plugins that wait for the operator's consent.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Consent } from "../../src/http/answers.ts";
import { ask } from "../model/api.ts";
import { refresh } from "../model/live.ts";
import { consents } from "../model/state.ts";
import { Action, type Doing, useDoing } from "../parts/action.tsx";
import { agentName } from "../model/words.ts";
import { FailureNote } from "../parts/failure.tsx";
import { GrantForm } from "../parts/grant_form.tsx";
import { Empty } from "../parts/states.tsx";

export function ConsentsView(): JSX.Element {
  const [news, setNews] = useState("");
  return (
    <>
      <header class="view-head">
        <h1>Consent</h1>
        <p class="quiet">Plugins that this project declares. They do nothing until you approve.</p>
      </header>
      <p role="status" class={news ? "notice" : ""}>{news}</p>
      {consents.value.length === 0
        ? (
          <Empty title="Nothing waits for you">
            A plugin that the project declares and nobody has installed appears here.
          </Empty>
        )
        : consents.value.map((request) => <RequestCard key={request.id} of={request} onNews={setNews} />)}
    </>
  );
}

function RequestCard({ of: request, onNews }: { of: Consent; onNews: (news: string) => void }): JSX.Element {
  const { id, package: pkg, source, version, agents, step, state, offer } = request;
  const doing = useDoing();
  const failure = doing.error ?? request.error;
  const approve = (json: unknown) => async () => {
    const answer = await ask("POST /api/v1/consents/{id}/approve", { id }, json).finally(refresh);
    if (answer.state === "installed") onNews(`${pkg} is installed`);
  };
  const decline = async (): Promise<void> => {
    await ask("POST /api/v1/consents/{id}/decline", { id });
    await refresh();
    onNews(`${pkg} was declined; the project stays without it`);
  };
  const askAgain = async (): Promise<void> => {
    await ask("POST /api/v1/consents/{id}/ask-again", { id });
    await refresh();
    onNews(`${pkg} is asked for again`);
  };
  const no = state === "declined"
    ? <Action doing={doing} act={askAgain} label={`Ask again for ${offer?.name ?? pkg}`}>Ask again</Action>
    : <Action doing={doing} act={decline} label={`Decline ${offer?.name ?? pkg}`}>Decline</Action>;
  return (
    <article class="card consent" aria-labelledby={id}>
      <header>
        <h2 id={id}>{offer?.name ?? pkg}</h2>
        {state === "declined" && <span class="badge plain">declined</span>}
      </header>
      <dl class="facts">
        <Fact name="Package" value={version === null ? pkg : `${pkg} ${version}`} />
        <Fact name="Source" value={source ?? "not named by the project"} />
        <Fact name="For" value={agents.map(agentName).join(", ")} />
      </dl>
      {failure && <FailureNote of={failure} isAlert />}
      {step === "source" && <SourceForm id={id} doing={doing} approve={approve}>{no}</SourceForm>}
      {step === "fetch" && <FetchStep doing={doing} source={source ?? ""} approve={approve}>{no}</FetchStep>}
      {step === "grant" && (offer
        ? <GrantForm key={offer.hash} offer={offer} doing={doing} approve={approve}>{no}</GrantForm>
        : (
          <div class="bar">
            <Action doing={doing} act={approve({})} kind="primary">Look at it</Action>
            {no}
          </div>
        ))}
    </article>
  );
}

function Fact({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="mono">{value}</dd>
    </div>
  );
}

type Approve = (json: unknown) => () => Promise<void>;

interface StepProps {
  doing: Doing;
  approve: Approve;
  children: ComponentChildren;
}

function SourceForm({ id, doing, approve, children }: StepProps & { id: string }): JSX.Element {
  const [source, setSource] = useState("");
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        if (source.trim()) void doing.run(approve({ source: source.trim() }));
      }}
    >
      <label for={`${id}-source`}>Folder or address to take it from</label>
      <input
        id={`${id}-source`}
        class="mono"
        value={source}
        placeholder="https://… or /path/to/plugin"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setSource(currentTarget.value)}
      />
      <button type="submit" class="primary">Look at it</button>
      {children}
    </form>
  );
}

function FetchStep({ doing, source, approve, children }: StepProps & { source: string }): JSX.Element {
  const isPlain = /^(git\+)?http:/.test(source);
  return (
    <>
      <p>
        Nothing was fetched yet. Fetching shows <strong class="mono">{hostOf(source)}</strong>{" "}
        that you are interested, and runs nothing.
        {isPlain && <span class="danger">The address is not encrypted.</span>}
      </p>
      <div class="bar">
        <Action doing={doing} act={approve(isPlain ? { allow_http: true } : {})} kind="primary">
          {doing.isBusy ? "Fetching …" : "Fetch and look"}
        </Action>
        {children}
      </div>
    </>
  );
}

function hostOf(source: string): string {
  try {
    return new URL(source.replace(/^git\+/, "")).host;
  } catch {
    return source;
  }
}
