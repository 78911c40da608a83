/** What is kept by the hour: adding to it, and reading it back. */

import { change, changeRows, type Db, question, type Words } from '../questions.ts';
import type { HourRow } from './hour-changes.ts';

function add(db: Db, given: HourRow, { ownRows }: Words) {
  return db
    .insertInto('AnalyticsHour')
    .values({
      projectNumber: given.projectNumber,
      grouping: given.grouping,
      hour: given.hour,
      receivedHour: given.receivedHour,
      model: given.model,
      writer: ownRows(),
      traces: given.traces,
      spans: given.spans,
      errors: given.errors,
      promptTokens: given.promptTokens,
      promptKnown: given.promptKnown,
      completionTokens: given.completionTokens,
      completionKnown: given.completionKnown,
      costUsd: given.costUsd,
      costRestNanoUsd: given.costRestNanoUsd,
      costKnown: given.costKnown,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['projectNumber', 'grouping', 'hour', 'receivedHour', 'model', 'writer'])
        .doUpdateSet(({ eb, ref }) => ({
          traces: eb('AnalyticsHour.traces', '+', ref('excluded.traces')),
          spans: eb('AnalyticsHour.spans', '+', ref('excluded.spans')),
          errors: eb('AnalyticsHour.errors', '+', ref('excluded.errors')),
          promptTokens: eb('AnalyticsHour.promptTokens', '+', ref('excluded.promptTokens')),
          promptKnown: eb('AnalyticsHour.promptKnown', '+', ref('excluded.promptKnown')),
          completionTokens: eb('AnalyticsHour.completionTokens', '+', ref('excluded.completionTokens')),
          completionKnown: eb('AnalyticsHour.completionKnown', '+', ref('excluded.completionKnown')),
          costUsd: eb('AnalyticsHour.costUsd', '+', ref('excluded.costUsd')),
          costRestNanoUsd: eb('AnalyticsHour.costRestNanoUsd', '+', ref('excluded.costRestNanoUsd')),
          costKnown: eb('AnalyticsHour.costKnown', '+', ref('excluded.costKnown')),
        })),
    );
}

export const addHours = changeRows<HourRow>(add);
export const addHour = change<HourRow>(add);

type OfHours = {
  readonly projectNumber: number;
  readonly grouping: number;
  readonly lastHour: number;
  readonly firstReceivedHour: number;
  /** Behind this row. */
  readonly afterHour: number;
  readonly afterReceivedHour: number;
  readonly afterModel: string;
  readonly afterWriter: number;
  readonly limit: number;
};

/** In the order of their keys. */
export const listHours = question<OfHours>()((db, given) =>
  db
    .selectFrom('AnalyticsHour')
    .where('projectNumber', '=', given.projectNumber)
    .where('grouping', '=', given.grouping)
    // It says nothing new, but is where the key is entered.
    .where('hour', '>=', given.afterHour)
    .where('hour', '<=', given.lastHour)
    .where('receivedHour', '>=', given.firstReceivedHour)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('hour', 'receivedHour', 'model', 'writer'),
        '>',
        tuple(given.afterHour, given.afterReceivedHour, given.afterModel, given.afterWriter),
      ),
    )
    .select([
      'hour as hour',
      'receivedHour as receivedHour',
      'model as model',
      'writer as writer',
      'traces as traces',
      'spans as spans',
      'errors as errors',
      'promptTokens as promptTokens',
      'promptKnown as promptKnown',
      'completionTokens as completionTokens',
      'completionKnown as completionKnown',
      'costUsd as costUsd',
      'costRestNanoUsd as costRestNanoUsd',
      'costKnown as costKnown',
    ])
    .orderBy('hour')
    .orderBy('receivedHour')
    .orderBy('model')
    .orderBy('writer')
    .limit(given.limit),
);

type OfTraces = { readonly projectNumber: number; readonly sequences: readonly number[] };

/** What some traces count for. */
export const listCounted = question<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where('projectNumber', '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select([
      'projectNumber as projectNumber',
      'sequence as sequence',
      'startedAtMs as startedAtMs',
      'insertedAtMs as insertedAtMs',
      'spanCount as spanCount',
      'hasError as hasError',
      'promptTokens as promptTokens',
      'completionTokens as completionTokens',
      'totalCostNanoUsd as totalCostNanoUsd',
    ]),
);
