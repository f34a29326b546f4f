/** Prints coverage room by room, and the files below the goal. */
import { roomOf } from "../pictures/rooms.ts";
import type { FileCoverage, Share } from "./read_lcov.ts";

/** Of lines and of branches. */
export const GOAL_PERCENT = 95;

/** Returns two Markdown tables: rooms with the whole last, then files below the goal, the worst first. */
export function coverageTable(files: readonly FileCoverage[]): string {
  const rooms = Map.groupBy(files, ({ file }) => `src/${roomOf(file)}`);
  const rows = [...rooms].map(([room, inside]) => row(room, inside));
  const below = files.filter(({ lines, branches }) => percent(lines) < GOAL_PERCENT || percent(branches) < GOAL_PERCENT)
    .sort((a, b) => worst(a) - worst(b));
  return [
    "| room | lines | branches |\n| --- | ---: | ---: |",
    ...rows,
    row("**whole**", files),
    `\n${below.length} of ${files.length} files are below ${GOAL_PERCENT} %:\n`,
    "| file | lines | branches |\n| --- | ---: | ---: |",
    ...below.map((file) => row(file.file, [file])),
  ].join("\n");
}

const row = (name: string, files: readonly FileCoverage[]): string =>
  `| ${name} | ${shown(sum(files.map(({ lines }) => lines)))} | ${shown(sum(files.map(({ branches }) => branches)))} |`;
const sum = (shares: readonly Share[]): Share => ({
  hit: shares.reduce((total, { hit }) => total + hit, 0),
  of: shares.reduce((total, { of }) => total + of, 0),
});
const percent = ({ hit, of }: Share): number => of === 0 ? 100 : hit / of * 100;
const shown = (share: Share): string => `${percent(share).toFixed(1)} %`;
const worst = ({ lines, branches }: FileCoverage): number => Math.min(percent(lines), percent(branches));
