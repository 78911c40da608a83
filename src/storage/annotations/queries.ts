/** Queries of annotations and of the definitions of their scores. */

import { sql } from 'kysely';
import { columns, insert, remove, rowsOf, update } from '../plain-queries.ts';
import { change, type Dialect, query } from '../queries.ts';
import { hasTrace } from './has-trace.ts';

type InProject = { readonly projectNumber: number };
type OfTraceIds = InProject & { readonly traceIds: readonly string[] };
type Named = InProject & { readonly id: string };

/** The entry that a change has in the audit log. */
export const addAuditEntry = insert('AuditEntry');

export const insertAnnotation = insert('Annotation');

export const replaceAnnotation = update(
  'Annotation',
  ['projectNumber', 'id'],
  ['comment', 'isThumbsUp', 'email', 'scores', 'expectedOutput', 'updatedAtMs'],
);

export const removeAnnotation = change<Named>((db, { projectNumber, id }, { remove }) =>
  remove(db, 'Annotation', { projectNumber, id }),
);

/** As of when an annotation is, and on which trace. */
export const findVersion = query<Named>()((db, { projectNumber, id }, { idText }) =>
  rowsOf(db, 'Annotation', { projectNumber, id }).select([
    'updatedAtMs as updatedAtMs',
    idText('traceId').as('traceId'),
  ]),
);

/** Traces first received before this instant are not there. */
type Received = { readonly receivedFromMs: number };

export const findAnnotation = query<Named & Received>()((db, { projectNumber, id, receivedFromMs }, dialect) =>
  rowsOf(db, 'Annotation', { projectNumber, id })
    .where(hasTrace('Annotation', receivedFromMs))
    .select(annotationOf(dialect)),
);

type Listing = InProject &
  Received & {
    readonly fromMs: number;
    readonly toMs: number;
    /** 1: only those of whole traces; else 0. */
    readonly ofTraces: number;
    readonly afterMs: number;
    readonly afterId: string;
    readonly limit: number;
  };

/** The newest first. */
export const listAnnotations = query<Listing>()((db, listing, dialect) => {
  const { projectNumber, receivedFromMs, fromMs, toMs, ofTraces, afterMs, afterId, limit } = listing;
  return rowsOf(db, 'Annotation', { projectNumber })
    .where('createdAtMs', '>=', fromMs)
    .where('createdAtMs', '<=', toMs)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '<', tuple(afterMs, afterId)))
    .where(hasTrace('Annotation', receivedFromMs))
    .where(sql<boolean>`(${sql.ref('anchorKind')} = 'trace' or ${ofTraces} = 0)`)
    .select(annotationOf(dialect))
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
});

/** The oldest first. */
export const listAnnotationsOf = query<OfTraceIds>()((db, { projectNumber, traceIds }, dialect) =>
  rowsOf(db, 'Annotation', { projectNumber })
    .where(dialect.isOneOf('traceId', traceIds))
    .select(annotationOf(dialect))
    .orderBy('createdAtMs')
    .orderBy('id'),
);

export const countAnnotationsOf = query<InProject & { readonly traceId: string }>()(
  (db, { projectNumber, traceId }, { storedId }) =>
    rowsOf(db, 'Annotation', { projectNumber, traceId: storedId(traceId) }).select(({ fn }) =>
      fn.countAll<number>().as('count'),
    ),
);

export const countByTrace = query<OfTraceIds>()((db, { projectNumber, traceIds }, { isOneOf, idText }) =>
  rowsOf(db, 'Annotation', { projectNumber })
    .where(isOneOf('traceId', traceIds))
    .select(({ fn }) => [idText('traceId').as('traceId'), fn.countAll<number>().as('count')])
    .groupBy('Annotation.traceId'),
);

/** What filters test. */
export const listAnnotationFacts = query<OfTraceIds>()((db, { projectNumber, traceIds }, { isOneOf, idText }) =>
  rowsOf(db, 'Annotation', { projectNumber })
    .where(isOneOf('traceId', traceIds))
    .select(columns('Annotation', 'scores'))
    .select(idText('traceId').as('traceId')),
);

/** All annotations of some traces. */
export const dropAnnotationsOf = change<OfTraceIds>((db, { projectNumber, traceIds }, { isOneOf }) =>
  db.deleteFrom('Annotation').where('projectNumber', '=', projectNumber).where(isOneOf('traceId', traceIds)),
);

function annotationOf({ idText }: Dialect) {
  return [
    ...columns('Annotation', 'id', 'anchorKind', 'anchorPath', 'isThumbsUp', 'userId', 'email', 'createdAtMs'),
    ...columns('Annotation', 'updatedAtMs', 'comment', 'scores', 'expectedOutput'),
    idText('traceId').as('traceId'),
    idText('spanId').$castTo<string | null>().as('spanId'),
  ] as const;
}

export const insertScore = insert('AnnotationScore');

export const replaceScore = update(
  'AnnotationScore',
  ['projectNumber', 'id'],
  ['name', 'dataType', 'options', 'min', 'max', 'active', 'updatedAtMs'],
);

export const hideScore = change<Named & { readonly deletedAtMs: number }>(
  (db, { projectNumber, id, deletedAtMs }, { update }) =>
    update(db, 'AnnotationScore', { projectNumber, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

export const removeScore = remove('AnnotationScore', ['projectNumber', 'id']);

/** Deleted ones that annotations give, too; the oldest first. */
export const listScores = query<InProject>()((db, { projectNumber }) =>
  rowsOf(db, 'AnnotationScore', { projectNumber })
    .select(columns('AnnotationScore', 'id', 'name', 'dataType', 'options', 'min', 'max', 'active'))
    .select(columns('AnnotationScore', 'createdAtMs', 'updatedAtMs', 'deletedAtMs'))
    .orderBy('createdAtMs')
    .orderBy('id'),
);

/** An annotation that gives a score. */
export const findUseOfScore = query<Named>()((db, { projectNumber, id }, { holds }) =>
  rowsOf(db, 'Annotation', { projectNumber })
    .where(holds(sql<string>`${sql.ref('scores')}`, id))
    .select('id as id')
    .limit(1),
);
