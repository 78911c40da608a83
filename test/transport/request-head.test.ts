import { describe, expect, it } from 'vitest';
import { findHead } from '../../src/transport/request-head.ts';

describe('the head of a request that cannot be parsed', () => {
  it('has the target and the headers that its answer depends on', () => {
    const text =
      'POST /api/x?y HTTP/1.1\r\nOrigin: \t https://a.example \r\nX-Request-Id:r-1\r\nbad\r\n\r\norigin: other\r\n';
    expect(findHead(text)).toEqual({
      target: '/api/x?y',
      headers: { origin: 'https://a.example', 'x-request-id': 'r-1' },
    });
  });

  it.each([
    ['blanks that never end', `origin:${' '.repeat(60_000)}\nx`],
    ['blanks between letters', `origin:a${' '.repeat(60_000)}b\r\n`],
    ['lines without an end', 'origin:x\n'.repeat(10_000)],
    ['names without a value', 'origin\r\n'.repeat(10_000)],
  ])('is read fast: %s', (_, headers) => {
    const before = process.cpuUsage();
    findHead(`GET / HTTP/1.1\r\n\u0001: x\r\n${headers}`);
    const { user } = process.cpuUsage(before);
    expect(user / 1_000).toBeLessThan(500);
  });
});
