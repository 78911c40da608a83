import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEventMetadata } from '../../../src/domain/events/event-metadata.ts';
import { completedData } from '../../../src/domain/events/request-data.ts';
import {
  allRequestKeys,
  createGatewayRequestId,
  type EventName,
  envelope,
  eventIdOf,
  gatewayRequestId,
  isOwnRequestId,
  isRequestId,
  parseEventId,
  requestKeys,
} from '../../../src/domain/events/request-event.ts';
import { requestIdOfStored } from '../../../src/domain/traces/request-ids.ts';
import { contentOfSpan } from '../../../src/domain/traces/span-requests.ts';
import type { SpanType } from '../../../src/domain/traces/trace.ts';
import { mergeMetadata } from '../../../src/domain/traces/trace-metadata.ts';
import { send, spanOf } from '../traces/collector/collecting.ts';

describe('the request id of a span', () => {
  it.each([
    ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', 'req_4075a52f5e24e2a5380577318e4ed8'],
    ['trace-123', 'span-456', 'req_8c029d920bfec1e5d5f6ad1a2bb379'],
    ['a/b', 'c', 'req_529d15351c88e5f398f72b55eee0eb'],
  ])('follows from the trace %s and the span %s', (traceId, spanId, requestId) => {
    expect(gatewayRequestId(traceId, spanId, null)).toBe(requestId);
  });

  it('differs for every pair, also where the parts hold separators', () => {
    const pairs = [
      ['a/b', 'c'],
      ['a', 'b/c'],
      ['a%2Fb', 'c'],
      ['a%252Fb', 'c'],
    ] as const;
    expect(new Set(pairs.map(([traceId, spanId]) => gatewayRequestId(traceId, spanId, {}))).size).toBe(4);
  });

  it('is the one a gateway reported', () => {
    expect(gatewayRequestId('t', 's', { gateway_request_id: 'gw_1' })).toBe('gw_1');
    const inherited = JSON.parse('{"__proto__":{"gateway_request_id":"gw_1"}}');
    expect(gatewayRequestId('t', 's', inherited)).toMatch(/^req_/);
  });
});

it('an id of our own gateway is new each time, and is known by its beginning', () => {
  const ids = Array.from({ length: 100 }, () => createGatewayRequestId(randomBytes));
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) {
    expect(id).toMatch(/^gwreq_[0-9A-Za-z]{24}$/);
    expect([isOwnRequestId(id), isRequestId(id)]).toEqual([true, true]);
  }
  for (const id of ['req_1', 'GWREQ_1', 'x-gwreq_1']) expect(isOwnRequestId(id)).toBe(false);
});

describe('the request id of a stored span', () => {
  const stored = (params: object | null, type: SpanType = 'llm') =>
    requestIdOfStored('t', {
      ...{ spanId: 's', type, model: 'gpt-5', callRow: null },
      paramsJson: params === null ? null : JSON.stringify(params),
    });

  it('is the one it had when it was collected', () => {
    expect(stored({ a: 1, gateway_request_id: 'gw_1' })).toBe('gw_1');
    const hashed = gatewayRequestId('t', 's', null);
    const odd = [{ gateway_request_id: 1 }, { gateway_request_id: 'a b' }, { a: { gateway_request_id: 'gw_1' } }];
    for (const params of [null, {}, ...odd]) expect(stored(params)).toBe(hashed);
  });

  it('is null for spans that are not requests', () => {
    expect(stored({ gateway_request_id: 'gw_1' }, 'tool')).toBeNull();
  });
});

