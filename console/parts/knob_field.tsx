/**
 * One knob: its control, its help, and the host's answer to a new value.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { AgentKnobs, TurnedKnob } from "../../src/http/answers.ts";
import { ask } from "../model/api.ts";
import { type Draft, draftOf, valueOf } from "../model/knob_draft.ts";
import { useDoing } from "./action.tsx";
import { KnobInput } from "./knob_input.tsx";

/** A knob of a plugin for one agent. */
export function KnobField({ plugin, agent, name, knob, onSaved }: {
  plugin: string;
  agent: string;
  name: string;
  knob: TurnedKnob;
  onSaved: (knobs: AgentKnobs) => void;
}): JSX.Element {
  const id = useId();
  const kept = draftOf(knob.value);
  const [draft, setDraft] = useState(kept);
  const [isSaved, setSaved] = useState(false);
  const doing = useDoing();
  useEffect(() => setDraft(kept), [kept]);
  const isDirty = draft !== kept;
  const isDefault = draftOf(knob.default) === draft;

  const save = (): Promise<boolean> =>
    doing.run(async () => {
      const json = { agent, value: valueOf(knob, draft) };
      const place = { name: plugin, knob: name };
      const { agents: [own] } = await ask("PUT /api/v1/plugins/{name}/knobs/{knob}", place, json);
      if (own) onSaved(own);
      setSaved(true);
    });
  const change = (next: Draft): void => {
    setDraft(next);
    setSaved(false);
    doing.forget();
  };
  const undo = (): void => {
    change(kept);
    document.getElementById(`${id}-in`)?.focus();
  };
  const described = [knob.description && `${id}-help`, doing.error && `${id}-error`].filter(Boolean).join(" ");

  return (
    <form
      class="knob"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty) void save();
      }}
    >
      <div class="knob-head">
        <label for={`${id}-in`}>{knob.label}</label>
        <span class="quiet" role="status">{isSaved && !isDirty ? "Saved to project.yaml" : ""}</span>
      </div>
      {knob.description && <p class="hint" id={`${id}-help`}>{knob.description}</p>}
      <KnobInput
        knob={knob}
        draft={draft}
        id={`${id}-in`}
        describedBy={described || undefined}
        isWrong={doing.error !== null}
        onDraft={change}
      />
      {doing.error && (
        <p class="field-error" role="alert" id={`${id}-error`}>
          {doing.error.message}
          {doing.error.hint && <span class="hint">{doing.error.hint}</span>}
        </p>
      )}
      <div class="knob-acts" hidden={!isDirty && isDefault}>
        {isDirty
          ? (
            <>
              <button type="submit" class="primary" aria-label={`Save ${knob.label}`}>Save</button>
              <button type="button" aria-label={`Undo ${knob.label}`} onClick={undo}>Undo</button>
            </>
          )
          : (
            <button
              type="button"
              class="link"
              aria-label={`Reset to ${shownDefault(knob)}: ${knob.label}`}
              onClick={() => change(draftOf(knob.default))}
            >
              Reset to {shownDefault(knob)}
            </button>
          )}
      </div>
    </form>
  );
}

function shownDefault({ type, default: value, labels = {} }: TurnedKnob): string {
  if (type === "boolean") return value ? "on" : "off";
  if (value === null || value === undefined || value === "") return "empty";
  const text = labels[String(value)] ?? String(value);
  return text.length > 24 ? "the default" : text;
}
