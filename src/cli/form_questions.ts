/**
 * The form of an MCP server on a terminal: shown field by field, and filled in by a person. The printer and the questions
 * make every text printable: none of them is ours.
 *
 * @module
 */
import { addressIn, type FormField, formFields, type FormValue, typedValue } from "../core/approvals/form.ts";
import type { Approval } from "../http/answers.ts";
import type { Questions } from "./questions.ts";
import type { Printer } from "./terminal.ts";

type Form = Approval["arguments"];

/** Prints a form, or the address that a person is asked to open; false for a request that is neither. */
export function printForm({ source, arguments: form }: Approval, out: Printer): boolean {
  const [address, fields] = [addressIn(form), formFields(form)];
  if (source.kind !== "elicitation" || (address === null && fields === null)) return false;
  out.line("  it says:");
  out.quote(`${form["message"]}`);
  if (address !== null) out.line(`  open this address yourself, if you know it: ${address}`);
  else if (fields!.length === 0) out.line("  a yes or a no, and no fields");
  else out.line("  fields:");
  for (const field of fields ?? []) {
    out.line(`    ${field.name}: ${field.title}, ${wordsOf(field)}${field.isRequired ? ", required" : ""}`);
    if (field.description !== "") out.line(out.paint.dim(`      ${field.description}`));
  }
  return true;
}

/** Asks for each field in turn. Returns what was filled in. */
export async function fillForm(form: Form, ask: Questions): Promise<Record<string, FormValue>> {
  const content: [string, FormValue][] = [];
  for (const field of formFields(form) ?? []) {
    const value = field.kind === "boolean" || field.kind === "choice"
      ? await chosen(field, ask)
      : typedValue(field, await ask.text(`${field.title} (${wordsOf(field)})${rest(field)}`, initialText(field)));
    if (value !== undefined) content.push([field.name, value]);
  }
  return Object.fromEntries(content);
}

async function chosen({ kind, title, options, isRequired }: FormField, ask: Questions): Promise<FormValue | undefined> {
  const all: readonly { readonly value: FormValue; readonly title: string }[] = kind === "boolean"
    ? [{ value: true, title: "yes" }, { value: false, title: "no" }]
    : options;
  const choices = all.map(({ title: label }, at) => ({ value: `${at}`, label }));
  const answer = await ask.choose(title, isRequired ? choices : [...choices, { value: "", label: "(leave it empty)" }]);
  return all[answer === null || answer === "" ? -1 : Number(answer)]?.value;
}

const rest = ({ isRequired }: FormField): string => isRequired ? ":" : ", empty to leave it out:";

function initialText({ initial }: FormField): string {
  return Array.isArray(initial) ? initial.join(", ") : initial === null ? "" : `${initial}`;
}

const KINDS: Readonly<Record<FormField["kind"], string>> = {
  text: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  choice: "one of",
  choices: "some of, with commas between them,",
};

function wordsOf({ kind, options, least, most, format }: FormField): string {
  const of = options.map(({ value, title }) => value === title ? value : `${value} (${title})`).join(", ");
  const unit = kind === "text" ? " characters" : kind === "choices" ? " choices" : "";
  const bounds = [
    ...(least === null ? [] : [`at least ${least}${unit}`]),
    ...(most === null ? [] : [`at most ${most}${unit}`]),
  ];
  return [format ?? `${KINDS[kind]}${of === "" ? "" : ` ${of}`}`, ...bounds].join(", ");
}
