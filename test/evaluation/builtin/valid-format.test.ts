import { describe, expect, it } from 'vitest';
import { evaluate } from './running.ts';

type Case = readonly [format: string, output: string, passes: boolean];

const CASES: readonly Case[] = [
  ['json', '{"a":1}', true],
  ['json', "{'a':1}", false],
  ['json', ' [1] ', true],
  ['json', '1', true],
  ['json', '{"a":1,}', false],
  ['markdown', '# T', true],
  ['markdown', '**b**', true],
  ['markdown', '- x', true],
  ['markdown', '`c`', true],
  ['markdown', '| a |\n|---|\n| 1 |', true],
  ['markdown', 'plain', false],
  ['markdown', 'a\n\nb', false],
  ['markdown', 'a\nb \\* &amp; c', false],
  ['markdown', '2 * 3 * 4', false],
  ['sql', 'SELECT * FROM users WHERE id = 1', true],
  ['sql', 'DROP TABLE x', true],
  ['sql', 'SELECT 1; SELECT 2', true],
  ['sql', 'SELECT * FROM `users`', true],
  ['sql', 'SELEC * FROM users', false],
  ['sql', 'SELECT * FROM', false],
  ['sql', 'hello world', false],
  ['sql', '{"a":1}', false],
];

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

/** The last is what comes of it: whether it passes, or why the schema is none. */
const SCHEMAS: readonly (readonly [schema: string, output: string, expected: boolean | RegExp])[] = [
  ['{"required":["b"]}', '{"a":1}', false],
  ['{"required":["a"]}', '{"a":1}', true],
  ['{"properties":{"a":{"pattern":"^x+$"}}}', '{"a":"xxx"}', true],
  ['{"properties":{"a":{"pattern":"^x+$"}}}', '{"a":"xxy"}', false],
  ['{"prefixItems":[{"type":"string"}]}', '[1]', false],
  // Tuples were written otherwise before; the newer draft does not know the old way.
  [`{"$schema":"${DRAFT_07}","items":[{"type":"string"}]}`, '[1]', false],
  ['{"$ref":"#/$defs/n","$defs":{"n":{"type":"number"}}}', '"x"', false],
  ['{"format":"date","x-known-to-us":1}', '"no date"', true],
  ['false', '1', false],
  ['{"type":"nothing"}', '1', /^Invalid JSON Schema: /],
  ['{"pattern":"(?=a)b"}', '"b"', /^Invalid JSON Schema: .*\(\?=/],
  ['{"$ref":"http://localhost:1/other.json"}', '1', /^Invalid JSON Schema: .*other\.json/],
  // What would return a promise, which is not a verdict.
  ['{"$async":true,"required":["b"]}', '{"a":1}', /^Invalid JSON Schema: \$async is not supported$/],
  ['{"$async":true}', '{"a":1}', /^Invalid JSON Schema: \$async is not supported$/],
  ['{"properties":{"a":{"$async":true,"type":"string"}}}', '{"a":1}', /^Invalid JSON Schema: \$async is/],
  ['{"$ref":"#/$defs/a","$defs":{"a":{"$async":true}}}', '{"a":1}', /^Invalid JSON Schema: \$async is/],
  [
    '{"$ref":"#/properties/enum","properties":{"enum":{"$async":true,"required":["b"]}}}',
    '{"a":1}',
    /^Invalid JSON Schema: \$async is/,
  ],
  ['{"properties":{"$async":{"type":"string"}}}', '{"$async":1}', false],
  // Names that all objects of JavaScript inherit.
  ['{"required":["toString"]}', '{"a":1}', false],
  ['{"properties":{"constructor":{"type":"number"}}}', '{}', true],
  ['{"properties":{"constructor":{"type":"number"}}}', '{"constructor":"x"}', false],
  ['{"multipleOf":0.1}', '0.3', true],
  ['{"multipleOf":0.01}', '19.99', true],
  ['{"multipleOf":0.01}', '19.995', false],
  ['{"multipleOf":1}', '1.0000000000000002', false],
  ['{"multipleOf":3}', '-9', true],
  ['{"multipleOf":2.5e-7}', '1e300', true],
  ['{"multipleOf":1e300}', '1e-7', false],
  ['{"multipleOf":0}', '1', /^Invalid JSON Schema: /],
  // Draft 2020-12 applies unless the schema says draft-07.
  ['{"$schema":"http://json-schema.org/draft-04/schema#","required":["b"]}', '{"a":1}', false],
  ['{"$schema":"https://json-schema.org/draft/2019-09/schema","required":["a"]}', '{"a":1}', true],
  ['{"$schema":"http://localhost:1/own","prefixItems":[{"type":"string"}]}', '[1]', false],
  ['{"$schema":5}', '1', /^Invalid JSON Schema: /],
  // Annotations of other dialects.
  ['{"nullable":true,"required":["b"]}', '{"a":1}', false],
  ['{"properties":{"a":{"type":"string","nullable":true}}}', '{"a":null}', false],
  ['{"properties":{"nullable":{"type":"string"}},"additionalProperties":false}', '{"nullable":"x"}', true],
  ['{"const":{"nullable":true}}', '{"nullable":true}', true],
  ['{"id":"x","required":["b"]}', '{"a":1}', false],
  ['{"properties":{"a":{"id":"q","type":"string"}}}', '{"a":1}', false],
  ['[]', '1', /^Invalid JSON Schema: a schema is an object or a boolean$/],
  ['{', '1', /^Invalid JSON Schema: /],
];

const judge = (output: string, settings: { format?: string; json_schema?: string }) =>
  evaluate('langevals/valid_format', { data: { output }, settings });

describe('valid_format', () => {
  it.each(CASES)('%s %j: %s', async (format, output, passed) => {
    expect(await judge(output, { format })).toMatchObject({ status: 'processed', score: passed ? 1 : 0, passed });
  });

  it.each(SCHEMAS)('schema %s of %s', async (json_schema, output, expected) => {
    const outcome = await judge(output, { json_schema });
    if (typeof expected === 'boolean') return expect(outcome).toMatchObject({ status: 'processed', passed: expected });
    expect(outcome).toMatchObject({ status: 'error', errorType: 'json_schema_error', isRetryable: false });
    expect(outcome.details).toMatch(expected);
  });

  it('says what is wrong', async () => {
    expect((await judge('{', {})).details).toMatch(/^Invalid JSON: /);
    expect((await judge('{"a":1}', { json_schema: '{"required":["b"]}' })).details).toBe(
      "JSON Schema validation failed: must have required property 'b'",
    );
    expect((await judge('plain', { format: 'markdown' })).details).toBe('No markdown elements found in the output');
    expect((await judge('{"a":1}', { format: 'sql' })).details).toBe(
      'Invalid SQL: Detected JSON instead of SQL string',
    );
    expect((await judge('SELECT *\nFRO x', { format: 'sql' })).details).toMatch(/^Invalid SQL: line 2, column \d+: /);
  });

  it('skips an output of only whitespace, and does not check Python', async () => {
    expect(await judge(' \n', { format: 'sql' })).toEqual({ status: 'skipped', details: 'Output is empty' });
    expect(await judge('print(1)', { format: 'python' })).toMatchObject({
      errorType: 'not_supported',
      details: 'Python validation is not supported by this server',
    });
  });
});
