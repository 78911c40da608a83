/** Which traces a monitor looks at. */

import { createHash } from 'node:crypto';

/** A monitor that runs by itself, with the share of traces that it looks at. */
export type SampledMonitor = { readonly id: string; readonly sample: number };

const BYTES = 8;
const SCALE = 2 ** 64;

/** Whether the monitor looks at the trace: always the same answer. */
export function isSampled({ id, sample }: SampledMonitor, traceId: string): boolean {
  if (sample >= 1 || sample <= 0) return sample >= 1;
  const digest = createHash('sha256').update(`${id}:${traceId}`).digest();
  return Number(digest.subarray(0, BYTES).readBigUInt64BE()) / SCALE < sample;
}
