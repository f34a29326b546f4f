/**
 * Random SQL over a random schema, drawn from a list of numbers so that a failure can be shrunk. It leans towards what
 * a renamer gets wrong, and counts what it made.
 *
 * @module
 */
import { createRandomSource, type RandomSource } from "./random_source.ts";

/** Rows of the design's table of edge cases, and the places where a name can stand. */
export const EDGE_CASES = [
  "quoted_name",
  "string_as_name",
  "name_in_literal",
  "name_in_comment",
  "in_table",
  "in_main_table",
  "is_distinct_from",
  "nested_from",
  "keyword_as_name",
  "qualifier_in_check",
  "qualifier_in_index",
  "indexed_by",
  "circular_cte",
  "table_called_excluded",
  "alias_new_in_trigger",
  "runtime_function",
  "delete_limit",
  "nul_in_text",
  "host_table",
  "unknown_table",
  "cte",
  "alias",
  "star_of_alias",
  "main_qualifier",
  "returning",
  "upsert_excluded",
  "trigger_new_old",
  "view",
  "create_as_select",
  "references",
  "rename_table",
  "table_function",
  "named_parameter",
  "unaliased_expression",
  "window",
  "fts_match",
  "fts_command",
] as const;

/** Name of an edge case. */
export type EdgeCase = (typeof EDGE_CASES)[number];

/** A statement and its parameters. */
export interface RandomStatement {
  readonly sql: string;
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>;
}

interface Table {
  name: string;
  columns: string[];
  index: string | undefined;
}

/** A table of the host's that a plugin must not reach. */
export const HOST_TABLE = "host_sessions";

const NAMES = [
  "t",
  "u",
  "Notes",
  "a b",
  "window",
  "over",
  "filter",
  "end",
  "excluded",
  "new",
  "old",
  "ß",
  'q"q',
  "main",
];
const KEYWORDS = new Set(["window", "over", "filter", "end", "new", "old"]);
const COLUMNS = ["a", "b", "c", "t", "u", "end"];

/** Makes a script of statements. */
export function randomScript(
  numbers: readonly number[],
  length: number,
  count: (edge: EdgeCase) => void,
): RandomStatement[] {
  return new Script(createRandomSource(numbers), count).write(length);
}

class Script {
  readonly #source: RandomSource;
  readonly #count: (edge: EdgeCase) => void;
  readonly #tables: Table[] = [];
  #serial = 0;
  #search: string | null = null;

  constructor(source: RandomSource, count: (edge: EdgeCase) => void) {
    this.#source = source;
    this.#count = count;
  }

