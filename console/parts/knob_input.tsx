/**
 * The control of a knob, by its type.
 *
 * @module
 */
import type { JSX } from "preact";
import type { TurnedKnob } from "../../src/http/answers.ts";
import type { Draft } from "../model/knob_draft.ts";

/** A knob, the draft to show, and the ids that join the control to its label and help. */
export interface KnobInputProps {
  readonly knob: TurnedKnob;
  readonly draft: Draft;
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly isWrong: boolean;
  onDraft(draft: Draft): void;
}

/** The control that fits the type of a knob. */
export function KnobInput({ knob, draft, id, describedBy, isWrong, onDraft }: KnobInputProps): JSX.Element {
  const { type, label, min, max, step, values = [], labels = {}, max_length: maxLength } = knob;
  const common = { id, "aria-describedby": describedBy, "aria-invalid": isWrong || undefined };
  const onInput = ({ currentTarget: { value } }: { currentTarget: { value: string } }): void => onDraft(value);
  if (type === "boolean") {
    const onChange = ({ currentTarget: { checked } }: { currentTarget: { checked: boolean } }): void =>
      onDraft(checked);
    return <input {...common} type="checkbox" role="switch" checked={draft === true} onChange={onChange} />;
  }
  const value = String(draft);
  if (type === "range" || type === "int_range") {
    const bounds = { min, max, step, value, onInput };
    return (
      <span class="range">
        <input {...bounds} type="range" aria-label={`${label}, slider`} />
        <input {...common} {...bounds} type="number" inputMode="decimal" />
      </span>
    );
  }
  if (type === "enum") {
    return (
      <select {...common} value={value} onChange={onInput}>
        {values.map((one) => <option key={one} value={one}>{labels[one] ?? one}</option>)}
      </select>
    );
  }
  if (type === "multiline") {
    return <textarea {...common} rows={4} maxLength={maxLength} value={value} onInput={onInput} />;
  }
  const placeholder = type === "model_alias" ? "the host's default" : type === "path" ? knob.prefixes?.[0] + "/…" : "";
  return (
    <input
      {...common}
      type="text"
      class={type === "path" ? "mono" : ""}
      spellcheck={type === "text"}
      autocomplete="off"
      maxLength={maxLength}
      placeholder={placeholder}
      value={value}
      onInput={onInput}
    />
  );
}
