import { describe, expect, it } from 'vitest';
import { INVALID, type RequestDraft } from '../../../src/domain/gateway/gateway-draft.ts';
import { toRequestDrafts } from '../../../src/domain/gateway/gateway-json.ts';
import { createItemReading } from '../../../src/domain/gateway/gateway-reading.ts';
import { readRecord } from '../../../src/domain/gateway/gateway-record.ts';
import { parseJson, scanJson } from '../../../src/json/json-text.ts';

const AT = 1_790_000_000_000;
const NUL = '\\u0000';

/** The fields are JSON texts, because the spelling of numbers matters. `changed` replaces fields of the draft. */
function read(fields: { readonly [name: string]: string }, changed: Partial<RequestDraft> = {}) {
  const all = { gateway_request_id: '"gw-1"', status: '"success"', occurred_at: String(AT), ...fields };
  const text = Object.entries(all).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const bytes = Buffer.from(`{"records":[{${text.join(',')}}]}`);
  const draft = toRequestDrafts(parseJson(bytes, scanJson(bytes), 'literals')).at(0);
  if (typeof draft !== 'object' || draft === null) throw new Error('no record');
  const reading = createItemReading();
  const record = readRecord({ ...draft, ...changed }, reading);
  return { record, problem: reading.problem() };
}

const long = (length: number) => JSON.stringify('x'.repeat(length));
const astral = (length: number) => JSON.stringify('😀'.repeat(length));
const list = (length: number, item = '""') => `[${Array.from({ length }, () => item).join(',')}]`;
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