describe('event ids', () => {
  it('are the id as reported, then with its project, then hashed with it', () => {
    const digest = createHash('sha256').update('project_1/req_1').digest('hex');
    expect(requestKeys('req_1', 'project_1')).toEqual(['req_1', 'req_1:project_1', `req_${digest.slice(0, 30)}`]);
  });

  it('continue after ids of the same form, all different, and end with one that cannot be reported', () => {
    const first = requestKeys('req_1', 'project_1');
    const all = [...allRequestKeys('req_1', 'project_1')];
    const digest = createHash('sha256').update('project_1/req_1/1').digest('hex');
    expect(all.slice(0, 4)).toEqual([...first, `req_${digest.slice(0, 30)}`]);
    expect(new Set(all).size).toBe(all.length);
    const last = all.at(-1);
    expect(last).toBe(`${first[2]},`);
    expect(gatewayRequestId('t', 's', { gateway_request_id: last ?? '' })).not.toBe(last);
  });

  it.each<EventName>([
    { kind: 'completed' },
    { kind: 'settled' },
    { kind: 'correction', number: 1 },
    { kind: 'correction', number: 9 },
  ])('read back their base and which they are: %j', (name) => {
    for (const base of ['req_1', 'a:completed', 'a:completed:2', 'a:settled', ':', 'a\nb']) {
      expect(parseEventId(eventIdOf(base, name))).toEqual({ base, name });
    }
  });

  it('end in what happened', () => {
    expect(eventIdOf('req_1', { kind: 'completed' })).toBe('req_1:completed');
    expect(eventIdOf('req_1', { kind: 'settled' })).toBe('req_1:settled');
    expect(eventIdOf('req_1', { kind: 'correction', number: 1 })).toBe('req_1:completed:2');
    expect(eventIdOf('req_1', { kind: 'correction', number: 9 })).toBe('req_1:completed:10');
    for (const id of [
      '',
      'req_1',
      ':completed',
      'req_1:admitted',
      'req_1:completed:1',
      'req_1:completed:11',
      'req_1:completed:02',
    ]) {
      expect(parseEventId(id)).toBeNull();
    }
  });
});

function dataOf(span: object, metadata: string | object = {}): string {
  const fields = { type: 'llm', model: 'gpt-5', ...span };
  const { append } = send({ trace_id: 'trace-1', spans: [spanOf(fields)] });
  const [stored] = append.spans;
  const [request] = append.requests;
  if (stored === undefined || request === undefined) throw new Error('The span was not stored.');
  const metadataJson = typeof metadata === 'string' ? metadata : mergeMetadata(null, JSON.stringify(metadata)).json;
  const { traceId, organizationId, projectId } = append;
  const { gatewayRequestId, rateVersion } = request;
  const { costNanoUsd } = stored;
  const hasError = stored.errorJson !== null;
  return completedData(
    { eventId: 'e:completed', gatewayRequestId, organizationId, projectId },
    {
      status: hasError ? 'error' : 'success',
      content: contentOfSpan({ traceId, span: stored, hasError, request, metadata: readEventMetadata(metadataJson) }),
      cost: costNanoUsd === null ? null : { nanoUsd: costNanoUsd, rateVersion },
    },
  );
}

