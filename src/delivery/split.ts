/** Divides batches for queues, whose messages have a size. */

import { splitForQueue, tooLargeError } from '../domain/queue-message.ts';
import type { Split } from './claims.ts';

export const splitBatch: Split = ({ dispatchId, entries }) => {
  const bytes = entries.map(({ envelope }) => Buffer.byteLength(envelope));
  return splitForQueue(bytes, dispatchId).map((part) => {
    const { dispatchId: partId, sizeBytes, isTooLarge } = part;
    const content = { dispatchId: partId, entries: entries.slice(part.from, part.to) };
    return isTooLarge
      ? { kind: 'too_large', ...content, error: tooLargeError(sizeBytes) }
      : { kind: 'message', ...content };
  });
};
