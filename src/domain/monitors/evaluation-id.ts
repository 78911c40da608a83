/** What the result of a monitor on a trace is called: always the same, so that a later one takes its place. */

import { createHash } from 'node:crypto';

const DIGITS = 32;

export function monitorEvaluationId(monitorId: string, traceId: string): string {
  return `eval_mon_${createHash('sha256').update(`${monitorId}:${traceId}`).digest('hex').slice(0, DIGITS)}`;
}
