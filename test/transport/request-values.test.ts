import { create, type DescMessage } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  type CreateApiKeyRequest,
  CreateApiKeyRequestSchema,
  ListApiKeysResponseSchema,
} from '../../gen/spandrel/v1/keys_pb.js';
import { decodeMessage } from '../../src/transport/rest/decode.ts';
import { compileEncoder } from '../../src/transport/rest/encode.ts';

function decode(desc: DescMessage, body: object) {
  return decodeMessage(desc, {
    parameters: {},
    query: new URLSearchParams(),
    nullIsAbsent: false,
    nullUnsets: true,
    body: body as never,
  });
}

/** Decodes an instant of a body; returns it or the problem's type. */
function read(expiresAt: unknown) {
  const { message, problems } = decode(CreateApiKeyRequestSchema, { expiresAt });
  const { at: read } = (message as CreateApiKeyRequest).expiry ?? {};
  const [problem] = problems;
  return problem ? problem.type : read ? new Date(timestampMs(read)).toISOString() : undefined;
}

describe('an instant in a body', () => {
  it.each([
    ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000Z'],
    ['2030-01-02t03:04:05.6z', '2030-01-02T03:04:05.600Z'],
    ['2030-01-02T03:04:05.123456789Z', '2030-01-02T03:04:05.123Z'],
    ['2030-01-02T03:04:05+02:00', '2030-01-02T01:04:05.000Z'],
    ['2030-01-02T03:04:05-05:30', '2030-01-02T08:34:05.000Z'],
    ['2030-01-02T03:04:05', '2030-01-02T03:04:05.000Z'],
    ['2030-01-02', '2030-01-02T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('may be %s', (text, instant) => {
    expect(read(text)).toBe(instant);
  });

  it('may be epoch milliseconds', () => {
    expect(read(JSON.rawJSON('1893553445678'))).toBe('2030-01-02T03:04:05.678Z');
    expect(read(JSON.rawJSON('0'))).toBe('1970-01-01T00:00:00.000Z');
    expect(read(JSON.rawJSON('-1'))).toBe('1969-12-31T23:59:59.999Z');
    expect(read(JSON.rawJSON('1e3'))).toBe('1970-01-01T00:00:01.000Z');
  });

  it('may be unset where a request says which fields it sends', () => {
    expect(read(null)).toBeUndefined();
  });

  it.each([
    '',
    'tomorrow',
    '1893553445678',
    '2030-02-30',
    '2030-13-01',
    '2030-00-10',
    '2030-01-02T24:00:00Z',
    '2030-01-02T03:60:00Z',
    '2030-01-02T03:04:60Z',
    '2030-01-02T03:04Z',
    '2030-01-02T03:04:05+2:00',
    '2030-01-02T03:04:05+24:00',
    '2030-1-2',
    '0000-12-31',
    '+12030-01-01',
    '0001-01-01T00:00:00+01:00',
    ' 2030-01-02',
    '2030-01-02Z',
  ])('is not %s', (text) => {
    expect(read(text)).toBe('invalid_format');
  });

  it('is not any other kind of value', () => {
    for (const value of [true, [], {}, JSON.rawJSON('1.5'), JSON.rawJSON('1e-3')]) {
      expect(read(value)).toBe('invalid_type');
    }
    expect(read(JSON.rawJSON('253402300800000'))).toBe('too_big');
    expect(read(JSON.rawJSON('-62135596800001'))).toBe('too_small');
  });

  it('is reported with its path and the expected kind', () => {
    const { problems } = decode(CreateApiKeyRequestSchema, { expiresAt: 'soon' });
    expect(problems).toEqual([
      {
        field: 'expiresAt',
        target: 'json',
        type: 'invalid_format',
        message: 'expiresAt must be an RFC 3339 timestamp',
        expected: 'an RFC 3339 timestamp',
      },
    ]);
  });
});

describe('the position of the next page', () => {
  const write = (nextPageToken?: string) =>
    compileEncoder(ListApiKeysResponseSchema)(
      create(ListApiKeysResponseSchema, nextPageToken === undefined ? {} : { nextPageToken }),
    );

  it('is absent without a requested page, null at the end, and a text before it', () => {
    expect(write()).toBe('{"data":[]}');
    expect(write('')).toBe('{"data":[],"next_cursor":null}');
    expect(write('next')).toBe('{"data":[],"next_cursor":"next"}');
  });
});
