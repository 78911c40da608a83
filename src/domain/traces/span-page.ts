/** The page of a trace that holds one span, which is named. */

import { Fault } from '../fault.ts';
import { isValidId, normaliseSpanId } from './trace-ids.ts';
import { BEFORE_ALL, type PagePlan } from './trace-page.ts';

/** The size of the span, and its place in the list, are not known yet. */
export function planSpan(trace: PagePlan['trace'], sentSpanId: string): PagePlan {
  const start = { list: 'spans', after: null } as const;
  const id = normaliseSpanId(sentSpanId);
  const spanPositions = isValidId(id) ? [{ ...BEFORE_ALL, id, bytes: 0 }] : [];
  return { trace, spansMax: 1, start, evaluationPositions: [], spanPositions, bytes: 0, firstBytes: 0 };
}

/** Counts the span once it is loaded. Throws trace_not_found. */
export function countSpan(
  [span]: readonly { readonly bytes: number }[],
  { countResponseBytes }: { readonly countResponseBytes: (bytes: number) => void },
): void {
  if (span === undefined) throw new Fault('trace_not_found', 'The trace has no such span.');
  countResponseBytes(span.bytes);
}
