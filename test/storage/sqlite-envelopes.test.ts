import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completedData } from '../../src/domain/events/request-data.ts';
import { envelope } from '../../src/domain/events/request-event.ts';
import { packEnvelope, unpackEnvelope } from '../../src/storage/engine/sqlite/compact-envelopes.ts';

const NAME = {
  eventId: 'req_e3dc484ecdebc37ecd966ad425ba32:completed',
  gatewayRequestId: 'req_e3dc484ecdebc37ecd966ad425ba32',
  organizationId: 'organization_PNi38edGodf7UdM0ScA3x',
  projectId: 'project_kjsSw4wfpA5q2U4LiI1sX',
};
const CONTENT = {
  occurredAtMs: 1_795_440_457_101,
  virtualKeyId: '',
  traceId: 'fcc3893025357cf989e1dd46843b19e6',
  principalUserId: null,
  endUserId: 'user_5f2c91',
  model: 'gpt-5-mini',
  modelProviderId: null,
  requestType: 'chat',
  usage: {
    inputTokens: 412,
    outputTokens: 57,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    reasoningTokens: 0,
  },
  error: null,
  durationMs: 1_220,
  labelsJson: '["production","support"]',
  metadataJson: '{}',
};
const COST = { nanoUsd: 96_000, rateVersion: 'registry@2026-09-23' };
type Content = Parameters<typeof completedData>[1]['content'];

function envelopeOf(changes: Partial<Content> = {}, name = NAME, status: 'success' | 'error' = 'success'): string {
  const content = { ...CONTENT, ...changes };
  const dataJson = completedData(name, { status, content, cost: status === 'error' ? null : COST });
  return envelope({
    id: name.eventId,
    type: 'gateway.request.completed',
    created: '2026-11-23T13:27:37.151Z',
    dataJson,
  });
}

describe('the stored form of an envelope', () => {
  it('takes less than two fifths of its room, for a request that succeeded', () => {
    const text = envelopeOf();
    expect(Buffer.byteLength(packEnvelope(text))).toBeLessThan(0.4 * Buffer.byteLength(text));
  });

  it('returns the same text, whatever it holds', () => {
    // Also what the envelope itself consists of, inside of texts and as names.
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        '","type":"',
        ',"labels":[',
        '],"metadata":{',
        ':completed',
        '{"id":"',
        '\u0001',
        '\u0003',
        '"',
        '\\',
      ),
    );
    const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
    const nullable = fc.option(text, { nil: null });
    const content = fc.record({
      virtualKeyId: text,
      traceId: text,
      principalUserId: nullable,
      endUserId: nullable,
      model: nullable,
      modelProviderId: nullable,
      requestType: nullable,
      usage: fc.constantFrom(null, CONTENT.usage),
      labelsJson: fc.array(text, { maxLength: 3 }).map((labels) => JSON.stringify(labels)),
      metadataJson: fc.dictionary(text, text, { maxKeys: 3 }).map((metadata) => JSON.stringify(metadata)),
    });
    const names = fc.record({ gatewayRequestId: text, eventId: text, organizationId: text, projectId: text });
    fc.assert(
      fc.property(content, names, fc.constantFrom('success', 'error'), (changes, name, status) => {
        for (const id of [name, { ...name, eventId: `${name.gatewayRequestId}:completed` }, NAME]) {
          const whole = envelopeOf(changes, id, status);
          expect(unpackEnvelope(packEnvelope(whole))).toBe(whole);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the text itself, where nothing of it is common', () => {
    const text = '{"id":"event_1","type":"gateway.budget.breached","created":"2026-11-23T13:27:37.151Z"}';
    expect(packEnvelope(text)).toBe(text);
    expect(unpackEnvelope(text)).toBe(text);
  });

  it('stays readable: it is the same for ever', () => {
    const stored = `{"id":"req_e3dc484ecdebc37ecd966ad425ba32:completed\u00032026-11-23T13:27:37.151Z\u0004\u0001\u0005\u0002\u00062026-11-23T13:27:37.101Z\u0007PNi38edGodf7UdM0ScA3x\u0008kjsSw4wfpA5q2U4LiI1sX\u0009\u000a"user_5f2c91"\u000bfcc3893025357cf989e1dd46843b19e6\u000cgpt-5-mini\u000dchat\u000e412\u000f57\u00100\u00110\u00120\u00130.000096\u001496000\u00152026-09-23\u00161220\u0017"production","support"\u0018}}}`;
    expect(unpackEnvelope(stored)).toBe(envelopeOf());
    expect(packEnvelope(envelopeOf())).toBe(stored);
  });

  it('is refused for a text that holds a code', () => {
    expect(() => packEnvelope('{"id":"\u0003"}')).toThrow('control character');
    expect(() => unpackEnvelope('{"id":"a"\u001f}')).toThrow('unknown code');
  });
});
