/**
 * A person's answer to a call that waits: allow or deny, how far it reaches, and why.
 *
 * @module
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { addressIn } from "../../src/core/approvals/form.ts";
import type { Approval } from "../../src/http/answers.ts";
import { type Scope, SCOPES, scopeWords } from "../model/approval_words.ts";
import { nameOf } from "../model/shown_values.ts";
import type { Doing } from "./action.tsx";

/** An answer as the form has it. */
export interface GivenAnswer {
  readonly decision: "allow" | "deny";
  readonly scope: Scope;
  readonly why: string;
}

/** The form of one request. While its arguments are edited, the answer is for this one call. */
export function AnswerForm({ of: { id, tool, session_id, source, arguments: args }, isEdited, doing, onAnswer }: {
  of: Approval;
  isEdited: boolean;
  doing: Doing;
  onAnswer: (answer: GivenAnswer) => Promise<void>;
}): JSX.Element {
  const [chosen, setChosen] = useState<Scope>("once");
  const [why, setWhy] = useState("");
  const scope: Scope = isEdited ? "once" : chosen;
  const answer = (decision: GivenAnswer["decision"]): void =>
    void doing.run(() => onAnswer({ decision, scope, why: why.trim() }));
  const words = scopeWords(scope, source);
  const isNetwork = source.kind === "network";
  if (source.kind === "elicitation") {
    return <FormAnswer isAddress={addressIn(args) !== null} doing={doing} onAnswer={answer} />;
  }
  return (
    <form class="answer" aria-label="Answer" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="scopes">
        <legend class="sr-only">How far the answer reaches</legend>
        {SCOPES.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name={`${id}-scope`}
              value={one}
              checked={scope === one}
              disabled={one !== "once" && (isEdited || (one === "session" && session_id === null && !isNetwork))}
              onChange={() => setChosen(one)}
            />
            {scopeWords(one, source)}
          </label>
        ))}
        <span class="hint">{isNetwork ? NETWORK_HINTS[scope] : hintOf(scope, tool, isEdited)}</span>
      </fieldset>
      <p class="why">
        <label for={`${id}-why`}>Reason</label>
        <input
          id={`${id}-why`}
          type="text"
          class="why-field"
          value={why}
          maxLength={2000}
          placeholder="optional; the model reads it when you deny"
          autocomplete="off"
          onInput={({ currentTarget }) => setWhy(currentTarget.value)}
        />
      </p>
      <p class="bar decide">
        <button
          type="button"
          class="primary allow"
          aria-disabled={doing.isBusy || undefined}
          onClick={() => answer("allow")}
        >
          Allow {words}
          {isEdited && ", as edited"}
        </button>
        <button type="button" class="deny" aria-disabled={doing.isBusy || undefined} onClick={() => answer("deny")}>
          Deny {words}
        </button>
      </p>
    </form>
  );
}

/** Answers to a form of an MCP server: they hold for this form, and the server hears no reason. */
function FormAnswer({ isAddress, doing, onAnswer }: {
  isAddress: boolean;
  doing: Doing;
  onAnswer: (decision: GivenAnswer["decision"]) => void;
}): JSX.Element {
  const isBusy = doing.isBusy || undefined;
  return (
    <form class="answer" aria-label="Answer" onSubmit={(event) => event.preventDefault()}>
      <p class="bar decide">
        <button type="button" class="primary allow" aria-disabled={isBusy} onClick={() => onAnswer("allow")}>
          {isAddress ? "I open it" : "Send"}
        </button>
        <button type="button" class="deny" aria-disabled={isBusy} onClick={() => onAnswer("deny")}>Decline</button>
      </p>
    </form>
  );
}

const NETWORK_HINTS: Readonly<Record<Scope, string>> = {
  once: "The connections that wait for it.",
  session: "This host and port, until the plugin's process ends.",
  always: "This host and port of this plugin. An installed one is granted it.",
};

function hintOf(scope: Scope, tool: string, isEdited: boolean): string {
  if (isEdited) return "Edited arguments are for this one call.";
  if (scope === "once") return "This call only.";
  const calls = `${nameOf(tool)} of this agent, whatever its arguments`;
  return scope === "session" ? `${calls}, until the session ends.` : `${calls}, until you revoke it.`;
}
