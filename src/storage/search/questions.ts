/** What a search asks: traces in an order, and what has to be known of them to judge them. */

import { sql } from 'kysely';
import { type Db, question, type Words } from '../questions.ts';

/** What every order is asked with. Bounds that say nothing are as wide as can be; needles may be null. */
export type TracesAsked = {
  readonly projectNumber: number;
  readonly goneBeforeMs: number;
  readonly startedFromMs: number;
  readonly startedToMs: number;
  readonly updatedFromMs: number;
  readonly updatedToMs: number;
  /** Whether traces have an error: 0 or 1. */
  readonly errorsFrom: number;
  readonly errorsTo: number;
  /** Text that the metadata has to hold. */
  readonly firstNeedle: string | null;
  readonly secondNeedle: string | null;
};

type Asked = TracesAsked & { readonly key: number; readonly traceId: string; readonly limit: number };
type OfTraces = { readonly projectNumber: number; readonly sequences: readonly number[] };
/** Of one trace: what comes behind a span, or behind an empty text. */
type BehindSpan = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly after: string;
  readonly limit: number;
};
type Direction = 'asc' | 'desc';

/** When a trace began: one without spans, when it came in. As the index has it. */
const START = sql<number>`coalesce(${sql.ref('startedAtMs')}, ${sql.ref('insertedAtMs')})`;

const UPDATE = sql<number>`${sql.ref('updatedAtMs')}`;

/** The addition keeps a database from going through a whole project for traces that are named by their sequences. */
const PROJECT = sql<number>`${sql.ref('projectNumber')} + 0`;

/** As a number, because stores do not agree how truth is given to a question. */
const ERROR = sql<number>`case when ${sql.ref('hasError')} then 1 else 0 end`;

/** Of how many traces it can be read at once. */
const METADATA_BYTES = sql<number>`octet_length(${sql.ref('metadataJson')})`;

/** Traces without a value come last, whichever way. */
function orLast(column: string, direction: Direction) {
  const last = direction === 'asc' ? Number.MAX_SAFE_INTEGER : -1;
  return sql<number>`coalesce(${sql.ref(column)}, ${sql.lit(last)})`;
}

/** A time that ran backwards is none. */
function duration(direction: Direction, { atLeast }: Words) {
  const last = direction === 'asc' ? Number.MAX_SAFE_INTEGER : -1;
  return sql<number>`coalesce(${atLeast('durationMs', 0)}, ${sql.lit(last)})`;
}

type Index = 'start' | 'update' | 'any';

/** The addition keeps a database from entering by the other index, behind which it would have to sort all it finds. */
function tracesOf(db: Db, given: TracesAsked, { holds }: Words, index: Index) {
  const start = index === 'update' ? sql<number>`${START} + 0` : START;
  const update = index === 'start' ? sql<number>`${UPDATE} + 0` : UPDATE;
  return db
    .selectFrom('Trace')
    .where('projectNumber', '=', given.projectNumber)
    .where('insertedAtMs', '>=', given.goneBeforeMs)
    .where(start, '>=', given.startedFromMs)
    .where(start, '<=', given.startedToMs)
    .where(update, '>=', given.updatedFromMs)
    .where(update, '<=', given.updatedToMs)
    .where(ERROR, '>=', given.errorsFrom)
    .where(ERROR, '<=', given.errorsTo)
    .where(holds('metadataJson', given.firstNeedle))
    .where(holds('metadataJson', given.secondNeedle));
}

function listBy(direction: Direction, keyOf: (words: Words) => typeof START, index: Index = 'any') {
  return question<Asked>()((db, given, words) => {
    const key = keyOf(words);
    const traceId = words.idText('traceId');
    const isBehind = sql.raw(direction === 'asc' ? '>' : '<');
    return (
      tracesOf(db, given, words, index)
        // It says nothing new, but is where an index is entered.
        .where(key, direction === 'asc' ? '>=' : '<=', given.key)
        .where(sql<boolean>`(${key}, ${traceId}) ${isBehind} (${given.key}, ${given.traceId})`)
        .select([
          key.as('key'),
          traceId.as('traceId'),
          'sequence as sequence',
          'spanCount as spanCount',
          'hasError as hasError',
          METADATA_BYTES.as('metadataBytes'),
        ])
        .orderBy(key, direction)
        .orderBy(traceId, direction)
        .limit(given.limit)
    );
  });
}

export const listByStart = listBy('asc', () => START, 'start');
export const listByStartDown = listBy('desc', () => START, 'start');
export const listByUpdate = listBy('asc', () => UPDATE, 'update');
export const listByUpdateDown = listBy('desc', () => UPDATE, 'update');
export const listByCost = listBy('asc', () => orLast('totalCostNanoUsd', 'asc'));
export const listByCostDown = listBy('desc', () => orLast('totalCostNanoUsd', 'desc'));
export const listByDuration = listBy('asc', (words) => duration('asc', words));
export const listByDurationDown = listBy('desc', (words) => duration('desc', words));
export const listByFirstToken = listBy('asc', () => orLast('firstTokenMs', 'asc'));
export const listByFirstTokenDown = listBy('desc', () => orLast('firstTokenMs', 'desc'));

