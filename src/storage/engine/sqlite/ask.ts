/** Compiled questions as prepared statements. */

import {
  type Ask,
  type Asking,
  type Change,
  IDS_AT_ONCE,
  type OfNumbers,
  type Question,
  type RowsChange,
  type Transact,
} from '../../questions.ts';
import type { Database, ReadLane } from './connection.ts';

export type Asked<Params, Row> = {
  get(given: Params): Row | undefined;
  all(given: Params): Row[];
  iterate(given: Params): Iterable<Row>;
};

export function prepareQuestion<Params, Row>(db: Database, question: Question<Params, Row>): Asked<Params, Row> {
  const { text, cells, row } = question;
  const statement = db.prepare<unknown[], never>(text).raw();
  return {
    get(given) {
      const found = statement.get(...cells(given));
      return found === undefined ? undefined : row(found);
    },
    all: (given) => statement.all(...cells(given)).map(row),
    *iterate(given) {
      for (const found of statement.iterate(...cells(given))) yield row(found);
    },
  };
}

/** Answers how many rows it changed. */
export function prepareChange<Params>(db: Database, { text, cells }: Change<Params>): (given: Params) => number {
  const statement = db.prepare<unknown[]>(text);
  return (given) => statement.run(...cells(given)).changes;
}

export function prepareRows<Row>(db: Database, { text, cells }: RowsChange<Row>): (rows: readonly Row[]) => void {
  const statement = db.prepare<unknown[]>(text);
  return (rows) => {
    for (const row of cells(rows)) statement.run(...row);
  };
}

/** Prepares what is said when it is first needed. */
function createPrepareOnce(db: Database) {
  const known = new Map<unknown, unknown>();
  return <Said, Run>(prepare: (db: Database, said: Said) => Run, said: Said): Run => {
    const run = known.get(said) ?? prepare(db, said);
    known.set(said, run);
    return run as Run;
  };
}

export function createAsk(db: Database, lane: ReadLane): Ask {
  const prepareOnce = createPrepareOnce(db);
  return <Params, Row>(question: Question<Params, Row>, given: Params) =>
    lane(() => prepareOnce(prepareQuestion<Params, Row>, question).all(given));
}

export function createAsking<Questions>(db: Database, lane: ReadLane, questions: Questions): Asking<Questions> {
  return {
    questions,
    ask: createAsk(db, lane),
    idsAtOnce: IDS_AT_ONCE,
    pointsAtOnce: 1,
  };
}

/** On the handle that writes; whoever calls it lets one transaction end before the next begins. */
export function createTransact(db: Database): Transact {
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const prepareOnce = createPrepareOnce(db);

  async function ask<Params, Row>(question: Question<Params, Row>, given: Params): Promise<readonly Row[]> {
    return prepareOnce(prepareQuestion<Params, Row>, question).all(given);
  }

  return async (body) => {
    begin.run();
    try {
      const result = await body({
        isAlone: true,
        ask,
        async askEach(question, numbers) {
          const asked = prepareOnce(prepareQuestion, question) as Asked<OfNumbers, never>;
          return numbers.flatMap((number) => asked.all({ numbers: [number] }));
        },
        change: async (said, given) => prepareOnce(prepareChange, said)(given),
        changeRows(said, rows) {
          if (rows.length > 0) prepareOnce(prepareRows, said)(rows);
        },
      });
      commit.run();
      return result;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}