describe('a reported request', () => {
  it('has defaults for all omitted members', () => {
    expect(read({}).record).toEqual({
      gatewayRequestId: 'gw-1',
      status: 'success',
      projectId: null,
      cost: null,
      content: {
        occurredAtMs: AT,
        virtualKeyId: '',
        traceId: '',
        principalUserId: null,
        endUserId: null,
        model: null,
        modelProviderId: null,
        requestType: null,
        usage: null,
        error: null,
        durationMs: null,
        labelsJson: '[]',
        metadataJson: '{}',
      },
    });
  });

  it.each([
    ['gateway_request_id', '"!"'],
    ['gateway_request_id', long(256)],
    ['status', '"admitted"'],
    ['project_id', '""'],
    ['occurred_at', '1577836800000'],
    ['occurred_at', '4102444799999'],
    ['virtual_key_id', '""'],
    ['trace_id', astral(256)],
    ['principal_user_id', 'null'],
    ['end_user_id', '"x"'],
    ['model', long(256)],
    ['model_provider_id', 'null'],
    ['request_type', long(64)],
    ['usage', 'null'],
    ['usage', '{"input_tokens":9007199254740991,"anything":"else"}'],
    ['cost_usd', '0'],
    ['cost_usd', '"9007199.254740991"'],
    ['cost_usd', `"0.${'1'.repeat(30)}"`],
    ['duration_ms', '604800000'],
    ['duration_ms', '-0'],
    ['duration_ms', '1e3'],
    ['occurred_at', '1790000000000.0'],
    ['occurred_at', '1.79e12'],
    ['usage', '{"input_tokens":1.0}'],
    ['labels', list(64, astral(256))],
    ['metadata', nested(32)],
    ['metadata', `{"a":${long(4096 - '{"a":""}'.length)}}`],
    ['error', '"ignored where nothing failed"'],
    ['whatever', '{"is":["unknown"]}'],
  ])('may have %s = %s', (name, value) => {
    expect(read({ [name]: value })).toMatchObject({ problem: null, record: { status: expect.any(String) } });
  });

  it.each([
    ['gateway_request_id', '""'],
    ['gateway_request_id', long(257)],
    ['gateway_request_id', '"a b"'],
    ['gateway_request_id', '"a,b"'],
    ['gateway_request_id', '"é"'],
    ['gateway_request_id', '7'],
    ['status', '"Success"'],
    ['status', '"settled"'],
    ['status', 'null'],
    ['project_id', 'null'],
    ['project_id', '7'],
    ['occurred_at', '1577836799999'],
    ['occurred_at', '4102444800000'],
    ['occurred_at', '1790000000000.5'],
    ['occurred_at', '"1790000000000"'],
    ['occurred_at', 'null'],
    ['virtual_key_id', 'null'],
    ['virtual_key_id', long(257)],
    ['trace_id', astral(257)],
    ['principal_user_id', '""'],
    ['end_user_id', `"a${NUL}b"`],
    ['model', long(257)],
    ['model_provider_id', '["x"]'],
    ['request_type', long(65)],
    ['usage', '[]'],
    ['usage', '{"input_tokens":1.5}', 'usage.input_tokens'],
    ['usage', '{"output_tokens":-1}', 'usage.output_tokens'],
    ['usage', '{"reasoning_tokens":9007199254740992}', 'usage.reasoning_tokens'],
    ['usage', '{"cache_read_input_tokens":null}', 'usage.cache_read_input_tokens'],
    ['usage', '{"cache_creation_input_tokens":1e999}', 'usage.cache_creation_input_tokens'],
    ['cost_usd', '-1'],
    ['cost_usd', '"1e-7"'],
    ['cost_usd', '-1e-7'],
    ['cost_usd', '1e7'],
    ['cost_usd', '1e999'],
    ['cost_usd', '1e-999999999'],
    ['cost_usd', '"01"'],
    ['cost_usd', '""'],
    ['cost_usd', '"9007199.2547409915"'],
    ['cost_usd', `"0.${'1'.repeat(31)}"`],
    ['cost_usd', 'true'],
    ['duration_ms', '604800001'],
    ['duration_ms', '-1'],
    ['duration_ms', '1e-3'],
    ['labels', 'null'],
    ['labels', list(65)],
    ['labels', `["a",${long(257)}]`, 'labels.1'],
    ['labels', '[7]', 'labels.0'],
    ['labels', `["${NUL}"]`, 'labels.0'],
    ['metadata', 'null'],
    ['metadata', '[]'],
    ['metadata', '7'],
    ['metadata', nested(33)],
    ['metadata', '{"a":[1e999]}'],
    ['metadata', `{"a":${long(4097 - '{"a":""}'.length)}}`],
  ])('must not have %s = %s', (name, value, path = name) => {
    const { record, problem } = read({ [name]: value });
    expect(record).toBeNull();
    expect(problem).toMatch(new RegExp(`^${path.replace('.', '\\.')}: `));
  });

  it.each([
    ['gateway_request_id', 'gatewayRequestId'],
    ['status', 'status'],
    ['occurred_at', 'occurredAtMs'],
  ])('needs %s', (name, field) => {
    expect(read({}, { [field]: undefined })).toEqual({ record: null, problem: `${name}: is required` });
  });

  it('says what failed, as far as anybody knows', () => {
    const errorOf = (error: string) => read({ status: '"error"', ...(error === '' ? {} : { error }) });
    expect(errorOf('').record?.content.error).toEqual({ class: 'unknown', httpStatus: null });
    expect(errorOf('{"class":"Timeout"}').record?.content.error).toEqual({ class: 'Timeout', httpStatus: null });
    expect(errorOf('{"class":"T","http_status":599}').record?.content.error).toEqual({ class: 'T', httpStatus: 599 });
    for (const [error, path] of [
      ['null', 'error'],
      ['"Timeout"', 'error'],
      ['{}', 'error.class'],
      ['{"class":""}', 'error.class'],
      [`{"class":${long(201)}}`, 'error.class'],
      ['{"class":"T","http_status":99}', 'error.http_status'],
      ['{"class":"T","http_status":600}', 'error.http_status'],
      ['{"class":"T","http_status":"500"}', 'error.http_status'],
    ] as const) {
      expect(errorOf(error).problem).toMatch(new RegExp(`^${path.replace('.', '\\.')}: `));
    }
  });

  it.each([
    ['1e-7', 100],
    ['1E-7', 100],
    ['5e-10', 1],
    ['4e-10', 0],
    ['1.25e+3', 1_250_000_000_000],
    ['0e0', 0],
  ])('costs %s, as serialisers write small numbers', (sent, nanoUsd) => {
    expect(read({ cost_usd: sent }).record?.cost).toEqual({ nanoUsd, rateVersion: null });
  });

  it('reports seconds as such', () => {
    expect(read({ occurred_at: '1790000000' }).problem).toBe(
      'occurred_at: must be milliseconds since the epoch; 1790000000 looks like seconds, multiply by 1000',
    );
    expect(read({ occurred_at: '7' }).problem).toContain('must be a whole number');
  });

  it('costs what the text says, to the last digit, whether it is a string or a number', () => {
    for (const [text, nanoUsd] of [
      ['0.003808', 3_808_000],
      ['0.0000000005', 1],
      ['0.00000000049999', 0],
      ['1234567.123456789', 1_234_567_123_456_789],
      ['12', 12_000_000_000],
      ['0.10', 100_000_000],
    ] as const) {
      for (const sent of [text, `"${text}"`]) {
        expect(read({ cost_usd: sent }).record?.cost).toEqual({ nanoUsd, rateVersion: null });
      }
    }
  });

  it('keeps metadata as it was sent: order, digits, names', () => {
    const sent = '{"b":1.0,"a":12345678901234567890,"__proto__":[1e3],"c":{"constructor":null}}';
    expect(read({ metadata: sent }).record?.content.metadataJson).toBe(sent);
    expect(read({ metadata: '{"\\ud800":"\\udfff"}' }).record?.content.metadataJson).toBe('{"\ufffd":"\ufffd"}');
    expect(read({}, { metadata: INVALID })).toEqual({ record: null, problem: 'metadata: must be valid JSON' });
  });
});
