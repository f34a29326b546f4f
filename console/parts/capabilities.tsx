/**
 * Capabilities of a plugin in plain words.
 *
 * @module
 */
import type { JSX } from "preact";
import type { CapabilityDescription } from "../../src/packages/consent/describe_capability.ts";
import type { SecretDescription } from "../../src/packages/consent/describe_secret.ts";

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

/** The operator's values that a plugin asks for, as a list; nothing where there are none. */
export function SecretList({ of }: { of: readonly SecretDescription[] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <ul class="capabilities">
      {of.map(({ key, text, danger }) => (
        <li key={key} class={danger ? "is-danger" : ""}>
          <span class="capability">
            <span>{text}</span>
            {danger && (
              <span class="danger">
                <strong>Careful:</strong> {danger}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Capabilities that a plugin asks for and runs without, as a list; nothing where there are none. */
export function WithheldList({ of }: { of: readonly CapabilityDescription[] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <ul class="capabilities">
      {of.map(({ capability, text }) => (
        <li key={capability}>
          <CapabilityText of={{ capability, text: text.replace(/^Can /, "Cannot "), danger: null }} />
        </li>
      ))}
    </ul>
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
