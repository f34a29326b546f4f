/**
 * A hookspec as the files that follow from it. The same hookspec gives the same bytes, every time and everywhere.
 *
 * @module
 */
import type { Hookspec, KindSpec, TargetLanguage } from "../types.ts";
import { emitGo } from "./go.ts";
import { emitMarkdown } from "./markdown.ts";
import { emitOpenRpc } from "./openrpc.ts";
import { emitPython } from "./python.ts";
import { emitTypeScript } from "./typescript.ts";

/** A file that follows from a hookspec. */
export interface EmittedFile {
  readonly language: TargetLanguage;
  /** Path within the folder of its language. */
  readonly path: string;
  readonly text: string;
}

interface Emitter {
  readonly emit: (spec: KindSpec) => string;
  readonly path: (spec: KindSpec) => string;
}

const EMITTERS: Readonly<Record<TargetLanguage, Emitter>> = {
  // The first version has the plain name: what imports it need not change when a second one comes.
  typescript: { emit: emitTypeScript, path: ({ kind, major }) => major === 1 ? `${kind}.ts` : `${kind}_v${major}.ts` },
  python: { emit: emitPython, path: ({ kind, major }) => `${kind}_v${major}.py` },
  go: { emit: emitGo, path: ({ kind, major }) => `${kind}/v${major}/${kind}.go` },
  openrpc: { emit: emitOpenRpc, path: ({ kind, major }) => `${kind}-v${major}.json` },
  markdown: { emit: emitMarkdown, path: ({ kind, major }) => `${kind}-v${major}.md` },
};

/** Returns the files of every language that the hookspec has a folder for. */
export function emitHookspec({ kinds, targets }: Hookspec): EmittedFile[] {
  const languages = (Object.keys(EMITTERS) as TargetLanguage[]).filter((language) => targets[language] !== undefined);
  return languages.flatMap((language) => {
    const { emit, path } = EMITTERS[language];
    return kinds.map((spec) => ({ language, path: path(spec), text: emit(spec) }));
  });
}
