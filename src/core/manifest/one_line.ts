/**
 * Text that fits on one line of a prompt.
 *
 * @module
 */

// Line breaks, other controls and direction marks would let a text rewrite the prompt it is shown in.
const PRINTABLE = "[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]";

/** Text of 1 to `maxLength` characters, not all of them spaces, that fits on one line. */
export function oneLine(maxLength: number): RegExp {
  return new RegExp(`^(?=\\s*\\S)${PRINTABLE}{1,${maxLength}}$`);
}

/** Like {@link oneLine}, with the line breaks at the end that a YAML block scalar keeps. */
export function oneLineAndBreaks(maxLength: number): RegExp {
  return new RegExp(`^(?=\\s*\\S)${PRINTABLE}{1,${maxLength}}\\n*$`);
}