/** How many there are, up to a limit. */
export const countTraces = question<TracesAsked & { readonly limit: number }>()((db, given, words) =>
  db
    .selectFrom(tracesOf(db, given, words, 'any').select('sequence as sequence').limit(given.limit).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

/** The traces of some ids. */
export const findByIds = question<{ readonly projectNumber: number; readonly ids: readonly string[] }>()(
  (db, { projectNumber, ids }, words) =>
    factsOf(db, words).where('projectNumber', '=', projectNumber).where(words.isOneOf('traceId', ids)),
);

/** The traces of some sequences. */
export const findBySequences = question<OfTraces>()((db, { projectNumber, sequences }, words) =>
  factsOf(db, words).where(PROJECT, '=', projectNumber).where(words.isAmong('sequence', sequences)),
);

/** With all that orders go by. */
function factsOf(db: Db, { idText, atLeast }: Words) {
  return db
    .selectFrom('Trace')
    .select([
      idText('traceId').as('traceId'),
      'sequence as sequence',
      'spanCount as spanCount',
      'hasError as hasError',
      METADATA_BYTES.as('metadataBytes'),
      'insertedAtMs as insertedAtMs',
      'updatedAtMs as updatedAtMs',
      START.as('startMs'),
      'totalCostNanoUsd as totalCostNanoUsd',
      atLeast('durationMs', 0).as('totalTimeMs'),
      'firstTokenMs as firstTokenMs',
    ]);
}

export const listMetadata = question<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where(PROJECT, '=', projectNumber)
    .where(isAmong('sequence', sequences))
    .select(['sequence as sequence', 'metadataJson as metadataJson']),
);

/** Of all spans of some traces. */
export const listSpans = question<OfTraces>()((db, { projectNumber, sequences }, words) =>
  spanFacts(db, words).where('projectNumber', '=', projectNumber).where(words.isAmong('traceSequence', sequences)),
);

/** The same with what went in and came out, where that is short. */
export const listSpansWithTexts = question<OfTraces & { readonly bytesMax: number }>()(
  (db, { projectNumber, sequences, bytesMax }, words) =>
    spanFacts(db, words)
      .where('projectNumber', '=', projectNumber)
      .where(words.isAmong('traceSequence', sequences))
      .select([shortText('inputJson', bytesMax).as('inputText'), shortText('outputJson', bytesMax).as('outputText')]),
);

/** As it is kept: see typedJson of kinds.ts. */
function shortText(column: string, bytesMax: number) {
  return sql<string | null>`case when octet_length(${sql.ref(column)}) <= ${bytesMax} then ${sql.ref(column)} end`;
}

/** The same of one trace, which may have many: some at a time. */
export const listSpansBehind = question<BehindSpan>()((db, { projectNumber, sequence, after, limit }, words) =>
  spanFacts(db, words)
    .where('projectNumber', '=', projectNumber)
    .where('traceSequence', '=', sequence)
    .where('spanId', '>', words.storedId(after))
    .orderBy('spanId')
    .limit(limit),
);

function spanFacts(db: Db, { idText }: Words) {
  return db
    .selectFrom('Span')
    .select((column) => [
      'traceSequence as traceSequence',
      idText('spanId').as('spanId'),
      idText('parentId').$castTo<string | null>().as('parentId'),
      'type as type',
      'name as name',
      'model as model',
      'startedAtMs as startedAtMs',
      column('startedAtMs', '+', column.ref('durationMs')).as('finishedAtMs'),
      column('inputJson', 'is not', null).$castTo<boolean>().as('hasInput'),
      column('outputJson', 'is not', null).$castTo<boolean>().as('hasOutput'),
      column('errorJson', 'is not', null).$castTo<boolean>().as('hasError'),
    ]);
}

/** What went wrong in a trace: some at a time, because each may be long. */
export const listErrors = question<BehindSpan>()(
  (db, { projectNumber, sequence, after, limit }, { idText, storedId }) =>
    db
      .selectFrom('Span')
      .where('projectNumber', '=', projectNumber)
      .where('traceSequence', '=', sequence)
      .where('spanId', '>', storedId(after))
      .where('errorJson', 'is not', null)
      .select([idText('spanId').as('spanId'), 'errorJson as errorJson'])
      .orderBy('spanId')
      .limit(limit),
);

/** What went in and came out, of one span. */
export const findTexts = question<{
  readonly projectNumber: number;
  readonly sequence: number;
  readonly spanId: string;
}>()((db, { projectNumber, sequence, spanId }, { storedId }) =>
  db
    .selectFrom('Span')
    .where('projectNumber', '=', projectNumber)
    .where('traceSequence', '=', sequence)
    .where('spanId', '=', storedId(spanId))
    .select(['inputJson as inputJson', 'outputJson as outputJson']),
);

/** Of all evaluations of some traces. */
export const listEvaluations = question<OfTraces>()((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .selectFrom('Evaluation')
    .where('projectNumber', '=', projectNumber)
    .where(isAmong('traceSequence', sequences))
    .select([
      'traceSequence as traceSequence',
      'evaluatorId as evaluatorId',
      'isGuardrail as isGuardrail',
      'status as status',
      'passed as passed',
      'score as score',
      'label as label',
    ]),
);
