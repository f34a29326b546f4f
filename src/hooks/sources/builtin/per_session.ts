/**
 * State of sessions, of so many as are likely to live.
 *
 * @module
 */

const MAX_SESSIONS = 200;

/** Returns a function that gives the state of a session, made when it has none; the session unused longest is forgotten. */
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
