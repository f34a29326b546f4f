/**
 * Keys of the approvals view. They move the focus and never answer by themselves: Enter on the focused button does.
 *
 * @module
 */
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Selector of the control that a key moves the focus to. */
const FOCUS: Readonly<Record<string, string>> = {
  a: ".answer .allow",
  d: ".answer .deny",
  r: ".answer .why-field",
  1: '.scopes [value="once"]',
  2: '.scopes [value="session"]',
  3: '.scopes [value="always"]',
};
const HELP: readonly (readonly [keys: string, does: string])[] = [
  ["j k", "next, previous request; arrows do the same in the list"],
  ["a", "go to Allow; Enter allows"],
  ["d", "go to Deny; Enter denies"],
  ["e", "edit the arguments"],
  ["r", "write a reason"],
  ["1 2 3", "once, for this session, always"],
  ["Esc", "back to the list"],
  ["?", "this help"],
];

/** Whether the help is open. */
export interface KeyState {
  readonly isHelpOpen: boolean;
  toggle(): void;
}

/** Listens as long as the view is open; a person who types into a field is left alone. */
export function useRequestKeys({ move, leave }: { move: (by: 1 | -1) => void; leave: () => void }): KeyState {
  const [isHelpOpen, setHelp] = useState(false);
  // With the commit, not after the next frame: until then keys would act on the list as it was before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof HTMLElement)) return;
      if (key === "Escape") {
        setHelp(false);
        return leave();
      }
      if (target.closest('textarea, select, input:not([type="radio"])')) return;
      const isInList = target.closest(".request-list") !== null;
      if (key === "j" || (isInList && key === "ArrowDown")) move(1);
      else if (key === "k" || (isInList && key === "ArrowUp")) move(-1);
      else if (key === "?") setHelp((old) => !old);
      else if (key === "e") {
        const field = document.querySelector<HTMLElement>(".editor textarea");
        if (field) field.focus();
        else document.querySelector<HTMLElement>(".request .edit")?.click();
      } else if (Object.hasOwn(FOCUS, key)) {
        const control = document.querySelector<HTMLElement>(FOCUS[key]!);
        control?.focus();
        if (control instanceof HTMLInputElement && control.type === "radio") control.click();
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return { isHelpOpen, toggle: () => setHelp((old) => !old) };
}

/** The keys, behind a button. */
export function KeyHelp({ of: { isHelpOpen, toggle } }: { of: KeyState }): JSX.Element {
  return (
    <div class="keys">
      <button type="button" class="link" aria-expanded={isHelpOpen} onClick={toggle}>
        Keys <kbd>?</kbd>
      </button>
      {isHelpOpen && (
        <dl aria-label="Keys">
          {HELP.map(([keys, does]) => (
            <div key={keys}>
              <dt>{keys.split(" ").map((one) => <kbd key={one}>{one}</kbd>)}</dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
