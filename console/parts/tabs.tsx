/**
 * Tabs as links, so that each has an address of its own.
 *
 * @module
 */
import type { JSX } from "preact";
import { linkTo } from "../model/route.ts";

/** Links to the parts of a view. */
export function Tabs({ view, about, tabs, open, label }: {
  view: string;
  about: string;
  tabs: Readonly<Record<string, string>>;
  open: string;
  label: string;
}): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {Object.entries(tabs).map(([tab, text]) => (
        <a key={tab} href={linkTo(view, about, tab)} aria-current={tab === open ? "page" : undefined}>{text}</a>
      ))}
    </nav>
  );
}
