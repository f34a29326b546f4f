/**
 * Finds in a conversation what is worth keeping: lasting facts, decisions, files, open questions. By rules alone, so
 * the same conversation always gives the same.
 *
 * @module
 */
import { looksSecret, normalized, proseOf, sentencesOf, textOf, type WireMessage } from "./message_text.ts";

const DECISION =
  /\b(?:decided|decision|agreed|settled on|going with|go with|chose|(?:we|I)(?:'ll| will| shall) (?:use|keep|store|ship|write|drop|move|run|stay)|let's (?:use|keep|go|drop|move|stay))\b/i;

const FACT = [
  /\b(?:remember|note)(?: that)?\b[:,]? /i,
  /\b(?:I|we|the team|the user|they) (?:really |usually |always |never |mostly )?(?:prefers?|likes?|uses?|wants?|needs?|avoids?|deploys?|runs?|targets?|works?|lives?)\b/i,
  /\b(?:my|our) [\p{L}\d ._/-]{2,40} (?:is|are|was|were|lives?|runs?|uses?|has|have|must|goes|go)\b/iu,
  /^(?:please )?(?:always|never|do not|don't|avoid|prefer|use)\b/i,
  /\bthe [\p{L}\d ._/-]{2,40} (?:is|are|lives in|runs on|must be) (?!it\b|that\b|this\b|not sure)/iu,
];

const REMEMBER = /^.{0,40}?\b(?:remember|note)(?: that)?\b[:,]? */i;

/** Whether a person asks something. */
const isQuestion = (sentence: string): boolean => sentence.endsWith("?");

/** Returns what people said that stays true after the conversation. The model's own words count only as decisions. */
export function factsOf(messages: readonly WireMessage[]): string[] {
  const spoken = messages.filter(({ role }) => role === "user").flatMap((message) => sentencesOf(proseOf(message)));
  const facts = spoken.filter((sentence) => !isQuestion(sentence) && FACT.some((mark) => mark.test(sentence)));
  return distinct([...facts.map(bare), ...decisionsOf(messages)].filter((text) => !looksSecret(text)));
}

/** "Please remember that the port is 8080" is remembered as "the port is 8080". */
function bare(sentence: string): string {
  const rest = sentence.replace(REMEMBER, "");
  return rest.length >= 8 ? rest : sentence;
}

/** Returns what was decided, by whoever said it. */
export function decisionsOf(messages: readonly WireMessage[]): string[] {
  const said = messages.filter(({ role }) => role === "user" || role === "assistant").flatMap((message) =>
    sentencesOf(proseOf(message))
  );
  return distinct(
    said.filter((sentence) => !isQuestion(sentence) && DECISION.test(sentence) && !looksSecret(sentence)),
  );
}

const PATH = /^(?:~|\.{1,2})?(?:\/?[\p{L}\d_@.+-]+)(?:\/[\p{L}\d_@.+-]+)+$/u;
const FILE =
  /^[\p{L}\d_-][\p{L}\d_.-]*\.(?:c|cc|cpp|cs|css|go|h|html|java|js|json|jsx|kt|lock|md|mjs|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|vue|xml|ya?ml)$/iu;

/** Returns the files a conversation names, in its words or in the arguments of its tool calls. */
export function pathsOf(messages: readonly WireMessage[]): string[] {
  const texts = messages.map((message) => {
    const calls = message.tool_calls === undefined ? "" : JSON.stringify(message.tool_calls).replaceAll("\\", " ");
    return `${textOf(message)}\n${calls}`;
  });
  // Word by word: a word has an end, and a pattern that is tried on it cannot take long.
  const words = texts.flatMap((text) => text.split(/[\s"'`<>()[\]{},;|=*]+/));
  const paths = words.map((word) => word.replace(/[.:!?]+$/, "").replace(/:\d+(?::\d+)?$/, ""))
    .filter((word) => word.length >= 4 && word.length <= 200 && (FILE.test(word) || isPath(word)));
  return [...new Set(paths)];
}

/** A path ends in a file with a suffix, or is rooted: "and/or" is none. */
const isPath = (word: string): boolean =>
  PATH.test(word) && (/\/[^/]*\.[\p{L}\d]{1,8}$/u.test(word) || /^(?:~|\.{1,2})?\//.test(word));

const SMALL_WORDS = new Set(
  "about after also and any are but can could did does for from had has have how into its let may not now off our out should than that the their them then there they this use was were what when where which who why will with would you your"
    .split(" "),
);

/**
 * Returns the questions nobody answered: what was said next by another shares no word of weight with them. An answer may
 * be among the messages that `follow`.
 */
export function questionsOf(messages: readonly WireMessage[], follow: readonly WireMessage[] = []): string[] {
  const turnsOf = (said: readonly WireMessage[]): { role: string; text: string }[] =>
    said.filter(({ role }) => role === "user" || role === "assistant")
      .map((message) => ({ role: message.role, text: proseOf(message) })).filter(({ text }) => text.trim() !== "");
  const turns = turnsOf(messages);
  const all = [...turns, ...turnsOf(follow)];
  const open = turns.flatMap(({ role, text }, index) => {
    const reply = all.slice(index + 1).find((turn) => turn.role !== role);
    const answered = new Set(reply ? weightyWords(reply.text) : []);
    return sentencesOf(text).filter((sentence) =>
      isQuestion(sentence) && !weightyWords(sentence).some((word) => answered.has(word))
    );
  });
  return distinct(open.filter((question) => !looksSecret(question)));
}

function weightyWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d]{3,40}/gu) ?? []).filter((word) => !SMALL_WORDS.has(word));
}

/** Returns texts without repetitions, the first of each kept. */
export function distinct(texts: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const text of texts) {
    const key = normalized(text);
    if (key !== "" && !seen.has(key)) seen.set(key, text);
  }
  return [...seen.values()];
}
