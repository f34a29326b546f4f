/**
 * SQLite's keywords, by what they may stand for. A keyword in neither set here is an ordinary name to SQLite.
 *
 * @module
 */

/** Returns the words of a text with blanks between them. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Keywords that are never a name unless quoted. */
export const RESERVED: ReadonlySet<string> = words(`
  ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE
  DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS ISNULL JOIN LIMIT
  NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE
  UPDATE USING VALUES WHEN WHERE`);

/** Keywords that are a name, but not an alias written without AS. */
export const JOIN_WORDS: ReadonlySet<string> = words(`CROSS FULL INNER LEFT NATURAL OUTER RIGHT INDEXED`);

/** Operators spelled as words that stand between two operands and may be names elsewhere. */
export const WORD_OPERATORS: ReadonlySet<string> = words(`LIKE GLOB REGEXP MATCH`);
