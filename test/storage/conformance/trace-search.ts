import { describe, expect, it } from 'vitest';
import type { SearchFilter } from '../../../src/domain/traces/search/trace-filter.ts';
import {
  type FoundTraces,
  type SearchPosition,
  type SearchQuery,
  TOTAL_MAX,
} from '../../../src/domain/traces/search/trace-search-store.ts';
import { SPANS_READ_THROUGH_MAX } from '../../../src/domain/traces/trace-aggregates.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const EVER = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
const ALL: SearchFilter = { conditions: [], isNegated: false, text: '' };
const QUESTION: SearchQuery = {
  projectNumber: PROJECT.number,
  expiredBeforeMs: null,
  started: EVER,
  updated: EVER,
  sort: 'started_at',
  isAscending: true,
  traceIds: null,
  filter: ALL,
  after: null,
  limit: 100,
  countMax: TOTAL_MAX,
};
const OF_USER: SearchFilter = { ...ALL, conditions: [{ name: 'metadata.user_id', of: '', values: ['u'] }] };

const ERROR = '{"has_error":true,"message":"failed","stacktrace":[]}';

export function traceSearchConformance(open: OpenSubject): void {
  describe('the search for traces', () => {
    it(
      'MUST see every append acknowledged before, MUST leave out none that fits and return none that does not',
      withStore(open, async (store) => {
        const traceIds: string[] = [];
        for (let round = 0; round < 20; round += 1) {
          const traceId = round % 2 === 0 ? randomHex(32) : `trace ${round}`;
          const isOfUser = round % 3 === 0;
          const metadataJson = isOfUser ? '{"user_id":"u"}' : '{"other":{"user_id":"u"}}';
          await store.traces.append(sampleAppend({ traceId, metadataJson, spans: [bareSpan()] }));
          if (isOfUser) traceIds.push(traceId);
          const { traces, next, total } = await store.search.find({ ...QUESTION, filter: OF_USER });
          expect(traces.map((position) => position.traceId)).toEqual(inByteOrder(traceIds));
          expect(next).toBeNull();
          expect(total).toEqual({ count: traceIds.length, isExact: true });
        }
        const foreign = { ...QUESTION, projectNumber: PROJECT.number + 1 };
        expect((await store.search.find(foreign)).traces).toEqual([]);
        const afterRetention = { ...QUESTION, expiredBeforeMs: RECEIVED_AT_MS + 1 };
        expect((await store.search.find(afterRetention)).traces).toEqual([]);
      }),
    );

    it(
      'MUST go by the totals of a large trace, also right after the span that they depend on was sent again',
      withStore(open, async (store) => {
        const root = bareSpan({ spanId: 'root', startedAtMs: RECEIVED_AT_MS, finishedAtMs: RECEIVED_AT_MS + 10 });
        const others = Array.from({ length: SPANS_READ_THROUGH_MAX }, (_, index) =>
          bareSpan({ ...root, spanId: `span ${index}`, parentId: 'root', startedAtMs: RECEIVED_AT_MS + 1 }),
        );
        const large = sampleAppend({ traceId: 'large', spans: [root, ...others] });
        const longer = bareSpan({ ...root, finishedAtMs: RECEIVED_AT_MS + 500 });
        await store.traces.append(large);
        await store.traces.append(sampleAppend({ traceId: 'longer', spans: [longer] }));
        const failed: SearchFilter = { ...ALL, conditions: [{ name: 'traces.error', of: '', values: ['true'] }] };
        const longest = { ...QUESTION, sort: 'total_time_ms', isAscending: false } as const;
        const idsOf = ({ traces }: FoundTraces) => traces.map(({ traceId }) => traceId);
        expect(idsOf(await store.search.find({ ...QUESTION, filter: failed }))).toEqual([]);
        expect(idsOf(await store.search.find(longest))).toEqual(['longer', 'large']);
        const again = { ...root, finishedAtMs: RECEIVED_AT_MS + 1_000, errorJson: ERROR };
        await store.traces.append({ ...large, spans: [again] });
        const questions = { ...QUESTION, traceIds: ['large', 'longer'], filters: [failed] };
        expect((await store.search.match(questions)).traces).toMatchObject([{ traceId: 'large', fits: [0] }]);
        await store.traces.append({ ...large, spans: [{ ...again, errorJson: null }] });
        expect(idsOf(await store.search.find({ ...QUESTION, filter: failed }))).toEqual([]);
        await store.traces.append({ ...large, spans: [again] });
        expect(idsOf(await store.search.find({ ...QUESTION, filter: failed }))).toEqual(['large']);
        expect(idsOf(await store.search.find(longest))).toEqual(['large', 'longer']);
      }),
    );

    it(
      'finds a text in any of the many errors, and a model in any of the many spans of a trace',
      withStore(open, async (store) => {
        const many = Array.from({ length: 2_100 }, (_, index) =>
          bareSpan({
            ...(index % 2 === 0 ? {} : { spanId: `span ${index}` }),
            model: `model ${index}`,
            errorJson: index % 100 < 10 ? ERROR.replace('failed', `failed in ${index}.`) : null,
          }),
        );
        const { traceId, ...append } = sampleAppend({ spans: many, requests: [] });
        await store.traces.append({ ...append, traceId });
        await store.traces.append(sampleAppend({ spans: [bareSpan({ errorJson: ERROR })] }));
        const find = async (filter: SearchFilter) => (await store.search.find({ ...QUESTION, filter })).traces;
        for (const index of [0, 9, 2009]) {
          const found = await find({ ...ALL, text: `failed in ${index}.` });
          expect(found.map((position) => position.traceId)).toEqual([traceId]);
        }
        for (const index of [0, 2099]) {
          const isModel = { name: 'spans.model' as const, of: '', values: [`model ${index}`] };
          const found = await find({ ...ALL, conditions: [isModel] });
          expect(found.map((position) => position.traceId)).toEqual([traceId]);
        }
        expect(await find({ ...ALL, text: 'failed in 2010.' })).toEqual([]);
      }),
    );

    it(
      'finds a text in the long texts of any span up to their limit, wherever the store keeps them',
      withStore(open, async (store) => {
        const typed = (value: string) => JSON.stringify({ type: 'text', value });
        const long = (word: string) => `${'日本 "x" '.repeat(3_000)}${word}`;
        const spans = [
          bareSpan({ inputJson: typed(long('first')), outputJson: typed(`${'o'.repeat(3_000)} second`) }),
          bareSpan({ errorJson: JSON.stringify({ has_error: true, message: long('third'), stacktrace: ['no'] }) }),
          bareSpan({ inputJson: typed('😀\n'.repeat(20_000)), outputJson: typed('never') }),
          bareSpan({
            inputJson: JSON.stringify({ type: 'json', value: [{ type: 'blob', content: 'y'.repeat(500_000) }, 'zz'] }),
          }),
        ];
        const { traceId, ...append } = sampleAppend({ spans, requests: [] });
        await store.traces.append({ ...append, traceId });
        const find = async (text: string) => {
          const found = await store.search.find({ ...QUESTION, filter: { ...ALL, text } });
          const filters = [{ ...ALL, text }];
          const { traces } = await store.search.match({ ...QUESTION, traceIds: [traceId], filters });
          expect(traces.map((each) => each.traceId)).toEqual(found.traces.map((each) => each.traceId));
          return found.traces.length;
        };
        for (const text of ['"x" first', 'o second', '日本 "x" third', '😀\n😀', 'zz'])
          expect(await find(text), text).toBe(1);
        for (const text of ['never', 'no']) expect(await find(text), text).toBe(0);
      }),
    );

    it(
      'continues behind the position where it ended, and ends with its last trace',
      withStore(open, async (store) => {
        const traceIds = Array.from({ length: 10 }, () => randomHex(32));
        const spans = [bareSpan()];
        await Promise.all(traceIds.map((traceId) => store.traces.append(sampleAppend({ traceId, spans }))));
        for (const filter of [ALL, { ...ALL, text: 'span' }]) {
          for (const isAscending of [true, false]) {
            const positions: SearchPosition[] = [];
            let page: FoundTraces;
            do {
              const after = positions.at(-1) ?? null;
              page = await store.search.find({ ...QUESTION, filter, isAscending, after, limit: 5, countMax: null });
              expect(page.total).toBeNull();
              positions.push(...page.traces);
            } while (page.next !== null);
            const expected = inByteOrder(traceIds);
            expect(positions.map((position) => position.traceId)).toEqual(
              isAscending ? expected : expected.toReversed(),
            );
          }
        }
      }),
    );

    it(
      'distinguishes traces with and without an error, alone, negated, and with other conditions',
      withStore(open, async (store) => {
        const append = async (metadataJson: string, errorJson: string | null) => {
          const appended = sampleAppend({ metadataJson, spans: [bareSpan({ errorJson })] });
          await store.traces.append(appended);
          return appended.traceId;
        };
        const [ofUser, failedOfUser] = [await append('{"user_id":"u"}', null), await append('{"user_id":"u"}', ERROR)];
        const [other, failed] = [await append('{}', null), await append('{}', ERROR)];
        const filterOf = (values: string[], isNegated: boolean, more: SearchFilter['conditions'] = []) => ({
          conditions: [{ name: 'traces.error' as const, of: '', values }, ...more],
          isNegated,
          text: '',
        });
        const cases = [
          { filter: filterOf(['true'], false), found: [failedOfUser, failed] },
          { filter: filterOf(['false'], false), found: [ofUser, other] },
          { filter: filterOf(['false', 'true'], false), found: [ofUser, failedOfUser, other, failed] },
          { filter: filterOf(['true'], true), found: [ofUser, other] },
          { filter: filterOf(['false', 'true'], true), found: [] },
          { filter: filterOf(['true'], false, OF_USER.conditions), found: [failedOfUser] },
          { filter: filterOf(['true'], true, OF_USER.conditions), found: [ofUser, other, failed] },
          { filter: { ...filterOf(['true'], true), text: 'nowhere' }, found: [] },
        ];
        const everyId = [ofUser, failedOfUser, other, failed].sort();
        for (const { filter, found } of cases) {
          for (const traceIds of [null, everyId]) {
            const { traces, total } = await store.search.find({ ...QUESTION, filter, traceIds });
            expect(traces.map(({ traceId }) => traceId)).toEqual(inByteOrder(found));
            expect(total).toEqual({ count: found.length, isExact: true });
          }
        }
      }),
    );

    it(
      'T11: counts up to 10,000 exactly, and beyond only says that there are more',
      withStore(open, async (store) => {
        const appendSome = async (count: number) => {
          const append = () =>
            store.traces.append(sampleAppend({ metadataJson: '{"user_id":"u"}', spans: [], evaluations: [] }));
          await Promise.all(Array.from({ length: count }, append));
        };
        for (let round = 0; round < 10; round += 1) await appendSome(1000);
        for (const filter of [ALL, OF_USER]) {
          const { total } = await store.search.find({ ...QUESTION, filter, limit: 1 });
          expect(total).toEqual({ count: 10_000, isExact: true });
        }
        await appendSome(1);
        for (const filter of [ALL, OF_USER]) {
          const { total } = await store.search.find({ ...QUESTION, filter, limit: 1 });
          expect(total).toEqual({ count: 10_000, isExact: false });
        }
      }),
    );
  });
}

function inByteOrder(ids: readonly string[]): readonly string[] {
  return ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}
