/** Which traces a monitor evaluates, if it samples only a share of them. */

import { createHash } from 'node:crypto';

/** An active monitor, with the share of traces that it samples. */
export type SampledMonitor = { readonly id: string; readonly sample: number };

const BYTES = 8;
const SCALE = 2 ** 64;

/** Whether the monitor samples the trace. The answer never changes. */
export function isSampled({ id, sample }: SampledMonitor, traceId: string): boolean {
  if (sample >= 1 || sample <= 0) return sample >= 1;
  const digest = createHash('sha256').update(`${id}:${traceId}`).digest();
  return Number(digest.subarray(0, BYTES).readBigUInt64BE()) / SCALE < sample;
}
