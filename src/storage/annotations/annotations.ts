/** Annotations on traces, and the definitions of their scores. */

import type {
  AnnotationStore,
  AnnotationWrite,
  ExpectedScores,
  ScoreDefinition,
  ScoreStore,
} from '../../domain/annotations/annotation.ts';
import type { AnnotationFacts } from '../../domain/annotations/score.ts';
import { lockTraceId, noteChange } from '../feedback/feedback.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Enqueuing } from '../traces/trace-changes.ts';
import { type Queries, type QueryRunner, queryInBatches, type Transact, type Transaction } from '../transaction.ts';

/** What an engine writes. */
export type AnnotationWriter = {
  insertAnnotation: AnnotationStore['insert'];
  replaceAnnotation: AnnotationStore['replace'];
  removeAnnotation: AnnotationStore['remove'];
  insertScore: ScoreStore['insert'];
  replaceScore: ScoreStore['replace'];
  removeScore: ScoreStore['remove'];
};

export function createAnnotationWriter(transact: Transact, enqueuing: Enqueuing): AnnotationWriter {
  const noted = { ...enqueuing, about: 'annotations' } as const;
  return {
    insertAnnotation: ({ annotationsMax, ...write }) =>
      transact(async (tx) => {
        const { projectNumber, annotation, audited } = write;
        const { traceId } = annotation;
        if (!(await areAsExpected(tx, write))) return 'stale';
        await lockTraceId(tx, { projectNumber, traceId });
        const [known] = await tx.runQuery(tx.queries.annotations.countAnnotationsOf, { projectNumber, traceId });
        if ((known?.count ?? 0) >= annotationsMax) return 'limit_reached';
        if (!(await noteChange(tx, { projectNumber, traceId, nowMs: annotation.createdAtMs }, noted)))
          return 'no_trace';
        await tx.change(tx.queries.annotations.insertAnnotation, { ...annotation, projectNumber });
        await noteActivity(tx, write);
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return 'stored';
      }),
    replaceAnnotation: ({ expectedUpdatedAtMs, ...write }) =>
      transact(async (tx) => {
        const { projectNumber, annotation, audited } = write;
        const { id, traceId, updatedAtMs } = annotation;
        if (!(await areAsExpected(tx, write))) return 'stale';
        await lockTraceId(tx, { projectNumber, traceId });
        const [known] = await tx.runQuery(tx.queries.annotations.findVersion, { projectNumber, id });
        if (known?.updatedAtMs !== expectedUpdatedAtMs) return 'stale';
        // The trace first, as those who remove it do, so that two transactions never wait for each other.
        await noteChange(tx, { projectNumber, traceId, nowMs: updatedAtMs }, noted);
        const changed = await tx.change(tx.queries.annotations.replaceAnnotation, { ...annotation, projectNumber });
        if (changed === 0) return 'stale';
        await noteActivity(tx, write);
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return 'stored';
      }),
    removeAnnotation: (projectNumber, id, { nowMs, audited }) =>
      transact(async (tx) => {
        const [known] = await tx.runQuery(tx.queries.annotations.findVersion, { projectNumber, id });
        if (known === undefined) return false;
        const { traceId } = known;
        await lockTraceId(tx, { projectNumber, traceId });
        await noteChange(tx, { projectNumber, traceId, nowMs }, noted);
        if ((await tx.change(tx.queries.annotations.removeAnnotation, { projectNumber, id })) === 0) return false;
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return true;
      }),
    insertScore: (projectNumber, definition, { liveMax, audited }) =>
      transact(async (tx) => {
        const live = await lockScores(tx, projectNumber);
        if (live.some(({ name }) => name === definition.name)) return 'name_taken';
        if (live.length >= liveMax) return 'limit_reached';
        await removeUnused(tx, projectNumber);
        await tx.change(tx.queries.annotations.insertScore, { ...definition, projectNumber, deletedAtMs: null });
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return 'stored';
      }),
    replaceScore: (projectNumber, definition, { expectedUpdatedAtMs, audited }) =>
      transact(async (tx) => {
        const live = await lockScores(tx, projectNumber);
        const { id, name, dataType } = definition;
        const known = live.find((each) => each.id === id);
        if (known?.updatedAtMs !== expectedUpdatedAtMs) return 'stale';
        if (live.some((each) => each.name === name && each.id !== id)) return 'name_taken';
        const { findUseOfScore, replaceScore } = tx.queries.annotations;
        const isOther = known.dataType !== dataType;
        if (isOther && (await tx.runQuery(findUseOfScore, { projectNumber, id })).length > 0) return 'in_use';
        await tx.change(replaceScore, { ...definition, projectNumber });
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return 'stored';
      }),
    removeScore: (projectNumber, id, { nowMs, audited }) =>
      transact(async (tx) => {
        const live = await lockScores(tx, projectNumber);
        if (!live.some((each) => each.id === id)) return false;
        const { findUseOfScore, hideScore, removeScore } = tx.queries.annotations;
        const isUsed = (await tx.runQuery(findUseOfScore, { projectNumber, id })).length > 0;
        // Annotations that give it are still found by its name.
        if (isUsed) await tx.change(hideScore, { projectNumber, id, deletedAtMs: nowMs });
        else await tx.change(removeScore, { projectNumber, id });
        await tx.change(tx.queries.annotations.addAuditEntry, audited);
        return true;
      }),
  };
}