  write(length: number): RandomStatement[] {
    const statements: RandomStatement[] = [this.#createTable(), this.#createTable()];
    while (statements.length < length) statements.push(this.#statement());
    return statements;
  }

  #statement(): RandomStatement {
    const plain = (sql: string): RandomStatement => ({ sql: this.#decorate(sql), params: [] });
    switch (this.#source.below(20)) {
      case 0:
        return this.#createTable();
      case 1:
        return plain(this.#createIndex());
      case 2:
        return plain(this.#createView());
      case 3:
        return plain(this.#createTrigger());
      case 4:
        return plain(this.#alterOrDrop());
      case 5:
        return plain(this.#searchStatement());
      case 6:
      case 7:
        return plain(this.#insert());
      case 8:
        return plain(this.#upsert());
      case 9:
        return plain(this.#update());
      case 10:
        return plain(this.#delete());
      case 11:
        return this.#withParameters();
      case 12:
        return plain(this.#oddity());
      default:
        return plain(this.#select(0));
    }
  }

  #table(): Table {
    return this.#source.pick(this.#tables);
  }

  /** A name, in one of the ways SQL can write it. */
  #name(name: string, isSource: boolean = false): string {
    if (KEYWORDS.has(name)) this.#count("keyword_as_name");
    const isPlain = /^\w+$/.test(name);
    const style = this.#source.below(isSource ? 5 : 4);
    if (isPlain && style === 0) return name;
    if (isPlain && style === 1) return this.#source.chance(2) ? name.toUpperCase() : name;
    this.#count("quoted_name");
    if (style === 4 && !name.includes("'")) {
      this.#count("string_as_name");
      return `'${name}'`;
    }
    if (style === 2 && !name.includes("]")) return `[${name}]`;
    if (style === 3) return `\`${name}\``;
    return `"${name.replaceAll('"', '""')}"`;
  }

  #source_(table: Table): string {
    if (!this.#source.chance(4)) return this.#name(table.name, true);
    this.#count("main_qualifier");
    return `main.${this.#name(table.name, true)}`;
  }

  #fresh(stem: string): string {
    return `${stem}${++this.#serial}`;
  }

  #createTable(): RandomStatement {
    const free = NAMES.filter((name) => !this.#tables.some((table) => table.name === name));
    const name = free.length > 0 && !this.#source.chance(4) ? this.#source.pick(free) : this.#fresh("t");
    const columns = COLUMNS.slice(0, 2 + this.#source.below(3));
    const written = this.#name(name);
    const definitions = [`${columns[0]} INTEGER PRIMARY KEY`, ...columns.slice(1).map((column) => this.#name(column))];
    if (name === "excluded") this.#count("table_called_excluded");
    if (this.#source.chance(3)) {
      this.#count("qualifier_in_check");
      definitions.push(`CHECK(${this.#name(name)}.a IS NOT 77)`);
    }
    if (this.#tables.length > 0 && this.#source.chance(5)) {
      this.#count("references");
      definitions.push(`FOREIGN KEY(b) REFERENCES ${this.#name(this.#table().name)}(a)`);
    }
    this.#tables.push({ name, columns, index: undefined });
    return { sql: this.#decorate(`CREATE TABLE ${written}(${definitions.join(", ")})`), params: [] };
  }

  #createIndex(): string {
    const table = this.#table();
    const name = this.#fresh("i");
    // SQLite takes the qualifier only where a partial index says what it leaves out.
    const where = this.#source.chance(3) ? ` WHERE ${this.#name(table.name)}.a > 0` : "";
    if (where !== "") this.#count("qualifier_in_index");
    table.index = where === "" ? name : undefined;
    return `CREATE INDEX ${this.#name(name)} ON ${this.#name(table.name)}(b, a + 1)${where}`;
  }

  #createView(): string {
    const name = this.#fresh("v");
    this.#count("view");
    if (this.#source.chance(3)) {
      this.#count("create_as_select");
      this.#tables.push({ name, columns: ["a"], index: undefined });
      const table = this.#table();
      return `CREATE TABLE ${name} AS SELECT ${this.#name(table.name)}.a, max(${this.#name(table.name)}.b) FROM ${
        this.#source_(table)
      }`;
    }
    const select = this.#select(1);
    return `CREATE VIEW ${this.#name(name)} AS ${select}`;
  }

  #createTrigger(): string {
    const table = this.#table();
    const target = this.#table();
    const event = this.#source.pick(["INSERT", "UPDATE", "DELETE", "UPDATE OF b"]);
    const row = event === "DELETE" ? "old" : "new";
    this.#count("trigger_new_old");
    const when = this.#source.chance(3) ? ` WHEN ${row}.a > 1` : "";
    const steps = [`UPDATE ${this.#name(target.name)} SET b = ${row.toUpperCase()}.a WHERE a = ${row}.a`];
    if (this.#source.chance(2)) {
      this.#count("alias_new_in_trigger");
      steps.push(`SELECT new.a FROM ${this.#name(target.name)} AS new`);
    }
    const body = steps.map((step) => `${step};`).join(" ");
    return `CREATE TRIGGER ${this.#name(this.#fresh("r"))} AFTER ${event} ON ${
      this.#name(table.name)
    }${when} BEGIN ${body} END`;
  }

  #alterOrDrop(): string {
    const table = this.#table();
    switch (this.#source.below(4)) {
      case 0: {
        const name = this.#fresh("n");
        this.#count("rename_table");
        const sql = `ALTER TABLE ${this.#name(table.name)} RENAME TO ${this.#name(name)}`;
        table.name = name;
        return sql;
      }
      case 1: {
        const column = this.#fresh("x");
        return `ALTER TABLE ${this.#name(table.name)} ADD COLUMN ${column} DEFAULT 5`;
      }
      case 2:
        return `DROP VIEW IF EXISTS ${this.#name(`v${1 + this.#source.below(9)}`)}`;
      default:
        return `DROP INDEX IF EXISTS ${this.#name(`i${1 + this.#source.below(9)}`)}`;
    }
  }

  #searchStatement(): string {
    if (this.#search === null) {
      this.#search = this.#source.pick(["docs", "Search"]);
      return `CREATE VIRTUAL TABLE ${this.#name(this.#search)} USING fts5(title, body)`;
    }
    const name = this.#search;
    switch (this.#source.below(5)) {
      case 0:
        this.#count("fts_command");
        return `INSERT INTO ${this.#name(name)}(${this.#name(name)}) VALUES('optimize')`;
      case 1:
      case 2:
        return `INSERT INTO ${this.#name(name)}(title, body) VALUES('red fox', 'jumps over ${name}'), ('dog', 'red')`;
      case 3:
        this.#count("fts_match");
        return `SELECT rowid, snippet(${name}, 0, '<', '>', '…', 4), ${name} IS NULL FROM ${name} AS d WHERE ${name} MATCH 'red' ORDER BY rank`;
      default:
        this.#count("fts_match");
        return `SELECT title, bm25(${this.#name(name)}) FROM ${this.#name(name)} WHERE ${
          this.#name(name)
        } MATCH 'red' ORDER BY rank, rowid`;
    }
  }

  #insert(): string {
    const table = this.#table();
    const verb = this.#source.pick(["INSERT INTO", "INSERT OR IGNORE INTO", "REPLACE INTO", "INSERT OR REPLACE INTO"]);
    const returning = this.#returning(table.name);
    if (this.#source.chance(3)) {
      return `${verb} ${this.#name(table.name)}(a, b) SELECT x.a + 10, x.b FROM ${
        this.#source_(table)
      } AS x LIMIT 3${returning}`;
    }
    return `${verb} ${this.#name(table.name)}(a, b) VALUES (${this.#source.below(30)}, ${this.#value()}), (${
      30 + this.#source.below(30)
    }, ${this.#value()})${returning}`;
  }

  #upsert(): string {
    const table = this.#table();
    const alias = this.#source.chance(3) ? "z" : null;
    const visible = alias ?? this.#name(table.name);
    this.#count("upsert_excluded");
    const target = `${this.#name(table.name)}${alias ? ` AS ${alias}` : ""}`;
    return `INSERT INTO ${target}(a, b) VALUES (${this.#source.below(9)}, ${this.#value()}) ` +
      `ON CONFLICT(a) DO UPDATE SET b = excluded.b || ${visible}.b WHERE excluded.a > 0${this.#returning(visible)}`;
  }

  #update(): string {
    const table = this.#table();
    const other = this.#table();
    const from = this.#source.chance(3)
      ? ` FROM ${this.#source_(other)} AS o WHERE o.a = ${this.#name(table.name)}.a`
      : "";
    const where = from === "" ? ` WHERE ${this.#condition(table, this.#name(table.name))}` : "";
    const own = this.#name(table.name);
    return `UPDATE ${own} SET b = ${this.#value()}${from}${where}${from === "" ? this.#returning(table.name) : ""}`;
  }

  #delete(): string {
    const table = this.#table();
    const own = this.#name(table.name);
    return `DELETE FROM ${own} WHERE ${this.#condition(table, own)} AND a > 20${this.#returning(table.name)}`;
  }

  #returning(name: string): string {
    if (!this.#source.chance(3)) return "";
    this.#count("returning");
    const own = this.#name(name.replace(/^["'[`]|["'\]`]$/g, ""));
    return ` RETURNING a, ${own}.b, ${own}.a + 1, (SELECT count(*) FROM ${this.#name(this.#table().name)})`;
  }

  #withParameters(): RandomStatement {
    const table = this.#table();
    const name = this.#name(table.name);
    this.#count("named_parameter");
    if (this.#source.chance(3)) this.#count("nul_in_text");
    const text = this.#source.chance(3) ? "x\0y" : "text";
    if (this.#source.chance(2)) {
      return {
        sql: `SELECT :one, typeof(@two), ?, length(:one) FROM ${name} WHERE a < $four LIMIT 2`,
        params: [text, 2, null, 9],
      };
    }
    return {
      sql: `SELECT ${name}.a, :p || @q, typeof(:p) FROM ${name} WHERE ${name}.a <> :p LIMIT 3`,
      params: { p: this.#source.below(9), q: text },
    };
  }

  #select(depth: number): string {
    const table = this.#table();
    const alias = this.#source.pick([null, null, "x", "y", "t", "window", "over"]);
    const visible = alias === null ? this.#name(table.name) : this.#name(alias);
    const from = this.#from(table, alias);
    const order = depth === 0 ? ` ORDER BY 1, 2` : "";
    switch (this.#source.below(7)) {
      case 0:
        this.#count("cte");
        return `WITH c(a, b) AS (${this.#simple(table)}), ${this.#name("d")} AS (SELECT * FROM c) ` +
          `SELECT c.a, d.b FROM c, ${this.#name("D")} WHERE c.a = d.a ORDER BY 1, 2 LIMIT 5`;
      case 1:
        this.#count("unaliased_expression");
        return `SELECT (SELECT count(*) FROM ${this.#source_(this.#table())}), ${visible}.a + 1, ` +
          `+${visible}.b, ${visible}.b COLLATE nocase /* ${table.name} */ FROM ${from} WHERE ${
            this.#condition(table, visible)
          }${order} LIMIT 7`;
      case 2:
        this.#count("star_of_alias");
        return `SELECT ${visible}.* FROM ${from}${order} LIMIT 7`;
      case 3:
        this.#count("window");
        return `SELECT ${visible}.a, sum(${visible}.a) OVER w FROM ${from} WINDOW w AS (ORDER BY ${visible}.a)${order} LIMIT 7`;
      case 4:
        this.#count("table_function");
        return `SELECT json_each.value, ${visible}.a FROM ${from}, json_each('[1,2]') WHERE json_each.value <= ${visible}.a${order} LIMIT 7`;
      case 5:
        return `SELECT q.a FROM (SELECT ${visible}.a, ${visible}.b || 'x' FROM ${from}) AS q ${
          order === "" ? "" : "ORDER BY 1"
        } LIMIT 7`;
      default:
        return `SELECT ${visible}.a, ${visible}.b, '${this.#literal(table)}' FROM ${from} WHERE ${
          this.#condition(table, visible)
        }${order} LIMIT 7`;
    }
  }

  #literal({ name }: Table): string {
    this.#count("name_in_literal");
    return `from ${name.replaceAll("'", "''")}`;
  }

  #simple(table: Table): string {
    return `SELECT a, b FROM ${this.#source_(table)}`;
  }

  #from(table: Table, alias: string | null): string {
    const source = this.#source_(table);
    if (alias !== null) {
      this.#count("alias");
      if (alias === "window" || alias === "over") this.#count("keyword_as_name");
      return `${source} AS ${this.#name(alias)}`;
    }
    if (table.index !== undefined && !this.#source.chance(4)) {
      this.#count("indexed_by");
      return `${source} INDEXED BY ${this.#name(table.index)}`;
    }
    if (!this.#source.chance(4)) return source;
    this.#count("nested_from");
    return this.#source.pick([`(${source})`, `((${source}))`, `(${source} JOIN (SELECT 1 AS one) AS k ON k.one = 1)`]);
  }

  #condition(table: Table, visible: string): string {
    const other = this.#table();
    switch (this.#source.below(5)) {
      case 0:
        this.#count("in_table");
        return `${visible}.a IN (SELECT ${this.#name(other.name)}.a FROM ${this.#source_(other)}) OR 1 IN ${
          this.#name("one_column")
        }`;
      case 1:
        this.#count("in_main_table");
        return `${visible}.a NOT IN main.${this.#name("one_column")}`;
      case 2:
        this.#count("is_distinct_from");
        return `${visible}.a IS NOT DISTINCT FROM ${visible}.a`;
      case 3:
        return `EXISTS (SELECT 1 FROM ${this.#source_(other)} AS e WHERE e.a = ${visible}.a)`;
      default:
        return `${visible}.a BETWEEN 0 AND ${this.#source.below(60)} AND ${table.columns[1] ?? "a"} IS NOT 'zz'`;
    }
  }

  #oddity(): string {
    const table = this.#table();
    const name = this.#name(table.name);
    switch (this.#source.below(5)) {
      case 0:
        this.#count("circular_cte");
        return `WITH ${name} AS (SELECT * FROM ${name}) SELECT * FROM ${name}`;
      case 1:
        this.#count("runtime_function");
        return `SELECT sqrt(4), median(a) FROM ${name}`;
      case 2:
        this.#count("delete_limit");
        return `DELETE FROM ${name} WHERE a > 1000 LIMIT 1`;
      case 3:
        this.#count("host_table");
        return `SELECT * FROM ${this.#name(HOST_TABLE)}`;
      default:
        this.#count("unknown_table");
        return `SELECT * FROM ${this.#name("nowhere")}`;
    }
  }

  #value(): string {
    return this.#source.pick(["1", "NULL", "'text'", "2.5", "x'00ff'", "'it''s'", "-7"]);
  }

  /** Comments where they may stand. */
  #decorate(sql: string): string {
    if (!this.#source.chance(6)) return sql;
    this.#count("name_in_comment");
    return `/* FROM ${this.#tables[0]?.name.replaceAll("*/", "") ?? "t"} */ ${sql} -- FROM x`;
  }
}