describe('the data of a completed event', () => {
  it('has every member in the order of the contract', () => {
    const metrics = { prompt_tokens: 100, completion_tokens: 150, cache_read_input_tokens: 7, reasoning_tokens: 3 };
    const input = { type: 'chat_messages', value: [] };
    const metadata = { user_id: 'u', thread_id: 't', labels: ['a'], plan: { tier: 1 } };
    const data = dataOf(
      { metrics: { ...metrics, cost: 0.003808 }, input, params: { gateway_request_id: 'gw' } },
      metadata,
    );
    expect(data).toBe(
      '{"event_id":"e:completed","event_type":"gateway.request.completed","gateway_request_id":"gw",' +
        '"occurred_at":"2023-11-13T18:26:41.000Z","organization_id":"organization_1","project_id":"project_1",' +
        '"virtual_key_id":"","principal_user_id":null,"end_user_id":"u","trace_id":"trace-1","model":"gpt-5",' +
        '"model_provider_id":null,"request_type":"chat","usage":{"input_tokens":100,"output_tokens":150,' +
        '"cache_read_input_tokens":7,"cache_creation_input_tokens":0,"reasoning_tokens":3},' +
        '"cost":{"total_usd":"0.003808","nano_usd":3808000,"rate_version":null},"status":"success",' +
        '"needs_reconciliation":null,"settle_reason":null,"error":null,"duration_ms":1000,"labels":["a"],' +
        '"metadata":{"plan":{"tier":1}}}',
    );
  });

  it('has the version of the rates that priced it', () => {
    const { cost } = JSON.parse(dataOf({ metrics: { prompt_tokens: 100, completion_tokens: 150 } }));
    expect(cost).toEqual({
      ...{ total_usd: '0.001625', nano_usd: 1_625_000 },
      rate_version: expect.stringMatching(/^registry@\d{4}-\d{2}-\d{2}$/),
    });
  });

  it('is null where the span says nothing, and never a negative duration', () => {
    const timestamps = { started_at: 1_699_900_000_000, finished_at: 1_699_899_999_000 };
    expect(JSON.parse(dataOf({ model: 'unknown-model', metrics: null, timestamps }))).toMatchObject({
      ...{ usage: null, cost: null, end_user_id: null, request_type: null, duration_ms: 0, labels: [] },
    });
    expect(JSON.parse(dataOf({ metrics: { prompt_tokens: 0 } })).usage).toMatchObject({ input_tokens: 0 });
  });

  it('says what failed', () => {
    const failed = JSON.parse(dataOf({ error: { type: 'RateLimitError', message: 'slow down', status: 429 } }));
    expect(failed).toMatchObject({ status: 'error', error: { class: 'RateLimitError', http_status: 429 } });
  });

  it('carries 64 labels, and custom metadata up to 4,096 bytes with all digits', () => {
    const labels = Array.from({ length: 70 }, (_, index) => `l${index}`);
    expect(JSON.parse(dataOf({}, { labels })).labels).toEqual(labels.slice(0, 64));
    const exact = 'x'.repeat(4096 - '{"a":""}'.length);
    expect(JSON.parse(dataOf({}, { user_id: 'u'.repeat(512), a: exact })).metadata).toEqual({ a: exact });
    expect(JSON.parse(dataOf({}, { a: `${exact}x` })).metadata).toEqual({});
    expect(dataOf({}, '{"n":12345678901234567890,"__proto__":[1]}')).toMatch(
      /"metadata":\{"n":12345678901234567890,"__proto__":\[1]}}$/,
    );
  });

  it('contains custom metadata exactly when its compact text fits, with any content', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.dictionary(text, value, { maxKeys: 8 }), fc.nat(600), (some, extra) => {
        const base = { ...some, filler: '' };
        // On both sides of the limit, to catch an estimate that is too strict or too generous.
        const room = 4096 - Buffer.byteLength(JSON.stringify(base));
        for (const length of [room - extra, room, room + 1]) {
          const sent = { ...base, filler: 'f'.repeat(Math.max(0, length)) };
          const fits = Buffer.byteLength(JSON.stringify(sent)) <= 4096;
          expect(readEventMetadata(JSON.stringify(sent)).customJson).toBe(fits ? JSON.stringify(sent) : '{}');
        }
      }),
    );
  });
});

describe('an envelope', () => {
  it('is compact JSON in the order of the contract', () => {
    const type = 'gateway.request.completed';
    const created = new Date(Date.UTC(2026, 6, 27, 14, 3, 11, 482)).toISOString();
    expect(envelope({ id: 'req_1:completed', type, created, dataJson: '{"event_id":"req_1:completed"}' })).toBe(
      '{"id":"req_1:completed","type":"gateway.request.completed","created":"2026-07-27T14:03:11.482Z",' +
        '"schema_version":"1","data":{"event_id":"req_1:completed"}}',
    );
  });

  it('escapes what queues refuse, and nothing else', () => {
    const odd = 'a\ufffe\uffff\ufffd🙂';
    const text = envelope({ id: 'i', type: 't', created: '', dataJson: JSON.stringify({ odd }) });
    expect(text).toContain('{"odd":"a\\ufffe\\uffff\ufffd🙂"}');
    expect(JSON.parse(text).data.odd).toBe(odd);
  });
});
