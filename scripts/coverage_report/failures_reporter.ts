/** Prints failed tests and nothing else. */
interface TestEvent {
  readonly type: string;
  readonly data: { readonly name?: string; readonly file?: string; readonly details?: { readonly error?: Error } };
}

/** Reporter for `node --test`. */
export default async function* failures(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if (type === "test:fail") yield `failed: ${data.name} (${data.file}): ${data.details?.error?.cause ?? ""}\n`;
  }
}
