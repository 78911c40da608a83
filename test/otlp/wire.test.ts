import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { readWireExport } from '../../src/rpc/traces/otlp-wire.ts';

const read = (bytes: Uint8Array, spansMax = 10) => runWithoutPauses(readWireExport(bytes, spansMax));

/** A field of delimited length. */
function field(number: number, ...contents: readonly (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(contents.map((each) => Buffer.from(each as Uint8Array)));
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const text = (number: number, value: string) => field(number, Buffer.from(value));
const attribute = (number: number, key: string, value: string) => field(number, text(1, key), field(2, text(1, value)));
const malformed = expect.objectContaining({ code: 'malformed_request' });

describe('an export in protobuf', () => {
  it('is read with its fields in any order', () => {
    const spans = field(2, field(2, text(5, 'first')), field(1, text(1, 'scope')), field(2, text(5, 'second')));
    const bytes = field(1, spans, field(1, attribute(1, 'service.name', 'x')));
    const export_ = read(bytes);
    const around = { scope: { name: 'scope', version: '' }, resource: new Map([['service.name', 'x']]) };
    expect(export_.spans).toMatchObject([
      { name: 'first', ...around },
      { name: 'second', ...around },
    ]);
  });

  it('may have a message in parts, and unknown fields', () => {
    const unknown = field(900, [1, 2, 3]);
    const resource = [field(1, attribute(1, 'a', '1')), field(1, attribute(1, 'b', '2'), unknown)];
    const bytes = Buffer.concat([unknown, field(1, ...resource, unknown, field(2, unknown, field(2, unknown)))]);
    expect(read(bytes).spans).toMatchObject([
      {
        resource: new Map([
          ['a', '1'],
          ['b', '2'],
        ]),
      },
    ]);
  });

  it('treats a field of another type as unknown', () => {
    const bytes = field(1, field(2, field(2, [0x28, 5], field(6, [1]))));
    expect(read(bytes).spans).toMatchObject([{ name: '', kind: 0 }]);
  });

  it.each([
    ['a text', [0x2a, 0x7f]],
    ['an attribute', [0x4a, 0x7f]],
    ['an event', [0x5a, 0x7f]],
    ['a field nobody knows', [0x7a, 0x7f]],
    ['an id', [0x0a, 0x7f]],
  ])('is refused where %s ends behind its span', (_, content) => {
    const behind = field(2, Buffer.alloc(200));
    expect(() => read(field(1, field(2, field(2, content), behind)))).toThrow(malformed);
  });

  it.each([
    ['a span', 2],
    ['the spans of a scope', 1],
  ])('is refused when %s end behind their parent', (_, depth) => {
    const long = Buffer.from([0x12, 0x7f]);
    const inside = depth === 2 ? field(1, field(2, long)) : field(1, long);
    expect(() => read(Buffer.concat([inside, Buffer.alloc(300, 0x08)]))).toThrow(malformed);
  });

  it('is refused where a text is not UTF-8', () => {
    expect(() => read(field(1, field(2, field(2, field(5, [0xff, 0xfe])))))).toThrow(malformed);
  });

  it('is refused where values nest without end', () => {
    let value = text(1, 'x');
    for (let level = 0; level < 300; level += 1) value = field(5, field(1, value));
    expect(() => read(field(1, field(2, field(2, field(9, text(1, 'k'), field(2, value))))))).toThrow(malformed);
  });

  it('costs one attribute of too many members only its span', () => {
    const wide = Array.from({ length: 10_001 }, (_, index) => ({ key: `k${index}` }));
    const request = create(ExportTraceServiceRequestSchema, {
      resourceSpans: [{ scopeSpans: [{ spans: [{ attributes: wide }, { name: 'ok' }] }] }],
    });
    const { spans } = read(toBinary(ExportTraceServiceRequestSchema, request));
    expect(spans).toMatchObject([{ reason: expect.stringContaining('members') }, { name: 'ok' }]);
  });
});
