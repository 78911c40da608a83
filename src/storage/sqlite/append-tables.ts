/** The tables of an append on SQLite: one prepared statement behind every verb. */

import { hideTrace } from '../../../gen/storage/sqlite/retention.ts';
import * as questions from '../../../gen/storage/sqlite/traces.ts';
import type { Clock } from '../../domain/clock.ts';
import type { AppendTables, OverdueRequest } from '../append/tables.ts';
import { toHidden } from '../retention/expired-traces.ts';
import { ADMITTED } from '../rows/codes.ts';
import { prepareChange, prepareQuestion } from './ask.ts';
import { packId, REQUEST_KEY_TEXT, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { EVALUATION_COLUMNS, EVALUATION_KEY, evaluationCells } from './evaluation-rows.ts';
import { prepareLogHeads } from './log-heads.ts';
import { prepareLogTables } from './log-tables.ts';
import { type Cell, SPAN_COLUMNS, spanCells, TRACE_COLUMNS, traceCells } from './trace-rows.ts';

/** The tables as one transaction sees them; `flush` is its last step. */
export type Transaction = AppendTables & { flush(): void };

/** Answers a function to call at the beginning of every transaction. */
export function prepareAppendTables(db: Database, clock: Clock): () => Transaction {
  const statements = prepareStatements(db);
  const beginHeads = prepareLogHeads(db, clock);
  const showLog = prepareLogTables(db);
  const tables: Omit<AppendTables, 'log'> = {
    findTrace: (projectNumber, traceId) => statements.find.get({ projectNumber, traceId }),
    insertTrace({ projectNumber, traceId, insertedAtMs, ...state }) {
      const inserted = statements.insert.run(projectNumber, packId(traceId), insertedAtMs, ...traceCells(state));
      return { projectNumber, traceId, sequence: Number(inserted.lastInsertRowid) };
    },
    // A large one takes long to erase, so it only goes out of reach here; retention removes it.
    eraseTrace: (trace) => void statements.hide(toHidden(trace)),
    updateTrace: ({ sequence }, state) => void statements.update.run(...traceCells(state), sequence),
    insertSpan: ({ projectNumber, sequence }, span) =>
      statements.insertSpan.run(...spanCells(projectNumber, sequence, span)).changes === 1,
    replaceSpan: ({ projectNumber, sequence }, span, emittedRequestId) =>
      void statements.replaceSpan.run(...spanCells(projectNumber, sequence, span), emittedRequestId),
    hasSpan: ({ projectNumber, sequence }, spanId) =>
      statements.hasSpan.get(projectNumber, sequence, packId(spanId)) !== undefined,
    findSpan({ projectNumber, sequence }, spanId) {
      const found = statements.findSpan.get({ projectNumber, sequence, spanId });
      if (found === undefined) return undefined;
      const { paramsJson, emittedRequestId, ...summary } = found;
      return { summary, paramsJson, emittedRequestId };
    },
    summaries: ({ projectNumber, sequence }) => statements.summaries.all({ projectNumber, sequence }),
    storeEvaluation({ projectNumber, sequence }, evaluation) {
      const key = [projectNumber, sequence, evaluation.evaluationId, evaluation.insertedAtMs];
      statements.storeEvaluation.run(...key, ...evaluationCells(evaluation));
    },
    overdueRequests: (admittedByMs, countMax) => statements.overdue.all(admittedByMs, countMax),
  };
  return () => {
    const heads = beginHeads();
    return {
      ...tables,
      log: (organizationNumber) => showLog(heads.take(organizationNumber)),
      flush: heads.flush,
    };
  };
}

function prepareStatements(db: Database) {
  const intoSpans = (columns: readonly string[]) =>
    `INTO spans (${columns.join(', ')}) VALUES (${placeholders(columns.length)})`;
  const traceColumns = ['project_number', 'trace_id', 'inserted_at', ...TRACE_COLUMNS];
  const evaluationColumns = [...EVALUATION_KEY, 'inserted_at', ...EVALUATION_COLUMNS];
  return {
    find: prepareQuestion(db, questions.findTrace),
    insert: db.prepare<Cell[]>(
      `INSERT INTO traces (${traceColumns.join(', ')}) VALUES (${placeholders(traceColumns.length)})`,
    ),
    update: db.prepare<Cell[]>(
      `UPDATE traces SET ${TRACE_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE sequence = ?`,
    ),
    hide: prepareChange(db, hideTrace),
    insertSpan: db.prepare<Cell[]>(
      `INSERT ${intoSpans(SPAN_COLUMNS)} ON CONFLICT (project_number, trace_sequence, span_id) DO NOTHING`,
    ),
    replaceSpan: db.prepare<Cell[]>(`INSERT OR REPLACE ${intoSpans([...SPAN_COLUMNS, 'emitted_request_id'])}`),
    hasSpan: db.prepare<[number, number, StoredId]>(
      'SELECT 1 FROM spans WHERE project_number = ? AND trace_sequence = ? AND span_id = ?',
    ),
    findSpan: prepareQuestion(db, questions.findStoredSpan),
    summaries: prepareQuestion(db, questions.listSummaries),
    storeEvaluation: db.prepare<Cell[]>(
      `INSERT INTO evaluations (${evaluationColumns.join(', ')}) VALUES (${placeholders(evaluationColumns.length)})
       ON CONFLICT (${EVALUATION_KEY.join(', ')})
       DO UPDATE SET ${EVALUATION_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    ),
    overdue: db.prepare<[number, number], OverdueRequest>(
      `SELECT organization_number AS organizationNumber, ${REQUEST_KEY_TEXT} AS key FROM requests
       WHERE state = ${ADMITTED} AND received_at <= ? ORDER BY received_at LIMIT ?`,
    ),
  };
}

function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}
