/**
 * Light or dark: as the system has it, unless the person says otherwise.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";

/** What was chosen. */
export type Theme = "system" | "light" | "dark";

const KEPT_AT = "kaged-theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** What was chosen. */
export const theme: Signal<Theme> = signal(THEMES.find((one) => one === localStorage.getItem(KEPT_AT)) ?? "system");

theme.subscribe((chosen) => {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
});

/** Takes the next of the three. */
export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  localStorage.setItem(KEPT_AT, next);
  theme.value = next;
}
