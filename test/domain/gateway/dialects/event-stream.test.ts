import { expect, it } from 'vitest';
import {
  createEventStream,
  dataRanges,
  EVENT_MAX_BYTES,
  joinData,
} from '../../../../src/domain/gateway/dialects/event-stream.ts';

function createSubject({ removes = '' } = {}) {
  const events: string[] = [];
  const stream = createEventStream({
    ...{ holdMemory: () => true, onUnread: () => undefined },
    read(event) {
      events.push(event.toString());
      return removes !== '' && event.includes(removes) ? Buffer.alloc(0) : event;
    },
  });
  return { events, ...stream };
}

const dataOf = (event: string) => joinData(Buffer.from(event), dataRanges(Buffer.from(event))).toString();

it.each([
  ['data: a\n\n', 'a'],
  ['data:a\n\n', 'a'],
  ['data:  a\n\n', ' a'],
  ['data\n\n', ''],
  ['event: x\ndata: a\nid: 7\nretry: 3\n\n', 'a'],
  ['data: a\ndata: b\n\n', 'a\nb'],
  ['data: a\r\ndata: b\r\n\r\n', 'a\nb'],
  ['data: a\rdata: b\r\r', 'a\nb'],
  ['data: a\n: comment\ndata:\ndata: c\n\n', 'a\n\nc'],
  ['\ufeffdata: a\n\n', 'a'],
  ['datax: a\nxdata: b\n data: c\nDATA: d\n\n', ''],
  ['data: a', 'a'],
  ['data: a: b\n\n', 'a: b'],
])('the data of %j is %j', (event, data) => {
  expect(dataOf(event)).toBe(data);
});

it.each([
  ['\n', ['data: a\n\n', ': ping\n\n', 'data: b\n\n']],
  ['\r\n', ['data: a\r\n\r\n', ': ping\r\n\r\n', 'data: b\r\n\r\n']],
])('events with line ends %j are split anywhere', (_end, expected) => {
  const bytes = Buffer.from(expected.join(''));
  for (let at = 0; at <= bytes.length; at += 1) {
    const { events, push, end } = createSubject();
    const passed = Buffer.concat([push(bytes.subarray(0, at)), push(bytes.subarray(at)), end()]);
    expect(passed.equals(bytes)).toBe(true);
    // A line feed that comes behind the carriage return of an empty line is not an event.
    expect(events.map((event) => event.trim())).toEqual(expected.map((event) => event.trim()));
  }
});

it('the line feed behind an event that was removed goes with it', () => {
  const { push, end } = createSubject({ removes: 'b' });
  const parts = ['data: a\r\n\r\ndata: b\r\n\r', '\ndata: c\r\n\r', '\n'].map((part) =>
    push(Buffer.from(part)).toString(),
  );
  expect(parts).toEqual(['data: a\r\n\r\n', 'data: c\r\n\r', '\n']);
  expect(end()).toHaveLength(0);
});

it('an event passes as soon as it ends, and not before', () => {
  const { push, end } = createSubject();
  expect(push(Buffer.from('data: a\n'))).toHaveLength(0);
  expect(push(Buffer.from('\ndata: b')).toString()).toBe('data: a\n\n');
  expect(end().toString()).toBe('data: b');
});

it('events that came in one part pass in one, without a copy', () => {
  const { events, push } = createSubject();
  const part = Buffer.from('data: a\n\ndata: b\n\ndata: c');
  const passed = push(part);
  expect(passed.toString()).toBe('data: a\n\ndata: b\n\n');
  expect([passed.buffer, passed.byteOffset]).toEqual([part.buffer, part.byteOffset]);
  expect(events).toEqual(['data: a\n\n', 'data: b\n\n']);
});

it('an event that is too large passes unread, and the next one is read', () => {
  const { events, push, end } = createSubject();
  const part = Buffer.alloc(1024 * 1024, 'x');
  let passed = push(Buffer.from('data: ')).length;
  for (let count = 0; count <= EVENT_MAX_BYTES / part.length; count += 1) passed += push(part).length;
  // Nothing of it is held any more.
  expect(passed).toBe(6 + part.length * (EVENT_MAX_BYTES / part.length + 1));
  push(Buffer.from('\n\ndata: small\n\n'));
  end();
  expect(events).toEqual(['data: small\n\n']);
});

it('an event that is too large in one part passes unread', () => {
  const { events, push } = createSubject();
  const part = Buffer.concat([
    Buffer.from('data: '),
    Buffer.alloc(EVENT_MAX_BYTES, 'x'),
    Buffer.from('\n\ndata: b\n\n'),
  ]);
  expect(push(part).equals(part)).toBe(true);
  expect(events).toEqual(['data: b\n\n']);
});

it('8 MiB in single bytes without a line end take the memory of the event', () => {
  const { push, events } = createSubject();
  const byte = Buffer.from('x');
  const before = process.memoryUsage();
  for (let count = 0; count < EVENT_MAX_BYTES; count += 1) push(byte);
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
  expect(events).toEqual([]);
});

it('millions of line ends take linear time', () => {
  const { push, events } = createSubject();
  const startedAt = process.cpuUsage();
  push(Buffer.alloc(3 * 1024 * 1024, 'a\r'));
  push(Buffer.alloc(3 * 1024 * 1024, 'b\n'));
  push(Buffer.from('\n'));
  expect(process.cpuUsage(startedAt).user / 1_000).toBeLessThan(5_000);
  expect(events).toHaveLength(1);
});
