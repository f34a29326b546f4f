/**
 * Facts of the machine that no plugin can change and that hold as long as a host runs: where the system keeps its
 * programs, and the namespaces of the host itself.
 *
 * @module
 */

/** Returns a function that calls `ask` once for each key and keeps its answer; after a failure it asks again. */
export function askedOnce<K extends object, T>(ask: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const answers = new WeakMap<K, Promise<T>>();
  return (key) => {
    let answer = answers.get(key);
    if (!answer) {
      answers.set(key, answer = ask(key));
      answer.catch(() => answers.delete(key));
    }
    return answer;
  };
}
