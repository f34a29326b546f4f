/**
 * SVG as text: elements, and one look for all pictures, readable on a light and on a dark page.
 *
 * @module
 */

/** Numbers are rounded: a picture is the same text on every machine. */
export type Attributes = Readonly<Record<string, string | number>>;

/** Size, title and elements of a picture. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Describes the picture to people who do not see it. */
  readonly title: string;
  /** Its elements. */
  readonly body: readonly string[];
}

/** Role of a shape or a text → colour on a light page, colour on a dark one. */
const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  page: ["#ffffff", "#0d1117"],
  panel: ["#f3f5f8", "#161b22"],
  line: ["#c5ccd4", "#3d444d"],
  ink: ["#1f2328", "#e6edf3"],
  muted: ["#59636e", "#9aa4af"],
  band: ["#dce2e9", "#353e49"],
  blue: ["#0969da", "#4493f8"],
  orange: ["#bc4c00", "#e07b39"],
  purple: ["#8250df", "#ab7df8"],
  green: ["#1a7f37", "#3fb950"],
  pink: ["#bf3989", "#e275ad"],
  yellow: ["#9a6700", "#d29922"],
};

/** Colours of series, in this order. */
export const SERIES: readonly string[] = ["blue", "orange", "purple", "green", "pink", "yellow"];

/** Returns text that XML reads as this text; what XML cannot hold becomes a question mark. */
export function escapeXml(text: string): string {
  // deno-lint-ignore no-control-regex
  const safe = text.toWellFormed().replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "?");
  return safe.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
}

/** Returns an element around markup that is already escaped. */
export function element(name: string, attributes: Attributes, inside = ""): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(shown(value))}"`).join("");
  return inside === "" ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

/** Returns a text, which stays text: it can be searched, copied and read aloud. */
export function label(text: string, attributes: Attributes): string {
  return element("text", attributes, escapeXml(text));
}

/** Returns the picture as a file. */
export function svgFile({ width, height, title, body }: Picture): string {
  const root = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" };
  const lines = [
    element("title", {}, escapeXml(title)),
    element("style", {}, `\n${STYLE}\n`),
    element("defs", {}, ["muted", ...SERIES].map(arrowHead).join("")),
    // The picture brings its own page: a viewer may show it on any colour.
    element("rect", { class: "page", width, height, rx: 10 }),
    ...body,
  ];
  return `${element("svg", root, `\n${lines.join("\n")}\n`)}\n`;
}

/** Width of a text in the picture's font, generously: nobody knows which font that will be. */
export const textWidth = (text: string, size = 13): number => [...text].length * size * 0.56;

const arrowHead = (colour: string): string =>
  element(
    "marker",
    {
      id: `to-${colour}`,
      viewBox: "0 0 8 8",
      refX: 7,
      refY: 4,
      markerWidth: 11,
      markerHeight: 11,
      orient: "auto",
      markerUnits: "userSpaceOnUse",
    },
    element("path", { class: colour, d: "M0 0.8 7.5 4 0 7.2z" }),
  );
/** Class of an outline → role whose colour it has. */
const OUTLINES: Readonly<Record<string, string>> = {
  ...{ box: "line", axis: "line", one: "ink", wall: "orange", outside: "muted", outer: "blue" },
  ...Object.fromEntries(["muted", ...SERIES].map((role) => [`wire.${role},.series.${role}`, role])),
};
const colours = (at: 0 | 1): string =>
  [
    ...Object.entries(COLOURS).map(([role, shades]) => `.${role}{fill:${shades[at]}}`),
    ...Object.entries(OUTLINES).map(([name, role]) => `.${name}{stroke:${COLOURS[role]![at]}}`),
    ".wire,.series{fill:none}",
  ].join("");
const STYLE = [
  "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif}",
  ".strong{font-weight:600}.small{font-size:11px}.large{font-size:16px}.end{text-anchor:end}.middle{text-anchor:middle}",
  ".wire,.outer,.outside{stroke-width:1.5}.wire.thin{stroke-width:1}.wire.thick{stroke-width:2.6}.wall{stroke-width:4}",
  ".axis{stroke-width:.75}.series{stroke-width:2;stroke-linejoin:round}.outside,.dashed{stroke-dasharray:5 4}",
  ["muted", ...SERIES].map((colour) => `.wire.${colour}{marker-end:url(#to-${colour})}`).join(""),
  colours(0),
  `@media(prefers-color-scheme:dark){${colours(1)}}`,
].join("\n");

const shown = (value: string | number): string =>
  typeof value === "number" ? String(Math.round(value * 10) / 10) : value;
