/**
 * SQL functions a plugin may call. Everything else is denied: what a later SQLite brings must be looked at first.
 *
 * @module
 */
import { words } from "./sql/keywords.ts";

/** Functions that only compute. */
export const ALLOWED_FUNCTIONS: ReadonlySet<string> = words(`
  abs changes char coalesce concat concat_ws format glob hex if ifnull iif instr last_insert_rowid length like likelihood
  likely lower ltrim match max min nullif octet_length printf quote random randomblob regexp replace round rtrim sign soundex
  sqlite_version substr substring subtype total_changes trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob
  avg count group_concat string_agg sum total median percentile percentile_cont percentile_disc
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
  json json_array json_array_insert json_array_length json_error_position json_extract json_group_array json_group_object
  json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid
  jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object
  jsonb_patch jsonb_remove jsonb_replace jsonb_set -> ->>
  acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
  radians sin sinh sqrt tan tanh trunc
  bm25 highlight snippet`);

/** Functions SQLite itself calls while it alters a table. */
export const ALTER_FUNCTIONS: ReadonlySet<string> = words(`
  sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_rename_quotefix sqlite_drop_column
  sqlite_drop_constraint sqlite_add_constraint sqlite_find_constraint sqlite_fail like substr printf length`);
