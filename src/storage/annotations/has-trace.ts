/** Whether the trace of an annotation, or of an item of a queue, is there. */

import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import type { Tables } from '../queries.ts';

type OfTrace = 'Annotation' | 'AnnotationQueueItem';

/** Traces first received before `receivedFromMs` are not there. */
export function hasTrace<Of extends OfTrace>(of: Of, receivedFromMs: number) {
  return ({ exists, selectFrom }: ExpressionBuilder<Tables, Of>) =>
    exists(
      (selectFrom('Trace') as SelectQueryBuilder<Tables, OfTrace | 'Trace', object>)
        .whereRef('Trace.projectNumber', '=', `${of as OfTrace}.projectNumber`)
        .whereRef('Trace.traceId', '=', `${of as OfTrace}.traceId`)
        .where('Trace.insertedAtMs', '>=', receivedFromMs)
        .select('Trace.sequence'),
    );
}
