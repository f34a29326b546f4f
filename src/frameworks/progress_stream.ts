/**
 * Progress of a call for frameworks that read it as a stream.
 *
 * @module
 */

/** Makes a call and yields its reports of progress as they come; returns, or throws, as the call does. */
export async function* progressStream<T>(
  call: (onProgress: (progress: unknown) => void) => Promise<T>,
): AsyncGenerator<unknown, T> {
  const reports: unknown[] = [];
  let isOver = false;
  let wake: () => void = () => {};
  const result = call((progress) => {
    reports.push(progress);
    wake();
  });
  const end = (): void => {
    isOver = true;
    wake();
  };
  result.then(end, end);
  for (;;) {
    while (reports.length > 0) yield reports.shift();
    if (isOver) return await result;
    await new Promise<void>((resolve) => wake = resolve);
  }
}
