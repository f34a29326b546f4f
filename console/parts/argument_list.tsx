/**
 * Arguments of a call: each with its type and its text, long ones folded.
 *
 * @module
 */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { fieldsOf, folded, printableLines, type ShownField, unfoldWords } from "../model/shown_values.ts";
import { counted } from "../model/words.ts";

/** Fields drawn at once: a call may have a hundred thousand. */
const PAGE = 50;

/** The arguments of a call; `onWhole` loads them whole where parts were left out. */
export function ArgumentList({ of: args, label, isCut = false, onWhole }: {
  of: Readonly<Record<string, unknown>>;
  label: string;
  isCut?: boolean;
  onWhole?: (() => Promise<unknown>) | undefined;
}): JSX.Element {
  const [limit, setLimit] = useState(PAGE);
  const fields = useMemo(() => fieldsOf(args), [args]); // The time beside them is drawn every second.
  if (fields.length === 0) return <p class="quiet">No arguments.</p>;
  const left = fields.length - limit;
  return (
    <>
      <dl class="arguments" aria-label={label}>
        {fields.slice(0, limit).map((field) => (
          <Field key={field.key} of={field} onWhole={isCut ? onWhole : undefined} />
        ))}
      </dl>
      {left > 0 && (
        <p>
          <button
            type="button"
            class="link"
            onClick={() => setLimit(limit + PAGE)}
          >
            Show {Math.min(PAGE, left)} more of {counted(fields.length, "field")}
          </button>
        </p>
      )}
      {isCut && (
        <p class="hint">
          Parts are left out for their size. {onWhole && (
            <button
              type="button"
              class="link"
              onClick={() => void onWhole()}
            >
              Load all of it
            </button>
          )}
        </p>
      )}
    </>
  );
}

function Field({ of: { label, form, text }, onWhole }: {
  of: ShownField;
  onWhole: (() => Promise<unknown>) | undefined;
}): JSX.Element {
  return (
    <div>
      <dt>
        <code>{label}</code> <span class="hint">{form}</span>
      </dt>
      <dd>
        <FoldedText of={text} label={label} onWhole={onWhole} />
      </dd>
    </div>
  );
}

/** A text whose every character can be seen; a long one shows its beginning until the person wants all of it. */
export function FoldedText({ of: text, label, onWhole }: {
  of: string;
  label: string;
  onWhole?: (() => Promise<unknown>) | undefined;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const start = folded(text);
  const isLong = start.length < text.length;
  const toggle = async (): Promise<void> => {
    if (!isOpen) await onWhole?.();
    setOpen(!isOpen);
  };
  const isWhole = isOpen || !isLong;
  const shown = useMemo(() => printableLines(isWhole ? text : `${start}…`), [text, isWhole]);
  return (
    <>
      <pre class="value" tabIndex={0} role="group" aria-label={label}>{shown}</pre>
      {isLong && (
        <button
          type="button"
          class="link"
          aria-expanded={isOpen}
          aria-label={isOpen ? `Fold ${label}` : `${unfoldWords(text)} of ${label}`}
          onClick={() => void toggle()}
        >
          {isOpen ? "Fold" : unfoldWords(text)}
        </button>
      )}
    </>
  );
}
