/**
 * Numbers over time, as high as a line of text.
 *
 * @module
 */
import type { JSX } from "preact";

const [WIDTH, HEIGHT, GAP] = [3, 18, 1] as const;

/** Bars for numbers, oldest first; `label` says the same in words. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }): JSX.Element {
  const top = Math.max(1, ...values);
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      width={values.length * (WIDTH + GAP)}
      height={HEIGHT}
    >
      <title>{label}</title>
      {values.map((value, at) => {
        const height = value === 0 ? 1 : Math.max(3, Math.round(value / top * HEIGHT));
        return (
          <rect
            key={at}
            class={value === 0 ? "none" : "some"}
            x={at * (WIDTH + GAP)}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
          />
        );
      })}
    </svg>
  );
}
