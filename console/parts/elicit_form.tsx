/**
 * What an MCP server asks a person for: a form of a few fields, or an address to open. Every text in it is the server's.
 *
 * @module
 */
import type { JSX } from "preact";
import { addressIn, type FormField } from "../../src/core/approvals/form.ts";
import type { Approval } from "../../src/http/answers.ts";
import type { FormDraft } from "../model/form_draft.ts";
import { nameOf, printableLines } from "../model/shown_values.ts";
import { FoldedText } from "./argument_list.tsx";

/** The message and the fields; one that was answered shows no fields. */
export function ElicitForm({ of: request, fields, draft, onDraft }: {
  of: Approval;
  fields: readonly FormField[];
  draft: FormDraft;
  onDraft: (draft: FormDraft) => void;
}): JSX.Element {
  const { id, arguments: form, state } = request;
  const address = addressIn(form);
  return (
    <section aria-label="Form">
      <FoldedText of={String(form["message"] ?? "")} label="Message of the server" />
      {address !== null && (
        <p>
          {"The server asks you to open "}
          <a class="mono" href={address} target="_blank" rel="noopener noreferrer">{printableLines(address)}</a>
          <span class="hint">. Open it only if you know the place: nobody here has looked at it.</span>
        </p>
      )}
      {state === "waiting" && fields.map((field, at) => (
        <Field
          key={field.name}
          id={`${id}-field-${at}`}
          of={field}
          value={draft[field.name]}
          onValue={(value) => onDraft({ ...draft, [field.name]: value })}
        />
      ))}
    </section>
  );
}

interface FieldProps {
  readonly id: string;
  readonly of: FormField;
  readonly value: FormDraft[string] | undefined;
  readonly onValue: (value: FormDraft[string]) => void;
}

function Field(props: FieldProps): JSX.Element {
  const { id, of: { title, description, isRequired, kind } } = props;
  const label = (
    <>
      {nameOf(title)} {isRequired && <span class="hint">required</span>}
    </>
  );
  return (
    <div class="form-field">
      {kind === "choices" ? <span class="form-label">{label}</span> : <label for={id}>{label}</label>}
      <Control {...props} />
      {description !== "" && <span class="hint" id={`${id}-help`}>{printableLines(description)}</span>}
    </div>
  );
}

const FORMATS: Readonly<Record<string, { readonly mode: "email" | "url" | "text"; readonly example: string }>> = {
  email: { mode: "email", example: "name@example.org" },
  uri: { mode: "url", example: "https://…" },
  date: { mode: "text", example: "2026-01-31" },
  "date-time": { mode: "text", example: "2026-01-31T12:00:00Z" },
};

function Control({ id, of: field, value, onValue }: FieldProps): JSX.Element {
  const { kind, options, isRequired, format, most, description } = field;
  const common = { id, "aria-describedby": description === "" ? undefined : `${id}-help` };
  if (kind === "boolean") {
    return (
      <input
        {...common}
        type="checkbox"
        checked={value === true}
        onChange={({ currentTarget: { checked } }) => onValue(checked)}
      />
    );
  }
  if (kind === "choices") {
    const ticked = Array.isArray(value) ? value as readonly string[] : [];
    const change = (one: string, isOn: boolean): void =>
      onValue(options.map((option) => option.value).filter((other) => other === one ? isOn : ticked.includes(other)));
    return (
      <span class="scopes" role="group" aria-label={nameOf(field.title)}>
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="checkbox"
              checked={ticked.includes(option.value)}
              onChange={({ currentTarget: { checked } }) => change(option.value, checked)}
            />
            {nameOf(option.title)}
          </label>
        ))}
      </span>
    );
  }
  const text = typeof value === "string" ? value : "";
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }): void => onValue(currentTarget.value);
  if (kind === "choice") {
    return (
      <select {...common} value={text} onChange={onInput}>
        {(!isRequired || text === "") && <option value=""></option>}
        {options.map((option) => <option key={option.value} value={option.value}>{nameOf(option.title)}</option>)}
      </select>
    );
  }
  const all = { ...common, "aria-required": isRequired || undefined, autocomplete: "off", value: text, onInput };
  if (kind !== "text") return <input {...all} type="number" step={kind === "number" ? "any" : undefined} />;
  const { mode, example } = FORMATS[format ?? ""] ?? {};
  return <input {...all} type="text" inputMode={mode} placeholder={example} maxLength={most ?? undefined} />;
}
