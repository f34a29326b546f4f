/**
 * A plugin's tables and the bytes they take.
 *
 * @module
 */
import type { JSX } from "preact";
import { changes } from "../model/state.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { bytes, count, counted } from "../model/words.ts";
import { Empty, WhenLoaded } from "../parts/states.tsx";

export function StorageTab({ plugin }: { plugin: string }): JSX.Element {
  const loaded = useLoaded("GET /api/v1/plugins/{name}/storage", { name: plugin }, changes.value[plugin]);
  return (
    <WhenLoaded of={loaded}>
      {({ tables, bytes: total }) => {
        if (tables.length === 0) return <Empty title="No tables">This plugin has stored nothing.</Empty>;
        return (
          <table class="card">
            <caption>
              {counted(tables.length, "table")}, {bytes(total)}
            </caption>
            <thead>
              <tr>
                <th scope="col">Table</th>
                <th scope="col" class="number">Rows</th>
                <th scope="col" class="number">Size</th>
                <th scope="col">
                  <span class="sr-only">Share</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {tables.map((table) => (
                <tr key={table.name}>
                  <th scope="row" class="mono">{table.name}</th>
                  <td class="number">{table.rows === null ? "–" : count(table.rows)}</td>
                  <td class="number">{bytes(table.bytes)}</td>
                  <td class="share">
                    <meter value={table.bytes} max={Math.max(1, total)} aria-label={`Share of ${table.name}`} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      }}
    </WhenLoaded>
  );
}
