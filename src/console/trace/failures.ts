/** Finds the span where a trace failed, and traces that failed alike. */

import type { SpanError, Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { quote, writeQueryLine } from '../traces/query-line.ts';
import { orderSpans } from './span-tree.ts';

/**
 * The deepest failed span below the one that the trace has its error from: those above only pass the error on. Of several it is
 * the last one, because earlier ones were tried again. Null if no span that is loaded failed.
 */
export function deepestFailure({ error }: Pick<Trace, 'error'>, spans: readonly TraceSpan[]): TraceSpan | null {
  const nodes = orderSpans(spans);
  const named = nodes.findIndex(({ span }) => span.error !== undefined && span.error.message === error?.message);
  const from = Math.max(0, named);
  const to = named < 0 ? nodes.length : named + 1 + (nodes[named]?.descendants ?? 0);
  let found: (typeof nodes)[number] | null = null;
  for (const node of nodes.slice(from, to)) {
    if (node.span.error === undefined) continue;
    if (found === null || node.depth > found.depth || (node.depth === found.depth && node.endMs >= found.endMs)) {
      found = node;
    }
  }
  return found?.span ?? null;
}

const QUERY_CHARACTERS = 120;
const QUERY_MIN = 8;

/** The query line for traces with a similar error: the longest part of its first line without numbers, ids and quoted texts. */
export function similarFailures({ message }: Pick<SpanError, 'message'>): string {
  const [line = ''] = message.trim().split('\n');
  const parts = line.split(/["'`][^"'`]*["'`]|\S*\d\S*/).map((part) => part.trim());
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  const text = (longest.length >= QUERY_MIN ? longest : line).slice(0, QUERY_CHARACTERS).trim();
  return `${quote(text)} ${writeQueryLine({ text: '', filters: [{ name: 'error', value: 'true' }] })}`;
}
