import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  QUEUE_MESSAGE_MAX_BYTES,
  sizeOfMessage,
  splitForQueue,
  tooLargeError,
} from '../../src/delivery/queue-message.ts';

const DISPATCH_ID = 'webhookendpoint_0005p2syRelBzOqqEi3ft3bFhpiQC:23135b55785c0090';
const FRAME_BYTES = Buffer.byteLength('{"batch":[]}');
/** Names, types and values of the six attributes, counted by hand. */
const ATTRIBUTE_BYTES =
  'webhook-id'.length +
  'webhook-timestamp'.length +
  'webhook-signature'.length +
  'X-LangWatch-Delivery-Id'.length +
  'X-LangWatch-Delivery-Attempt'.length +
  'X-LangWatch-Signature'.length +
  6 * 'String'.length +
  2 * DISPATCH_ID.length +
  '1790000000'.length +
  (2 * 47 + 1) +
  '11'.length +
  (12 + 2 * 68);
/** The room for a single envelope in a message. */
const ALONE_MAX_BYTES = QUEUE_MESSAGE_MAX_BYTES - FRAME_BYTES - ATTRIBUTE_BYTES;
/** In a part the id, which is in two attributes, ends in a hyphen and a digit. */
const PART_MAX_BYTES = ALONE_MAX_BYTES - 2 * '-1'.length;

describe('the size of a message', () => {
  it('is the body and every name, type and value', () => {
    expect(sizeOfMessage({ dispatchId: DISPATCH_ID, bodyBytes: 0, test: false })).toBe(ATTRIBUTE_BYTES);
    expect(sizeOfMessage({ dispatchId: DISPATCH_ID, bodyBytes: 5, test: true })).toBe(
      ATTRIBUTE_BYTES + 5 + 'X-LangWatch-Test-FireStringtrue'.length,
    );
  });
});

describe('a batch', () => {
  it('of 262144 bytes stays whole, and of one byte more is divided', () => {
    const half = Math.floor((ALONE_MAX_BYTES - 1) / 2);
    const rest = ALONE_MAX_BYTES - 1 - half;
    expect(splitForQueue([half, rest], DISPATCH_ID)).toEqual([
      { dispatchId: DISPATCH_ID, from: 0, to: 2, sizeBytes: 262_144, isTooLarge: false },
    ]);
    expect(splitForQueue([half, rest + 1], DISPATCH_ID)).toMatchObject([
      { dispatchId: `${DISPATCH_ID}-1`, from: 0, to: 1, isTooLarge: false },
      { dispatchId: `${DISPATCH_ID}-2`, from: 1, to: 2, isTooLarge: false },
    ]);
  });

  it('fills each part before it begins the next', () => {
    const third = Math.floor((PART_MAX_BYTES - 2) / 3);
    const parts = splitForQueue([third, third, third, third, 1], DISPATCH_ID);
    expect(parts.map(({ from, to }) => [from, to])).toEqual([
      [0, 3],
      [3, 5],
    ]);
  });

  it('of one envelope keeps its id, even when no message can hold it', () => {
    expect(splitForQueue([ALONE_MAX_BYTES], DISPATCH_ID)).toMatchObject([
      { dispatchId: DISPATCH_ID, sizeBytes: 262_144, isTooLarge: false },
    ]);
    expect(splitForQueue([ALONE_MAX_BYTES + 1], DISPATCH_ID)).toMatchObject([
      { dispatchId: DISPATCH_ID, sizeBytes: 262_145, isTooLarge: true },
    ]);
    expect(tooLargeError(262_145)).toBe('message too large: 262145 bytes exceed 262144');
  });

  it('separates an envelope that is too large for any message', () => {
    expect(splitForQueue([10, PART_MAX_BYTES + 1, 10, 10], DISPATCH_ID)).toMatchObject([
      { dispatchId: `${DISPATCH_ID}-1`, from: 0, to: 1, isTooLarge: false },
      { dispatchId: `${DISPATCH_ID}-2`, from: 1, to: 2, isTooLarge: true, sizeBytes: 262_145 },
      { dispatchId: `${DISPATCH_ID}-3`, from: 2, to: 4, isTooLarge: false },
    ]);
  });

  it('is covered by its parts, in order, each as full as it can be', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 2, max: 300_000 }), { minLength: 1, maxLength: 100 }), (envelopeBytes) => {
        const parts = splitForQueue(envelopeBytes, DISPATCH_ID);
        expect(parts.flatMap(({ from, to }) => envelopeBytes.slice(from, to))).toEqual(envelopeBytes);
        for (const [index, { dispatchId, from, to, sizeBytes, isTooLarge }] of parts.entries()) {
          expect(dispatchId).toBe(parts.length === 1 ? DISPATCH_ID : `${DISPATCH_ID}-${index + 1}`);
          const bodyBytes =
            FRAME_BYTES + to - from - 1 + envelopeBytes.slice(from, to).reduce((sum, each) => sum + each);
          expect(sizeBytes).toBe(sizeOfMessage({ dispatchId, bodyBytes, test: false }));
          expect(isTooLarge).toBe(sizeBytes > QUEUE_MESSAGE_MAX_BYTES);
          if (isTooLarge) expect(to - from).toBe(1);
          const next = envelopeBytes[to];
          if (next !== undefined) expect(sizeBytes + 1 + next).toBeGreaterThan(QUEUE_MESSAGE_MAX_BYTES);
        }
      }),
    );
  });
});
