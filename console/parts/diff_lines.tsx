/**
 * Lines of a difference: kept, taken out, put in.
 *
 * @module
 */
import type { JSX } from "preact";
import type { DiffLine } from "../../src/core/values/line_diff.ts";
import { printable } from "../../src/core/values/printable.ts";

/** Lines drawn at most. */
const MAX_LINES = 400;

export function DiffLines({ of, label }: { of: readonly DiffLine[]; label: string }): JSX.Element {
  return (
    <pre class="value" tabIndex={0} role="group" aria-label={label}>
      {of.slice(0, MAX_LINES).map((line, at) => <Line key={at} of={line} />)}
      {of.length > MAX_LINES && `… and ${of.length - MAX_LINES} more lines\n`}
    </pre>
  );
}

function Line({ of: { mark, text } }: { of: DiffLine }): JSX.Element {
  const words = `${mark} ${printable(text)}\n`;
  if (mark === " ") return <>{words}</>;
  return mark === "+" ? <ins>{words}</ins> : <del>{words}</del>;
}
