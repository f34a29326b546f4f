/**
 * Failures of add-ons.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

/** The rows. */
export const ADDONS_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "addons.unknown_event": row(-32602, 400, "There is no event of that name", "Use one of the events in the guide"),
  "addons.invalid_option": row(-32602, 400, "An add-on was given an option it cannot use", "Correct the option named"),
  "addons.webhook_refused": row(-32602, 400, "No webhook may go to this URL", "Use a public https:// URL, or allow it"),
  "addons.webhook_unreachable": row(
    -32603,
    502,
    "The receiver did not answer",
    "Check that it runs and answers in time",
  ),
};
