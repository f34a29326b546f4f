/**
 * The query of a list that is answered page by page: `?limit=&cursor=`. Each answer has the cursor of the next page as
 * `next`, or null.
 *
 * @module
 */
import * as v from "valibot";
import { numberLike, textLike } from "./schemas.ts";

type LimitSchema = v.OptionalSchema<v.GenericSchema<string, number>, "100">;
type CursorSchema = v.ExactOptionalSchema<v.GenericSchema<string>, undefined>;

/** Fields of the query; a route with filters adds its own. */
export const pageFields: { readonly limit: LimitSchema; readonly cursor: CursorSchema } = {
  limit: v.optional(numberLike(/^([1-9][0-9]{0,2}|1000)$/, "It is no number from 1 to 1000"), "100"),
  cursor: v.exactOptional(textLike(/^[A-Za-z0-9_.-]{1,2000}$/, "It is no cursor of a page", "Cursor")),
};

/** The query of a list without filters. */
export const pageQuery: v.GenericSchema<
  { limit?: string | undefined; cursor?: string },
  { limit: number; cursor?: string }
> = v
  .strictObject(pageFields);
