import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createBoundedInflate } from '../../src/transport/rest/inflate.ts';

const LIMIT = 1_048_576;
const inflate = createBoundedInflate();
const BOUNDS = { sizeMaxBytes: LIMIT, owner: 'one' };

describe('a body labelled gzip', () => {
  it.each([
    ['plain text', Buffer.from('{"trace_id":"plain text, and long enough to have a trailer"}')],
    ['a truncated stream', gzipSync(randomBytes(300)).subarray(0, 200)],
    ['a stream whose claim no packing reaches', withClaim(gzipSync('{"a":1}'), 0xffffffff)],
    ['text whose last bytes would be a possible size', withClaim(Buffer.alloc(100_000, 'x'), 2 * LIMIT)],
  ])('%s is broken and not too large', async (_, raw) => {
    expect(await inflate(raw, 'gzip', BOUNDS)).toBe('broken');
  });

  it('is refused by its announced size where it has one', async () => {
    expect(await inflate(gzipSync(Buffer.alloc(LIMIT + 1)), 'gzip', BOUNDS)).toBe('too_large');
  });

  it('is refused by its decompressed size when it announces a smaller one', async () => {
    expect(await inflate(withClaim(gzipSync(Buffer.alloc(2 * LIMIT)), 10), 'gzip', BOUNDS)).toBe('too_large');
  });

  it('of exactly the limit is taken', async () => {
    expect(await inflate(gzipSync(Buffer.alloc(LIMIT)), 'gzip', BOUNDS)).toHaveLength(LIMIT);
  });
});

it('decompresses a body of one caller beside many bombs of another', async () => {
  const bomb = brotliCompressSync(Buffer.alloc(64 * LIMIT), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const bombs = Array.from({ length: 100 }, () => inflate(bomb, 'br', { ...BOUNDS, owner: 'attacker' }));
  for (let body = 0; body < 10; body += 1) expect(await inflate(gzipSync('{}'), 'gzip', BOUNDS)).toHaveLength(2);
  expect(new Set(await Promise.all(bombs))).toEqual(new Set(['too_large', 'busy']));
});

function withClaim(bytes: Buffer, size: number): Buffer {
  const claiming = Buffer.from(bytes);
  claiming.writeUInt32LE(size, claiming.length - 4);
  return claiming;
}
