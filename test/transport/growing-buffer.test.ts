import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createGrowingBuffer } from '../../src/transport/growing-buffer.ts';

/** Chunks as an HTTP/2 session emits them: views of one read. */
function partsOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  let at = 0;
  return sizes.map((size) => {
    at += size;
    return bytes.subarray(at - size, at);
  });
}

const SIZES = [3, 1, 1, 70_000, 1, 4_096, 16_384, 65_536, 2, 16_384, 16_384, 100_000, 1];
const BYTES = randomBytes(SIZES.reduce((sum, size) => sum + size, 0));

it.each([
  ['by themselves', partsOf(BYTES, SIZES).map((piece) => Buffer.from(new Uint8Array(piece).buffer))],
  ['as parts of something larger', partsOf(BYTES, SIZES)],
])('chunks that arrive %s are joined in order, at any time', (_, pieces) => {
  const whole = createGrowingBuffer();
  const watched = createGrowingBuffer();
  for (const piece of pieces) {
    whole.add(piece);
    watched.add(piece);
    expect(watched.bytes().equals(BYTES.subarray(0, watched.size()))).toBe(true);
  }
  expect(whole.size()).toBe(BYTES.length);
  expect(whole.bytes().equals(BYTES)).toBe(true);
});

it('nothing is an empty buffer', () => {
  expect(createGrowingBuffer().bytes()).toHaveLength(0);
});

it('a piece that may be overwritten, because it is small, is not referred to', () => {
  const buffer = createGrowingBuffer();
  const shared = Buffer.from('ab');
  buffer.add(Buffer.from('first'));
  buffer.add(shared);
  shared.fill('x');
  expect(buffer.bytes().toString()).toBe('firstab');
});
