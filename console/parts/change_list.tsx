/**
 * What handlers changed in the arguments of a call, line by line.
 *
 * @module
 */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { printable } from "../../src/core/values/printable.ts";
import type { DiffLine } from "../../src/core/values/line_diff.ts";
import type { ChangedArguments } from "../../src/http/answers.ts";
import { argumentChanges } from "../model/argument_changes.ts";
import { nameOf } from "../model/shown_values.ts";

/** Lines drawn of one field. */
const MAX_LINES = 400;

/** The fields that differ from those of the caller. */
export function ChangeList({ of: { before, by }, after }: {
  of: ChangedArguments;
  after: Readonly<Record<string, unknown>>;
}): JSX.Element {
  const changes = useMemo(() => argumentChanges(before, after), [before, after]);
  return (
    <section aria-label="Changes">
      <h3>Changed by {by.map(nameOf).join(", ")} before you were asked</h3>
      {changes.length === 0 && <p class="quiet">Nothing that can be seen here: the parts that differ are left out.</p>}
      {changes.map(({ key, label, how, lines }) => (
        <div key={key}>
          <p>
            <code>{label}</code> <span class="hint">{how}</span>
          </p>
          <pre class="value" tabIndex={0} role="group" aria-label={`Changes of ${label}`}>
            {lines.slice(0, MAX_LINES).map((line, at) => <Line key={at} of={line} />)}
            {lines.length > MAX_LINES && `… and ${lines.length - MAX_LINES} more lines\n`}
          </pre>
        </div>
      ))}
    </section>
  );
}

function Line({ of: { mark, text } }: { of: DiffLine }): JSX.Element {
  const words = `${mark} ${printable(text)}\n`;
  if (mark === " ") return <>{words}</>;
  return mark === "+" ? <ins>{words}</ins> : <del>{words}</del>;
}
