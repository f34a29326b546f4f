/**
 * What handlers changed in the arguments of a call, line by line.
 *
 * @module
 */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ChangedArguments } from "../../src/http/answers.ts";
import { argumentChanges } from "../model/argument_changes.ts";
import { nameOf } from "../model/shown_values.ts";
import { DiffLines } from "./diff_lines.tsx";

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
          <DiffLines of={lines} label={`Changes of ${label}`} />
        </div>
      ))}
    </section>
  );
}
