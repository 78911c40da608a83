import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type BodyChange, rewriteBody } from '../../../../src/domain/gateway/dialects/rewrite-body.ts';
import { runsOf } from '../../../support/scenario.ts';

const rewrite = (text: string, change: BodyChange) => rewriteBody(Buffer.from(text), change).toString();

it.each<readonly [string, BodyChange, string]>([
  ['{"model":"a","n":1}', { model: 'b' }, '{"model":"b","n":1}'],
  [' {\n "n" : 1.0 ,\t"model" : "a" } \n', { model: 'b"\u20ac' }, ' {\n "n" : 1.0 ,\t"model" : "b\\"\u20ac" } \n'],
  ['{"x":{"model":"a"},"model":"a"}', { model: 'b' }, '{"x":{"model":"a"},"model":"b"}'],
  ['{"x":"\\"model\\":","model":"a"}', { model: 'b' }, '{"x":"\\"model\\":","model":"b"}'],
  ['{"m\\u006fdel":"a"}', { model: 'b' }, '{"m\\u006fdel":"b"}'],
  ['{"model":"a","model":"c"}', { model: 'b' }, '{"model":"a","model":"b"}'],
  ['\ufeff{"model":"a"}', { model: 'b' }, '\ufeff{"model":"b"}'],
  ['{"model":"a"}', { includeUsage: true }, '{"model":"a","stream_options":{"include_usage":true}}'],
  ['{}', { includeUsage: true }, '{"stream_options":{"include_usage":true}}'],
  ['{"stream_options":null}', { includeUsage: true }, '{"stream_options":{"include_usage":true}}'],
  ['{"stream_options":{}}', { includeUsage: true }, '{"stream_options":{"include_usage":true}}'],
  ['{"stream_options":{"x":1}}', { includeUsage: true }, '{"stream_options":{"x":1,"include_usage":true}}'],
  [
    '{"stream_options":{"include_usage":false,"x":1}}',
    { includeUsage: true },
    '{"stream_options":{"include_usage":true,"x":1}}',
  ],
  ['{"stream_options":{"a":1},"model":"a"}', { withoutStreamOptions: true }, '{"model":"a"}'],
  ['{"model":"a","stream_options":{"a":1}}', { withoutStreamOptions: true }, '{"model":"a"}'],
  ['{"stream_options":{"a":1}}', { withoutStreamOptions: true }, '{}'],
  ['{"stream_options":1,"stream_options":2}', { withoutStreamOptions: true }, '{}'],
  ['{"a":1,"stream_options":1,"stream_options":2,"b":3}', { withoutStreamOptions: true }, '{"a":1,"b":3}'],
  ['{"stream_options":1,"a":1,"stream_options":2}', { withoutStreamOptions: true }, '{"a":1}'],
  ['{"stream_options":{}}', { withoutStreamOptions: true, includeUsage: true }, '{}'],
  [
    '{"stream":true,"model":"a"}',
    { model: 'b', includeUsage: true },
    '{"stream":true,"model":"b","stream_options":{"include_usage":true}}',
  ],
  ['{}', { model: 'b' }, '{}'],
  ['[1]', { model: 'b' }, '[1]'],
  ['{"model":', { model: 'b' }, '{"model":'],
  ['{"model"', { model: 'b' }, '{"model"'],
  ['', { model: 'b' }, ''],
])('%s with %j is %s', (text, change, expected) => {
  expect(rewrite(text, change)).toBe(expected);
});

it('a body that needs no change is the same buffer', () => {
  const bytes = Buffer.from('{"model":"a"}');
  expect(rewriteBody(bytes, {})).toBe(bytes);
  expect(rewriteBody(bytes, { withoutStreamOptions: true })).toBe(bytes);
});

it('reads names with a backslash', () => {
  expect(rewrite('{"a\\\\":1,"model":"a","\\\\":2}', { model: 'b' })).toBe('{"a\\\\":1,"model":"b","\\\\":2}');
});

/** JSON.parse of V8 13 takes a name with a backslash, of an earlier object, for a later one that is written with escapes. */
const names = fc.oneof(
  fc.constantFrom('model', 'stream_options', 'include_usage', '__proto__', 'constructor', 'mo"del'),
  fc.string({ maxLength: 4 }).filter((name) => !name.includes('\\')),
);
const values = fc
  .oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.dictionary(fc.constantFrom('include_usage', 'x'), fc.oneof(fc.boolean(), fc.string()), { maxKeys: 2 }),
  )
  // Their objects have names too.
  .filter((value) => !JSON.stringify(value).includes('\\\\'));
const spaces = fc.constantFrom('', '', ' ', '\n\t');
const members = fc.array(fc.tuple(names, values, spaces, fc.boolean()), { maxLength: 6 });
const changes = fc.record(
  { model: fc.string({ maxLength: 5 }), includeUsage: fc.boolean(), withoutStreamOptions: fc.boolean() },
  { requiredKeys: [] },
);

/** As JSON with names escaped at will, and spaces. */
function writeBody(list: readonly (readonly [string, unknown, string, boolean])[]): string {
  const escapeAll = (name: string) =>
    `"${[...Buffer.from(name, 'utf16le').swap16().toString('hex').matchAll(/..../g)].map((unit) => `\\u${unit}`).join('')}"`;
  const written = list.map(([name, value, space, escapes]) => {
    const text = escapes ? escapeAll(name) : JSON.stringify(name);
    return `${space}${text}${space}:${space}${JSON.stringify(value)}${space}`;
  });
  return `{${written.join(',')}}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

it('parsed, the result is the body with the change, and text is only added or removed where it is', () => {
  fc.assert(
    fc.property(members, changes, (list, change) => {
      const text = writeBody(list);
      const result = rewrite(text, change as BodyChange);
      const expected = new Map(Object.entries(JSON.parse(text)));
      if (change.model !== undefined && expected.has('model')) expected.set('model', change.model);
      const options = expected.get('stream_options');
      if (change.withoutStreamOptions) expected.delete('stream_options');
      else if (change.includeUsage) {
        expected.set('stream_options', { ...(isPlainObject(options) ? options : {}), include_usage: true });
      }
      expect(new Map(Object.entries(JSON.parse(result)))).toEqual(expected);
      // Every other member is spelled as it was.
      for (const [name, value, space] of list) {
        if (name === 'model' || name === 'stream_options') continue;
        expect(result).toContain(`:${space}${JSON.stringify(value)}${space}`);
      }
    }),
    { numRuns: runsOf(5_000) },
  );
});

it('a large body is rewritten in linear time', () => {
  const text = `{"messages":${JSON.stringify(['\\"'.repeat(4_000_000)])},"model":"a"}`;
  const startedAt = process.cpuUsage();
  expect(rewrite(text, { model: 'b', includeUsage: true })).toHaveLength(text.length + 40);
  expect(process.cpuUsage(startedAt).user / 1_000).toBeLessThan(5_000);
});
