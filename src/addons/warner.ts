/**
 * Tells an operator of trouble, whatever the operator's own code does.
 *
 * @module
 */

/** Returns a function that tells `onWarning`, else the console, and never throws. */
export function warner(onWarning: ((message: string) => void) | undefined): (message: string) => void {
  const tell = onWarning ?? ((message: string) => console.error(message));
  return (message) => {
    try {
      tell(message);
    } catch {
      // Who is told of trouble and makes more has nobody left to tell.
    }
  };
}
