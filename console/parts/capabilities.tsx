/**
 * Capabilities of a plugin in plain words.
 *
 * @module
 */
import type { JSX } from "preact";
import type { CapabilityDescription } from "../../src/packages/consent/describe_capability.ts";

/** One capability: in plain words, as it is declared, and its danger if it has one. */
export function CapabilityText({ of: { capability, text, danger } }: { of: CapabilityDescription }): JSX.Element {
  return (
    <span class="capability">
      <span>{text}</span> <code>{capability}</code>
      {danger && (
        <span class="danger">
          <strong>Careful:</strong> {danger}
        </span>
      )}
    </span>
  );
}

/** Capabilities as a list; an empty one says so. */
export function CapabilityList({ of }: { of: readonly CapabilityDescription[] }): JSX.Element {
  if (of.length === 0) return <p class="quiet">Nothing: no files, no network, no tables.</p>;
  return (
    <ul class="capabilities">
      {of.map((one) => (
        <li key={one.capability} class={one.danger ? "is-danger" : ""}>
          <CapabilityText of={one} />
        </li>
      ))}
    </ul>
  );
}
