/**
 * Warnings that never throw, even where the operator's callback does.
 *
 * @module
 */

/** Returns a function that calls `onWarning`, by default `console.error`, and never throws. */
export function warner(
  onWarning: (message: string) => void = (message) => console.error(message),
): (message: string) => void {
  return (message) => {
    try {
      onWarning(message);
    } catch {
      // An error thrown by the warning callback itself is dropped: there is nowhere left to report it.
    }
  };
}
