/**
 * The cage: what a plugin sees, what stays outside, and the ways between them.
 *
 * @module
 */
import { element, label, svgFile } from "./svg.ts";

interface Box {
  readonly at: readonly [x: number, y: number, width: number, height: number];
  readonly title: string;
  readonly lines?: readonly string[];
  /** Default: `panel`. */
  readonly fill?: string;
  readonly outline?: string;
}

interface Wire {
  readonly path: string;
  readonly colour: string;
  readonly text?: readonly [text: string, x: number, y: number];
}

const BOXES: readonly Box[] = [
  { at: [20, 20, 330, 456], title: "Host: your agent, on Deno, Bun or Node" },
  {
    at: [48, 60, 282, 104],
    title: "Supervisor",
    lines: [
      "starts, checks, restarts and stops it",
      "sees the walls before it sends a secret",
      "bounds every line, call and wait",
    ],
    fill: "page",
  },
  {
    at: [48, 196, 282, 84],
    title: "Storage broker",
    lines: ["a plugin sees its own tables only", "each statement checked and prefixed"],
    fill: "page",
  },
  {
    at: [48, 372, 282, 84],
    title: "Gatekeeper",
    lines: ["hosts and ports that a rule names", "no name leads into private networks"],
    fill: "page",
  },
  { at: [20, 520, 158, 84], title: "Storage process", lines: ["SQLite, asked again", "for each access"] },
  { at: [192, 520, 158, 84], title: "Network", lines: ["example.com:443", "and nothing else"] },
  { at: [590, 20, 390, 456], title: "Cage: bubblewrap, a seccomp filter, limits", outline: "wall" },
  {
    at: [610, 60, 342, 104],
    title: "Plugin",
    lines: [
      "a program in any language",
      "JSON-RPC 2.0, one object per line",
      "user nobody, no privileges, none to gain",
    ],
    fill: "page",
  },
  {
    at: [610, 180, 342, 164],
    title: "All it sees",
    lines: [
      "its own folder, read-only",
      "granted folders, under the same path",
      "libraries, its interpreter, granted programs",
      "a /tmp of its own, gone when it ends",
      "its own processes",
      "variables that the host chose for it",
    ],
    fill: "page",
  },
  {
    at: [610, 386, 342, 70],
    title: "Relay",
    lines: ["granted hosts lead to it: net:host:port"],
    fill: "page",
  },
  {
    at: [590, 520, 390, 84],
    title: "Not in there",
    lines: ["your files and keys, /etc/passwd, other plugins", "other processes, the machine's network, host secrets"],
    outline: "outside",
  },
];

const WIRES: readonly Wire[] = [
  { path: "M330 86H608", colour: "blue", text: ["stdin: calls, hooks, config", 470, 80] },
  { path: "M610 114H332", colour: "blue", text: ["stdout: answers, storage calls", 470, 108] },
  { path: "M610 142H332", colour: "muted", text: ["stderr: its log", 470, 136] },
  { path: "M189 164V194", colour: "blue", text: ["kaged.storage.*", 242, 184] },
  { path: "M48 238H34V518", colour: "blue" },
  { path: "M952 112H966V421H954", colour: "green", text: ["proxy variables", 910, 370] },
  { path: "M610 414H332", colour: "green", text: ["a unix socket: HTTP, SOCKS 5", 470, 408] },
  { path: "M271 456V518", colour: "green", text: ["one lookup", 306, 502] },
];

/** Returns docs/img/cage.svg. */
export function cageDrawing(): string {
  return svgFile({
    width: 1000,
    height: 624,
    title: "A plugin in its cage: pipes to the host, storage through the broker, network through the gatekeeper",
    body: [...BOXES.map(box), ...WIRES.map(wire)],
  });
}

function box({ at: [x, y, width, height], title, lines = [], fill = "panel", outline = "box" }: Box): string {
  const texts = lines.map((line, at) => label(line, { class: "muted", x: x + 14, y: y + 44 + at * 19 }));
  return element(
    "g",
    {},
    [
      element("rect", { class: fill, x, y, width, height, rx: 8 }),
      element("rect", { class: outline, fill: "none", x, y, width, height, rx: 8 }),
      label(title, { class: "ink strong", x: x + 14, y: y + 24 }),
      ...texts,
    ].join(""),
  );
}

function wire({ path, colour, text }: Wire): string {
  const line = element("path", { class: `wire ${colour}`, d: path });
  return text ? line + label(text[0], { class: "ink small middle", x: text[1], y: text[2] }) : line;
}
