/**
 * Whether Bun runs this program, and how. `Bun` is typed by hand: its own types break those of `node:` modules.
 *
 * @module
 */

/** Version of Bun, or null on another runtime. */
export function bunVersion(): string | null {
  const { Bun } = globalThis as { Bun?: { readonly version?: string } };
  return Bun?.version ?? null;
}

/** Whether `bun build --compile` made this program: `process.execPath` is then no Bun. */
export function isBunCompiled(): boolean {
  const { Bun } = globalThis as { Bun?: { readonly isStandaloneExecutable?: boolean; readonly main?: string } };
  return Bun?.isStandaloneExecutable ?? Bun?.main?.startsWith("/$bunfs/") ?? false;
}
