/**
 * State for each session, of the 200 that were used last.
 *
 * @module
 */

const MAX_SESSIONS = 200;

/** Returns a function that returns the state of a session, made when it has none; the session unused for longest is forgotten. */
export function perSession<T>(make: () => T): (sessionId: string) => T {
  const states = new Map<string, T>();
  return (sessionId) => {
    const state = states.get(sessionId) ?? make();
    states.delete(sessionId);
    states.set(sessionId, state);
    if (states.size > MAX_SESSIONS) states.delete(states.keys().next().value!);
    return state;
  };
}
