/** Tells which log records of a request describe calls, which tell of a span, and which are not read. */

import type { Project } from '../../caller.ts';
import type { Steps } from '../../steps.ts';
import { type ItemReason, isUnreadable } from '../collector/collector-draft.ts';
import { createAttributeJson } from '../otlp/attribute-json.ts';
import type { OtlpLogs, OtlpRecord } from '../otlp/log-record.ts';
import type { OtlpExport, OtlpSpan } from '../otlp/span.ts';
import { toCallSpan } from './record-call.ts';
import { nameOf } from './record-name.ts';

export type SortedRecords = {
  readonly calls: OtlpExport;
  /** Records whose ids cannot be read. */
  readonly refused: readonly ItemReason[];
  /** How many records say nothing that is kept. */
  readonly unread: number;
};

export function* sortRecords(logs: OtlpLogs, { id: projectId }: Pick<Project, 'id'>): Steps<SortedRecords> {
  const json = createAttributeJson(logs);
  const spans: OtlpSpan[] = [];
  const indexes: number[] = [];
  const refused: ItemReason[] = [];
  let unread = 0;
  for (const [index, record] of logs.records.entries()) {
    if (index > 0) yield;
    if (record === undefined || isUnreadable(record)) {
      refused.push({ index, reason: `: ${record?.reason ?? 'is required'}` });
      continue;
    }
    const wrong = [record.traceId, record.spanId].find(isUnreadable);
    if (wrong !== undefined) {
      refused.push({ index, reason: `.${wrong.path}: ${wrong.reason}` });
      continue;
    }
    const name = nameOf(record);
    const call = isTraced(record) ? undefined : toCallSpan(record, { name, projectId, json });
    if (call === undefined) {
      unread += 1;
      continue;
    }
    spans.push(call);
    indexes.push(index);
  }
  const { bytes, depth } = logs;
  return { calls: { spans, bytes, depth, madeOf: { itemsName: 'logRecords', indexes } }, refused, unread };
}

function isTraced({ traceId }: OtlpRecord): boolean {
  return traceId !== undefined;
}
