/**
 * Texts by which model providers part the turns of a conversation, as data. Text that plugins and hooks inject must carry
 * none of them, or a model could take a part of it for the system's or the user's own words.
 *
 * A marker says by its shape where it counts: `<name>` is a tag, opening or closing, with or without attributes; `<name:`
 * a tag whose name begins so; `[NAME]` the same in square brackets; `Name:` the beginning of a line; anything else counts
 * wherever it stands.
 *
 * @module
 */

/** The markers that are escaped in every host; an operator and an embedder can add to them. */
export const TURN_MARKERS: readonly string[] = [
  // The host's own: the block of a plugin's text.
  "<plugin:",
  // Special tokens: ChatML and GPT (<|im_start|>, <|endoftext|>), Llama 3 (<|eot_id|>), Harmony (<|channel|>), Phi,
  // Command R (<|START_OF_TURN_TOKEN|>), DeepSeek (<｜User｜>).
  "<|",
  // Tags of prompts and transcripts.
  ...["system", "system-reminder", "system_prompt", "developer", "user", "human", "assistant", "model"].map(tag),
  ...["think", "thinking", "function_calls", "function_call", "function_results", "invoke"].map(tag),
  ...["tool", "tool_call", "tool_calls", "tool_use", "tool_result", "tool_response"].map(tag),
  // Gemma, Llama 2 and other tokenizers.
  ...["start_of_turn", "end_of_turn", "bos", "eos", "s", "sys"].map(tag),
  // Mistral and Llama 2.
  ...["INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS"].map((name) => `[${name}]`),
  // Claude before the Messages API, Vicuna, Alpaca.
  ...["Human", "Assistant", "User", "System", "### Instruction", "### Input", "### Response"].map((role) => `${role}:`),
];

function tag(name: string): string {
  return `<${name}>`;
}

/**
 * Characters that look like others, for each that occurs in markers. Characters that compatibility decomposition (NFKD)
 * turns into the plain one, such as full-width and mathematical letters, need no entry.
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  "<": "‹〈⟨˂ᐸ❮❬⧼≺⋖⟪«",
  ">": "›〉⟩˃ᐳ❯❭⧽≻⋗⟫»",
  "/": "∕⁄⧸╱⟋",
  "|": "∣ǀ│┃❘¦⏐",
  "[": "⟦❲〔【",
  "]": "⟧❳〕】",
  ":": "∶꞉ː׃։᛬⁚˸",
  "_": "ˍ▁",
  "#": "⋕♯",
  "a": "аαɑᴀ",
  "b": "вЬьᏏʙ",
  "c": "сϲᴄⲥ",
  "d": "ԁᴅɗ",
  "e": "еεҽᴇ℮",
  "f": "ғꜰϝſ",
  "g": "ɡցɢ",
  "h": "һнհʜ",
  "i": "іιıɩɪ",
  "j": "јϳᴊ",
  "k": "кκᴋ",
  "l": "ⅼӏɭʟ",
  "m": "мᴍ",
  "n": "ոпηɴ",
  "o": "оοօᴏσ",
  "p": "рρᴘ",
  "q": "ԛգ",
  "r": "гʀᴦ",
  "s": "ѕꜱ",
  "t": "тτᴛ",
  "u": "սυᴜц",
  "v": "νѵᴠ",
  "w": "ԝᴡω",
  "x": "хχ×",
  "y": "уγყʏ",
  "z": "ᴢζ",
};

const PLAIN_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([plain, others]) => [...others].map((other) => [other.toLowerCase(), plain])),
);

/** Returns a character as it reads: small, without accents, and the plain one of those that look alike. */
export function plainCharacter(character: string): string {
  if (character.charCodeAt(0) < 128) return character.toLowerCase();
  const small = character.toLowerCase();
  return PLAIN_OF.get(small) ?? Array.from(small.normalize("NFKD"), (one) => PLAIN_OF.get(one) ?? one).join("");
}
