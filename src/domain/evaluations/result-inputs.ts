/** What a result tells of its inputs: short ones whole, of long ones an excerpt. The texts themselves are on the trace. */

import { createHash } from 'node:crypto';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { hasMoreBytesThan, truncateToBytes } from '../text-limits.ts';
import type { EvaluationRun } from './outcome.ts';

/** Of one input: a result that kept them whole would multiply what a trace takes by its evaluators. */
const INPUT_MAX_BYTES = 4096;
const EXCERPT_BYTES = 3900;

/** Excerpts name the hash of the whole, so that another text never looks like the one that was judged. */
export function shownInputs(data: EvaluationRun['data']): LosslessObject {
  return Object.fromEntries(Object.entries(data).map(([field, value]) => [field, shown(value)]));
}

function shown(value: LosslessJson): LosslessJson {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!hasMoreBytesThan(text, INPUT_MAX_BYTES)) return value;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${truncateToBytes(text, EXCERPT_BYTES)} [sha256 ${digest}]`;
}
