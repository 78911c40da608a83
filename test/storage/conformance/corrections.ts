import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import { requestIdOfStored } from '../../../src/domain/traces/request-ids.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { recordOf, reportOf } from './reports.ts';
import { ORGANIZATION, randomHex, sampleAppend, sampleRequest, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

type Data = { readonly [name: string]: unknown };
type Sending = { readonly span?: Partial<Span>; readonly user?: string; readonly rateVersion?: string };

const BARE = {
  promptTokens: null,
  completionTokens: null,
  reasoningTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  costNanoUsd: null,
} as const;

export function correctionConformance(open: OpenSubject): void {
  describe('a span that is sent again with changes', () => {
    it(
      'MUST correct what the log tells, once for each change and up to :completed:10',
      withStore(open, async (store) => {
        const call = begin(store);
        await call.send({ span: BARE });
        for (let round = 1; round <= 12; round += 1) {
          for (let repeat = 0; repeat < 2; repeat += 1) {
            await call.send({ span: { ...BARE, promptTokens: round, costNanoUsd: round * 1000 } });
          }
        }
        const expected = ['completed', ...Array.from({ length: 9 }, (_, index) => `completed:${index + 2}`)];
        const emitted = await call.read();
        expect([...emitted.keys()]).toEqual(expected);
        expect(emitted.get('completed')).toMatchObject({ usage: null, cost: null });
        for (const [suffix, data] of emitted) {
          const round = Number(suffix.split(':')[1] ?? 1) - 1;
          if (round > 0)
            expect(data).toMatchObject({ usage: { input_tokens: round }, cost: { nano_usd: round * 1000 } });
          const found = await store.events.find(ORGANIZATION, `${call.requestId}:${suffix}`, 0);
          expect(JSON.parse(found?.envelope ?? '{}').data).toEqual(data);
        }
        for (const suffix of ['completed:11', 'completed:1', 'settled']) {
          expect(await store.events.find(ORGANIZATION, `${call.requestId}:${suffix}`, 0)).toBeNull();
        }
      }),
    );

    it.each<[change: string, sending: Sending, emitted: Data]>([
      ['usage', { span: { completionTokens: 77 } }, { usage: { output_tokens: 77 } }],
      ['cost', { span: { costNanoUsd: 77 } }, { cost: { nano_usd: 77 } }],
      ['status', { span: { errorJson: '{"has_error":true}' } }, { status: 'error' }],
      ['end user', { user: 'somebody' }, { end_user_id: 'somebody' }],
      ['model', { span: { model: 'other' } }, { model: 'other' }],
      ['duration', { span: { finishedAtMs: 1_700_000_077_000 } }, {}],
    ])('MUST correct another %s', (_change, sending, expected) =>
      withStore(open, async (store) => {
        const call = begin(store);
        await call.send({});
        await call.send(sending);
        await call.send(sending);
        const log = await call.read();
        expect([...log.keys()]).toEqual(['completed', 'completed:2']);
        expect(log.get('completed:2')).toMatchObject(expected);
      })(),
    );

    it(
      'MUST NOT correct anything when only the source of a price changed, or content that events omit',
      withStore(open, async (store) => {
        const call = begin(store);
        await call.send({ rateVersion: 'registry@2026-01-01' });
        await call.send({ rateVersion: 'registry@2026-02-02', span: { name: 'other', inputJson: null } });
        expect([...(await call.read()).keys()]).toEqual(['completed']);
      }),
    );

    it(
      'MUST correct in the order of what was sent when it comes at once',
      withStore(open, async (store) => {
        const call = begin(store);
        const counts = [1, 2, 2, 3, 3, 4];
        await Promise.all(counts.map((promptTokens) => call.send({ span: { promptTokens } })));
        await call.send({ span: { promptTokens: 5 } });
        const log = await call.read();
        expect([...log.keys()]).toEqual(['completed', 'completed:2', 'completed:3', 'completed:4', 'completed:5']);
        expect([...log.values()].map(({ usage }) => (usage as Data).input_tokens)).toEqual([1, 2, 3, 4, 5]);
        for (const suffix of log.keys()) {
          expect(await store.events.find(ORGANIZATION, `${call.requestId}:${suffix}`, 0)).not.toBeNull();
        }
      }),
    );

    it(
      'MUST leave what a gateway reported as it is',
      withStore(open, async (store) => {
        const call = begin(store);
        await store.requests.report(reportOf([recordOf('error', { gatewayRequestId: call.requestId })]));
        for (const promptTokens of [1, 2]) await call.send({ span: { promptTokens } });
        expect([...(await call.read()).keys()]).toEqual(['completed']);
      }),
    );

    it(
      'MUST take again from its admission what it leaves out',
      withStore(open, async (store) => {
        const call = begin(store);
        await store.requests.report(reportOf([recordOf('admitted', { gatewayRequestId: call.requestId })]));
        const span = { ...BARE, model: null };
        for (let round = 0; round < 2; round += 1) await call.send({ span });
        expect([...(await call.read()).keys()]).toEqual(['completed']);
        await call.send({ span: { ...span, promptTokens: 3 } });
        const log = await call.read();
        expect(log.get('completed:2')).toMatchObject({ virtual_key_id: log.get('completed')?.virtual_key_id });
      }),
    );
  });
}

/** One request, reported by one span; returns its events oldest first, by the suffix of their ids. */
function begin({ traces, events }: Store) {
  const traceId = randomHex(32);
  const spanId = randomHex(16);
  const requestId = requestIdOfStored(traceId, { ...sampleSpan({ spanId }), paramsJson: null }) ?? '';
  return {
    requestId,
    async send({ span: given = {}, user, rateVersion }: Sending): Promise<void> {
      const span = sampleSpan({ spanId, type: 'llm', paramsJson: null, ...given });
      const requests = [sampleRequest({ gatewayRequestId: requestId, ...(rateVersion ? { rateVersion } : {}) })];
      const metadataJson = user === undefined ? null : JSON.stringify({ user_id: user });
      await traces.append(sampleAppend({ traceId, spans: [span], requests, metadataJson }));
    },
    async read(): Promise<ReadonlyMap<string, Data>> {
      const range = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };
      const log = await events.list({ ...range, limit: 100 });
      const own = log.map(({ envelope }) => JSON.parse(envelope)).filter(({ id }) => id.startsWith(`${requestId}:`));
      const entries = own.map(({ id, data }): [string, Data] => [id.slice(requestId.length + 1), data]);
      return new Map(entries.sort(([a], [b]) => numberOf(a) - numberOf(b)));
    },
  };
}

function numberOf(suffix: string): number {
  return Number(suffix.split(':')[1] ?? 1);
}
