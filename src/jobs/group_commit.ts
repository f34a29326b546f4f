/**
 * Commits all work that waits at the same moment in one transaction: a commit waits for the disk once, however much it
 * holds.
 *
 * @module
 */
import type { Database } from "../core/ports/ports.ts";

/** Does `work` alone among all processes; resolves when its changes are on the disk. */
type GroupCommit = <T>(work: () => T) => Promise<T>;

interface Piece {
  /** Does the work within the transaction; the returned function settles its promise, after the commit. */
  run(): () => void;
  fail(error: unknown): void;
}

/**
 * Upper bound of microtasks between a settled promise and the next call of the same caller. The commit waits so long,
 * and takes the next calls of all callers as one group.
 */
const STEPS = 32;

/** Returns the transactions of a database. A piece that throws undoes itself and no other. */
export function groupCommit(database: Database): GroupCommit {
  const [begin, commit, rollback, open, close, undo] = [
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT piece",
    "RELEASE piece",
    "ROLLBACK TO piece",
  ].map((sql) => database.prepare(sql)) as [Step, Step, Step, Step, Step, Step];
  let waiting: Piece[] = [];

  async function commitSoon(): Promise<void> {
    for (let step = 0; step < STEPS; step++) await null;
    const pieces = waiting;
    waiting = [];
    let isBegun = false;
    try {
      begin.run([]);
      isBegun = true;
      const settlers = pieces.map((piece) => piece.run());
      commit.run([]);
      for (const settle of settlers) settle();
    } catch (error) {
      if (isBegun && database.inTransaction) rollback.run([]);
      for (const piece of pieces) piece.fail(error);
    }
  }

  function attempt<T>(work: () => T): T {
    open.run([]);
    try {
      return work();
    } catch (error) {
      if (!database.inTransaction) throw new Undone(error); // An error such as a full disk undoes the whole transaction.
      undo.run([]);
      throw error;
    } finally {
      if (database.inTransaction) close.run([]);
    }
  }

  return <T>(work: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.push({
        run() {
          try {
            const result = attempt(work);
            return () => resolve(result);
          } catch (error) {
            if (error instanceof Undone) throw error.cause;
            return () => reject(error);
          }
        },
        fail: reject,
      });
      if (waiting.length === 1) void commitSoon();
    });
}

type Step = ReturnType<Database["prepare"]>;

/** The whole transaction was rolled back because of its cause. */
class Undone extends Error {
  constructor(cause: unknown) {
    super("The transaction was undone", { cause });
  }
}