/** The first instant at which traces that are there were received. */
export function receivedFrom(expiredBeforeMs: number | null): number {
  return expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
}

type AnnotationRunner = QueryRunner<Pick<Queries, 'annotations'>>;

export function createAnnotationStore(runner: AnnotationRunner, writer: AnnotationWriter): AnnotationStore {
  const { queries, runQuery, idsPerQuery } = runner;
  const { findAnnotation, listAnnotations, listAnnotationsOf, countByTrace } = queries.annotations;
  return {
    insert: writer.insertAnnotation,
    replace: writer.replaceAnnotation,
    remove: writer.removeAnnotation,
    find: async (projectNumber, id, expiredBeforeMs) =>
      (await runQuery(findAnnotation, { projectNumber, id, receivedFromMs: receivedFrom(expiredBeforeMs) }))[0] ?? null,
    list: ({ isOfTraces, after, expiredBeforeMs, ...listing }) =>
      runQuery(listAnnotations, {
        ...listing,
        receivedFromMs: receivedFrom(expiredBeforeMs),
        ofTraces: isOfTraces ? 1 : 0,
        afterMs: after?.createdAtMs ?? Number.MAX_SAFE_INTEGER,
        afterId: after?.id ?? '',
      }),
    listOf: (projectNumber, traceIds) =>
      queryInBatches(traceIds, idsPerQuery, (some) => runQuery(listAnnotationsOf, { projectNumber, traceIds: some })),
    countOf: (projectNumber, traceIds) =>
      queryInBatches(traceIds, idsPerQuery, (some) => runQuery(countByTrace, { projectNumber, traceIds: some })),
  };
}

export function createScoreStore(
  { queries, runQuery }: Omit<AnnotationRunner, 'idsPerQuery' | 'pointsPerQuery'>,
  writer: AnnotationWriter,
): ScoreStore {
  return {
    list: async (projectNumber) => liveOf(await runQuery(queries.annotations.listScores, { projectNumber })),
    insert: writer.insertScore,
    replace: writer.replaceScore,
    remove: writer.removeScore,
  };
}

type ScoreRow = RowOf<Queries['annotations']['listScores']>;

/** The facts of annotations, by trace. */
export function factsByTrace(
  rows: readonly RowOf<Queries['annotations']['listAnnotationFacts']>[],
  scores: readonly Pick<ScoreRow, 'id' | 'name'>[],
): ReadonlyMap<string, readonly AnnotationFacts[]> {
  const names = new Map(scores.map(({ id, name }) => [id, name]));
  const factsOf = ({ scores: given }: (typeof rows)[number]) =>
    Object.entries(given).map(([id, { value }]) => ({ id, name: names.get(id) ?? null, value }));
  const byTrace = new Map<string, AnnotationFacts[]>();
  for (const row of rows) byTrace.set(row.traceId, [...(byTrace.get(row.traceId) ?? []), { scores: factsOf(row) }]);
  return byTrace;
}

function liveOf(rows: readonly ScoreRow[]): readonly ScoreDefinition[] {
  return rows.filter(({ deletedAtMs }) => deletedAtMs === null).map(({ deletedAtMs: _, ...definition }) => definition);
}

/** The definitions of a project, which no other transaction uses or changes until this one ends. */
async function lockScores(tx: Transaction, projectNumber: number): Promise<readonly ScoreDefinition[]> {
  const { isSingleProcess, runQuery, queries } = tx;
  if (!isSingleProcess) await runQuery(queries.feedback.lockTraceId, { name: `annotation scores ${projectNumber}` });
  return liveOf(await runQuery(queries.annotations.listScores, { projectNumber }));
}

/** Removes some deleted definitions that no annotation gives any more. */
async function removeUnused(tx: Transaction, projectNumber: number): Promise<void> {
  const { listScores, findUseOfScore, removeScore } = tx.queries.annotations;
  const deleted = (await tx.runQuery(listScores, { projectNumber })).filter(({ deletedAtMs }) => deletedAtMs !== null);
  for (const { id } of deleted.slice(0, CHECKED_AT_ONCE)) {
    if ((await tx.runQuery(findUseOfScore, { projectNumber, id })).length > 0) continue;
    await tx.change(removeScore, { projectNumber, id });
  }
}

const CHECKED_AT_ONCE = 10;

type Expecting = { readonly projectNumber: number; readonly expected: ExpectedScores };

async function areAsExpected(tx: Transaction, { projectNumber, expected }: Expecting): Promise<boolean> {
  if (expected.length === 0) return true;
  const live = new Map((await lockScores(tx, projectNumber)).map(({ id, dataType }) => [id, dataType]));
  return expected.every(({ id, dataType }) => live.get(id) === dataType);
}

/** Reviewers who work on a trace hold it longer. */
async function noteActivity(
  { change, queries }: Transaction,
  { projectNumber, annotation, activity }: Pick<AnnotationWrite, 'projectNumber' | 'annotation' | 'activity'>,
): Promise<void> {
  const { reviewer, untilMs } = activity;
  const { traceId, updatedAtMs: nowMs } = annotation;
  await change(queries.annotationQueues.extendClaims, { projectNumber, traceId, reviewer, nowMs, untilMs });
}
