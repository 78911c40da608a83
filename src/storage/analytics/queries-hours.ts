/** Queries of the hourly sums. */

import type { Sums } from '../../domain/analytics/sums.ts';
import { columns, pick } from '../plain-queries.ts';
import { change, changeRows, type Db, type Dialect, query } from '../queries.ts';
import type { OfTraces } from '../traces/columns.ts';

export type HourRow = Sums & {
  readonly projectNumber: number;
  readonly grouping: number;
  readonly hour: number;
  readonly receivedHour: number;
  readonly model: string;
};

const KEY = ['projectNumber', 'grouping', 'hour', 'receivedHour', 'model'] as const;
const SUMS = [
  'traces',
  'spans',
  'errors',
  'promptTokens',
  'promptKnown',
  'completionTokens',
  'completionKnown',
  'costUsd',
  'costRestNanoUsd',
  'costKnown',
] as const;

function add(db: Db, params: HourRow, { ownRows }: Dialect) {
  return db
    .insertInto('AnalyticsHour')
    .values({ ...pick(params, ...KEY), writer: ownRows(), ...pick(params, ...SUMS) })
    .onConflict((conflict) =>
      conflict
        .columns([...KEY, 'writer'])
        .doUpdateSet(({ eb, ref }) =>
          Object.fromEntries(SUMS.map((sum) => [sum, eb(`AnalyticsHour.${sum}`, '+', ref(`excluded.${sum}`))])),
        ),
    );
}

export const addHours = changeRows<HourRow>(add);
export const addHour = change<HourRow>(add);

type OfHours = {
  readonly projectNumber: number;
  readonly grouping: number;
  readonly lastHour: number;
  readonly firstReceivedHour: number;
  /** After this row. */
  readonly afterHour: number;
  readonly afterReceivedHour: number;
  readonly afterModel: string;
  readonly afterWriter: number;
  readonly limit: number;
};

/** By ascending key. */
export const listHours = query<OfHours>()((db, params, { find }) =>
  find(db, 'AnalyticsHour', pick(params, 'projectNumber', 'grouping'), 'projectNumber', 'grouping')
    // Redundant, but the planner needs it to use the key.
    .where('hour', '>=', params.afterHour)
    .where('hour', '<=', params.lastHour)
    .where('receivedHour', '>=', params.firstReceivedHour)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('hour', 'receivedHour', 'model', 'writer'),
        '>',
        tuple(params.afterHour, params.afterReceivedHour, params.afterModel, params.afterWriter),
      ),
    )
    .orderBy('hour')
    .orderBy('receivedHour')
    .orderBy('model')
    .orderBy('writer')
    .limit(params.limit),
);

/** What each trace adds to the hours. */
export const listCounted = query<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where('projectNumber', '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select([
      ...columns('Trace', 'projectNumber', 'sequence', 'startedAtMs', 'insertedAtMs', 'spanCount', 'hasError'),
      ...columns('Trace', 'promptTokens', 'completionTokens', 'totalCostNanoUsd'),
    ]),
);
