/**
 * Finds memories by their words, ranked by BM25 over text and tags.
 *
 * @module
 */
import MiniSearch from "minisearch";
import type { Memory } from "./memory_file.ts";

/** A memory and how well it fits. */
export interface Found {
  /** Id of the memory. */
  readonly id: string;
  /** The greater the better; comparable within one search only. */
  readonly score: number;
}

/** Memories that can be searched. */
export interface SearchIndex {
  /** Takes in a memory. */
  add(memory: Memory): void;
  /** Lets go of one, given as it was added. */
  remove(memory: Memory): void;
  /** Returns what fits, best first. */
  search(query: string, filter?: (id: string) => boolean): Found[];
}

const STOP_WORDS = new Set(
  ("a about an and any are as at be by can do does for from had has have how i in is it its me my of on or our so that " +
    "the their them there they this to was we were what when where which who why will with you your").split(" "),
);
const IDEOGRAPHS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Makes an empty index. */
export function createSearchIndex(): SearchIndex {
  const index = new MiniSearch<{ id: string; content: string; tags: string }>({
    fields: ["content", "tags"],
    tokenize: words,
    processTerm: (word) => STOP_WORDS.has(word) ? null : stem(word),
    autoVacuum: false,
    searchOptions: {
      boost: { tags: 2 },
      // Short words match as they are; "deploy" finds "deployment", and one slip of the key is forgiven.
      prefix: (word) => word.length > 3,
      fuzzy: (word) => word.length > 4 ? 1 : false,
      weights: { prefix: 0.6, fuzzy: 0.2 },
      maxFuzzy: 1,
    },
  });
  const entry = ({ id, content, context = "", tags }: Memory): { id: string; content: string; tags: string } => ({
    id,
    content: `${content}\n${context}`,
    tags: tags.join("\n"),
  });
  return {
    add: (memory) => index.add(entry(memory)),
    remove: (memory) => index.remove(entry(memory)),
    search: (query, filter) =>
      index.search(query, filter ? { filter: ({ id }) => filter(id) } : {}).map(({ id, score }) => ({ id, score })),
  };
}

/** Words in lower case; text without spaces between words gives every pair of neighbours. */
function words(text: string): string[] {
  const found = text.normalize("NFKC").toLowerCase().match(/[\p{L}\p{N}\p{M}]{1,64}/gu) ?? [];
  return found.flatMap((word) => IDEOGRAPHS.test(word) && word.length > 2 ? pairs(word) : [word]);
}

function pairs(word: string): string[] {
  const letters = [...word];
  return letters.slice(1).map((letter, at) => letters[at]! + letter);
}

/** Cuts the commonest endings of English words, so that "deployments" finds "deploy"; rough on purpose. */
function stem(word: string): string {
  const root = word.replace(/(?:ments?|ings?|edly|ed|ies|es|s|ly)$/, "");
  return root.length >= 4 ? root : word;
}
