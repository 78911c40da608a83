import { describe, expect, it } from 'vitest';
import { createResponseReader, type Progress } from '../../src/delivery/http-response.ts';
import { drawSeed, seeded } from '../support/scenario.ts';

const ANSWERS: readonly {
  readonly text: string;
  readonly end: Progress;
  readonly status: number;
  readonly body: string;
}[] = [
  { text: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', end: 'end', status: 200, body: 'hello' },
  { text: 'HTTP/1.1 200\r\ncontent-length:0\r\n\r\n', end: 'end', status: 200, body: '' },
  { text: 'HTTP/1.1 204 No\r\n\r\n', end: 'end', status: 204, body: '' },
  {
    text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n5\r\nhello\r\nA ;x="\\"y"\r\n0123456789\r\n00\r\n\r\n',
    end: 'end',
    status: 200,
    body: 'hello0123456789',
  },
  {
    text: 'HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n',
    end: 'end',
    status: 500,
    body: 'a',
  },
  {
    text: 'HTTP/1.1 100 C\r\n\r\nHTTP/1.1 102 P\r\nA: b\r\n\r\nHTTP/1.1 404 N\r\nContent-Length: 1\r\n\r\nx',
    end: 'end',
    status: 404,
    body: 'x',
  },
  { text: 'HTTP/1.1 200 OK\r\nA:\r\n\r\nuntil the end', end: 'body', status: 200, body: 'until the end' },
  { text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX', end: 'cut', status: 200, body: 'hello' },
  { text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n', end: 'cut', status: 200, body: '' },
  { text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;\r\n', end: 'cut', status: 200, body: '' },
  { text: 'HTTP/1.1 101 S\r\n\r\nwhatever', end: 'cut', status: 101, body: '' },
];

/** Answers that mean the same as the first, and are spelled as RFC 9112 does not allow, or no longer. */
const CARELESS = [
  'HTTP/1.1 429 X\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\nRetry-After: 5\nContent-Length: 2\n\nno',
  'HTTP/1.1 429 X\nRetry-After: 5\r\nContent-Length: 2\n\r\nno',
  '\r\n\n\r\nHTTP/1.1 429 X\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 100 C\n\n\r\nHTTP/1.1 429 X\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\r\nX-Policy: one;\r\n two\r\nRetry-After:\r\n\t 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\r\nX-Policy: one;\n Retry-After: 9\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\r\nX-A : b\r\nRetry-After\t: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\r\nContent-Length: 2, 2\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
];
/** The same, with lines that are not fields, after which a connection is not used again. */
const MUDDLED = [
  'HTTP/1.1 429 X\r\nnotice\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\r\nX Made By: us\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
  'HTTP/1.1 429 X\r\n: b\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno',
];

const BAD = [
  'HTTP/2 200 OK\r\n\r\n',
  'HTTP/1.2 200 OK\r\n\r\n',
  'HTTP/1.1 20 OK\r\n\r\n',
  'HTTP/1.1 2000 OK\r\n\r\n',
  'HTTP/1.1 099 OK\r\n\r\n',
  'http/1.1 200 OK\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length : 2\r\n\r\n',
  'HTTP/1.1 200 OK\nContent-Length: 1,\n\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\n',
  `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(16_384)}\r\n\r\n`,
  'HTTP/1.1 100 C\r\n\r\n'.repeat(1_000),
  '\r\n'.repeat(9_000),
];

/** Feeds the text in pieces, each over the same memory, as sockets do. */
function feed(text: string, cuts: readonly number[]) {
  const reader = createResponseReader();
  const memory = Buffer.alloc(text.length);
  let progress: Progress = 'head';
  for (const [index, from] of [0, ...cuts].entries()) {
    const piece = text.slice(from, cuts[index] ?? text.length);
    if (piece === '' || ['bad', 'cut', 'end'].includes(progress)) continue;
    memory.write(piece, 'latin1');
    progress = reader.read(memory.subarray(0, piece.length));
    memory.fill(0);
  }
  const head = reader.head();
  const isUsable = progress === 'end' && reader.leavesConnectionUsable();
  return { progress, status: head?.status, body: reader.text(), retryAfter: head?.retryAfter ?? null, isUsable };
}

function expectReading(text: string, expected: Partial<ReturnType<typeof feed>>): void {
  expect(feed(text, [])).toMatchObject(expected);
  expect(feed(text, [...text].map((_, index) => index).slice(1))).toMatchObject(expected);
  for (let cut = 1; cut < text.length; cut += 1) expect(feed(text, [cut])).toMatchObject(expected);
}

describe('an answer', () => {
  it.each(ANSWERS)('is read the same however it is cut: number %#', ({ text, end, status, body }) => {
    expectReading(text, { progress: end, status, body });
  });

  it.each(CARELESS)('is read as it is meant, however carelessly it is spelled: number %#', (text) => {
    expectReading(text, { progress: 'end', status: 429, body: 'no', retryAfter: '5', isUsable: true });
  });

  it.each(MUDDLED)('is read without the lines that are not fields: number %#', (text) => {
    expectReading(text, { progress: 'end', status: 429, body: 'no', retryAfter: '5', isUsable: false });
  });

  it.each(BAD)('is none: number %#', (text) => {
    expect(feed(text, [])).toMatchObject({ progress: 'bad', status: undefined, body: '' });
    for (const cut of [1, 7, 9, 15, 20, text.length - 1]) expect(feed(text, [cut]).progress).toBe('bad');
  });

  it('of random bytes breaks nothing, and gives the same result for any chunks', () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const pieces = [
      'HTTP/1.1 200 OK',
      '\r\n',
      '\n',
      ' ',
      '\r\n\r\n',
      'Content-Length: 3',
      'Transfer-Encoding: chunked',
      '3',
      ':',
      'a',
      '0',
      ';',
    ];
    for (let run = 0; run < 3_000; run += 1) {
      const length = Math.floor(random() * 14);
      const text = `HTTP/1.1 200 OK\r\n${Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join('')}`;
      const cut = 1 + Math.floor(random() * (text.length - 1));
      // Bytes after the end, which make a connection unusable, may be those of the next read.
      const { isUsable: _cut, ...inPieces } = feed(text, [cut]);
      const { isUsable: _whole, ...whole } = feed(text, []);
      expect(inPieces, `seed ${seed}: ${JSON.stringify(text)} cut at ${cut}`).toEqual(whole);
    }
  });
});
