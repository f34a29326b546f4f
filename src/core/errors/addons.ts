/**
 * Failures of add-ons.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const ADDONS_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "addons.unknown_event": row(-32602, 400, "There is no event of that name", "Use one of the events in the guide"),
  "addons.invalid_option": row(-32602, 400, "An add-on was given an option it cannot use", "Correct the option named"),
  "addons.webhook_refused": row(-32602, 400, "No webhook may go to this URL", "Use a public https:// URL, or allow it"),
  "addons.webhook_invalid": row(-32602, 400, "A webhook cannot be like this", "Correct each listed place"),
  "addons.webhook_unknown": row(-32602, 404, "There is no such webhook", "List the webhooks to see which there are"),
  "addons.webhook_limit": row(-32602, 409, "The limit on webhooks is reached", "Delete one that is not needed"),
  "addons.delivery_unknown": row(-32602, 404, "The webhook has no such delivery", "Old deliveries are forgotten"),
  "addons.delivery_pending": row(-32602, 409, "The delivery is under way already", "Wait until it has ended"),
  "addons.store_unreadable": row(-32603, 500, "The webhooks that were kept cannot be read", "Put the file right"),
  ...rows("addons", -32603, 502, {
    webhook_unreachable: ["The receiver did not answer", "Check that it runs and answers in time"],
  }),
};
