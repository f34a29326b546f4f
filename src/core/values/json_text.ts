/**
 * JSON that is text already: a result that another process wrote is sent on as it came, not read and written again.
 *
 * @module
 */

/** One JSON value as text, without a newline in it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
