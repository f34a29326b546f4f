/**
 * Light or dark: the theme of the system, unless the person chooses one.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";

/** The person's choice; `system` follows the system. */
export type Theme = "system" | "light" | "dark";

const KEPT_AT = "kaged-theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The choice, kept in the browser. */
export const theme: Signal<Theme> = signal(THEMES.find((one) => one === localStorage.getItem(KEPT_AT)) ?? "system");

theme.subscribe((chosen) => {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
});

/** Chooses the next of the three. */
export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  localStorage.setItem(KEPT_AT, next);
  theme.value = next;
}
