import { describe, expect, it } from 'vitest';
import type { ReportedRequest } from '../../../src/domain/events/request-report.ts';
import { comparePositions, positionOf } from '../../../src/domain/spend/group-order.ts';
import {
  SPEND_DIMENSIONS,
  SPEND_MEASURES,
  type SpendDimension,
  type SpendGroup,
  type SpendQuery,
  type SpendTotals,
} from '../../../src/domain/spend/spend-store.ts';
import type { Store } from '../../../src/domain/store.ts';
import { drawSeed, runsOf, seeded } from '../../support/scenario.ts';
import { LINKED, linkedBy, namesOf, PROMPT_NAMES, type SentNames } from './linked-prompts.ts';
import { governance, governanceOf, recordOf, reportOf } from './reports.ts';
import { finish, NO_LOG_CUTS } from './retention-walk.ts';
import { ORGANIZATION, RECEIVED_AT_MS, sampleAppend, sampleRequest, sampleSpan } from './samples.ts';
import { keepUp, type OpenSubject, withStore } from './subject.ts';

const BLOCK_EVENTS = 4096;
const REPORT = 500;
/** Enough events for exactly one block. */
const EVENTS = Math.ceil(BLOCK_EVENTS / REPORT) * REPORT;
const SPAN_MS = 3_600_000;
const FOR_EVER = 5_000;

export function spendConformance(open: OpenSubject): void {
  describe('what requests come to', () => {
    it(
      'MUST be what a look at every event tells, to the millisecond, with and without blocks, corrections and all',
      withStore(open, async (store) => {
        const seed = drawSeed();
        console.log(JSON.stringify({ test: 'what requests come to', seed }));
        const samples = createSamples(seed);
        for (let count = 0; count < EVENTS; count += REPORT) await store.requests.report(samples.report(REPORT));
        for (const append of samples.spans(1)) await store.traces.append(append);
        await keepUp(store);
        // Corrects events in the block and after it.
        await store.requests.report(samples.report(REPORT));
        await store.requests.report(samples.corrections(REPORT));
        const events = Array.from({ length: 40 }, (_, index) => governance(`governance-${index}`));
        await store.requests.reportGovernance(governanceOf(events));
        for (const round of [2, 3]) for (const append of samples.spans(round)) await store.traces.append(append);
        await expectPlainSums(store, samples, runsOf(24));
        for (let count = 0; count < REPORT * 6; count += REPORT) await store.requests.report(samples.report(REPORT));
        await store.requests.report(samples.corrections(REPORT));
        for (const append of samples.spans(4)) await store.traces.append(append);
        await keepUp(store);
        await expectPlainSums(store, samples, runsOf(24));
        await expectNothingBeforeTheCut(store);
      }),
    );

    it(
      'MUST be exact beyond what a double holds, in pages as in one',
      withStore(open, async (store) => {
        const nanoUsd = Number.MAX_SAFE_INTEGER;
        const records = Array.from({ length: 9 }, (_, index) =>
          recordOf('success', {
            gatewayRequestId: `large-${index}`,
            content: { model: `m${index % 5}`, usage: usageOf(nanoUsd) },
            cost: { nanoUsd, rateVersion: null },
          }),
        );
        await store.requests.report(reportOf(records));
        const { groups, total } = await sum(store, { groupBy: 'model' });
        expect(total.costNanoUsd).toBe(9n * BigInt(nanoUsd));
        expect(total.inputTokens).toBe(9n * BigInt(nanoUsd));
        expect(groups.map(({ group, spent }) => [group, spent.requests])).toEqual([
          ['m0', 2n],
          ['m1', 2n],
          ['m2', 2n],
          ['m3', 2n],
          ['m4', 1n],
        ]);
        const paged: SpendGroup[] = [];
        for (let after: SpendQuery['after'] = null; ; ) {
          const page = await sum(store, { groupBy: 'model', after, limit: 2 });
          paged.push(...page.groups);
          const last = page.groups.at(-1);
          if (last === undefined) break;
          after = positionOf(last.group, last.spent, 'cost');
        }
        expect(paged).toEqual(groups);
      }),
    );

    it(
      'MUST be the same while another process is at a block, and after it was killed there',
      withStore(open, async (store, subject) => {
        const samples = createSamples(1);
        for (let count = 0; count < BLOCK_EVENTS; count += REPORT) await store.requests.report(samples.report(REPORT));
        const leased = (untilMs: number) => `VALUES (${ORGANIZATION.number}, 0, ${untilMs})`;
        const before = await sum(store, {});
        await subject.execute(
          `INSERT INTO spend_heads (organization_number, seq, leased_until) ${leased(Date.now() + 60_000)}`,
        );
        await keepUp(store);
        // Without a block, removing all parts must not change the sum.
        await subject.execute('DELETE FROM spend_parts');
        expect((await sum(store, {})).total).toEqual(before.total);
        await subject.execute('UPDATE spend_heads SET leased_until = 1');
        await keepUp(store);
        expect((await sum(store, {})).total).toEqual(before.total);
        await subject.execute('DELETE FROM spend_parts');
        expect((await sum(store, {})).total.requests).toBe(BigInt(EVENTS - BLOCK_EVENTS));
      }),
    );

    it(
      'MUST go on being put into blocks behind events that are past their term and in none',
      withStore(open, async (store, subject) => {
        const samples = createSamples(2);
        const head = `VALUES (${ORGANIZATION.number}, ${BLOCK_EVENTS}, 1, 0)`;
        await subject.execute(`INSERT INTO log_heads (organization_number, seq, created_at, last_key_index) ${head}`);
        await keepUp(store);
        for (let count = 0; count < EVENTS; count += REPORT) await store.requests.report(samples.report(REPORT));
        await keepUp(store);
        expect((await sum(store, {})).total.requests).toBe(BigInt(EVENTS));
        // The requests of the block are missing now.
        await subject.execute('DELETE FROM spend_parts');
        expect((await sum(store, {})).total.requests).toBe(BigInt(EVENTS - BLOCK_EVENTS));
      }),
    );

    it(
      'MUST be the same for requests with so many different values that a block holds few of them',
      withStore(open, async (store) => {
        const labelled = (request: number) =>
          recordOf('success', {
            gatewayRequestId: `labelled-${request}`,
            content: {
              labelsJson: JSON.stringify(
                Array.from({ length: 64 }, (_, label) => `${request} ${label} `.padEnd(256, '\u{20ac}')),
              ),
            },
          });
        for (let start = 0; start < 150; start += 50) {
          await store.requests.report(reportOf(Array.from({ length: 50 }, (_, index) => labelled(start + index))));
        }
        const { groups, total } = await sum(store, { groupBy: 'label', order: 'requests', limit: 20_000 });
        expect(total.requests).toBe(150n);
        expect(new Set(groups.map(({ group }) => group)).size).toBe(150 * 64);
        const label = '149 63 '.padEnd(256, '\u{20ac}');
        expect((await sum(store, { filters: { label } })).total.requests).toBe(1n);
      }),
    );
  });
}

const EVERYTHING: SpendQuery = {
  organizationNumber: ORGANIZATION.number,
  expiredBeforeMs: 0,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  groupBy: null,
  filters: {},
  order: 'cost',
  after: null,
  limit: FOR_EVER,
};

async function sum({ spend }: Store, params: Partial<SpendQuery>) {
  const answer = await spend.sum({ ...EVERYTHING, ...params });
  if (answer.kind === 'too_long') throw new Error('there was no time to sum them up');
  return answer;
}

async function expectPlainSums(store: Store, samples: Samples, count: number): Promise<void> {
  const events = await readOutcomes(store);
  for (let index = 0; index < count; index += 1) {
    const params = samples.query();
    const { groups, total } = await sum(store, params);
    const expected = plainSums(events, { ...EVERYTHING, ...params });
    expect(total, JSON.stringify(params)).toEqual(expected.total);
    expect(groups, JSON.stringify(params)).toEqual(expected.groups);
  }
}

/** Expired events do not count, before and after their removal. */
async function expectNothingBeforeTheCut(store: Store): Promise<void> {
  const outcomes = await readOutcomes(store);
  const instants = [...new Set(outcomes.map(({ created }) => Date.parse(created)))].sort((one, other) => one - other);
  const expiredBeforeMs = instants[Math.floor(instants.length / 2)] ?? 0;
  const left = outcomes.filter(({ created }) => Date.parse(created) >= expiredBeforeMs);
  const expected = plainSums(left, { ...EVERYTHING, groupBy: 'model' });
  expect(expected.total.requests).toBeGreaterThan(0n);
  expect((await sum(store, { expiredBeforeMs, groupBy: 'model' })).total).toEqual(expected.total);
  await finish(store.logRetention.begin({ ...NO_LOG_CUTS, eventsBeforeMs: Date.now() + 1 }), 500);
  expect((await sum(store, { expiredBeforeMs: Date.now() + 1 })).total.requests).toBe(0n);
}

type Outcome = {
  readonly id: string;
  readonly created: string;
  readonly data: Readonly<Record<string, unknown>> & {
    readonly occurred_at: string;
    readonly usage: Readonly<Record<string, number>> | null;
    readonly cost: { readonly nano_usd: number } | null;
    readonly labels: readonly string[];
    readonly metadata: { readonly prompt_ids?: SentNames };
  };
};

/** The newest outcome of each request in the log. */
async function readOutcomes({ events }: Store): Promise<readonly Outcome[]> {
  const range = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, limit: 200 };
  const newest = new Map<string, Outcome>();
  const correctionOf = ({ id }: Outcome) => Number(/:completed:(\d+)$/.exec(id)?.[1] ?? 1);
  for (let after: { createdAtMs: number; id: string } | null = null; ; ) {
    const page = await events.list({ ...range, after });
    for (const { envelope } of page) {
      const event: Outcome = JSON.parse(envelope);
      if (!/:completed(:\d+)?$/.test(event.id)) continue;
      const request = event.id.replace(/:completed(:\d+)?$/, '');
      const known = newest.get(request);
      if (known === undefined || correctionOf(event) > correctionOf(known)) newest.set(request, event);
    }
    const last = page.at(-1);
    if (last === undefined) return [...newest.values()];
    after = last;
  }
}

const MEMBERS: Readonly<Record<Exclude<SpendDimension, 'prompt_id' | 'prompt_version'>, string>> = {
  project: 'project_id',
  model: 'model',
  virtual_key: 'virtual_key_id',
  principal: 'principal_user_id',
  end_user: 'end_user_id',
  label: 'labels',
};

/** `isFilter`: by which names the request is found. */
function valuesOf({ data }: Outcome, dimension: SpendDimension, isFilter: boolean): readonly string[] {
  if (dimension === 'prompt_id' || dimension === 'prompt_version') {
    const linked = linkedBy(data.metadata.prompt_ids);
    if (isFilter) return namesOf(linked);
    return dimension === 'prompt_id' ? linked.prompts : linked.versions;
  }
  const value = data[MEMBERS[dimension]];
  if (Array.isArray(value)) return [...new Set(value)];
  return value === null || value === '' ? [] : [String(value)];
}

function plainSums(outcomes: readonly Outcome[], { fromMs, toMs, groupBy, filters, order, limit }: SpendQuery) {
  const counted = outcomes.filter((outcome) => {
    const atMs = Date.parse(outcome.data.occurred_at);
    if (atMs < fromMs || atMs > toMs) return false;
    return Object.entries(filters).every(([dimension, value]) => {
      const values = valuesOf(outcome, dimension as SpendDimension, true);
      return value === '' ? values.length === 0 : values.includes(value);
    });
  });
  const groups = new Map<string | null, SpendTotals>();
  for (const outcome of counted) {
    const values = groupBy === null ? [] : valuesOf(outcome, groupBy, false);
    for (const group of values.length === 0 ? [null] : values)
      groups.set(group, plus(groups.get(group) ?? NOTHING, outcome));
  }
  const sorted = [...groups].sort(([one, spent], [other, otherSpent]) =>
    comparePositions(positionOf(one, spent, order), positionOf(other, otherSpent, order)),
  );
  return {
    groups: sorted.slice(0, limit).map(([group, spent]) => ({ group, spent })),
    total: counted.reduce(plus, NOTHING),
  };
}

const NOTHING = Object.fromEntries(SPEND_MEASURES.map((name) => [name, 0n])) as unknown as SpendTotals;

function plus(spent: SpendTotals, { data: { status, usage, cost } }: Outcome): SpendTotals {
  const tokens = (name: string) => BigInt(usage?.[name] ?? 0);
  return {
    requests: spent.requests + 1n,
    errors: spent.errors + (status === 'error' ? 1n : 0n),
    unpriced: spent.unpriced + (cost === null ? 1n : 0n),
    costNanoUsd: spent.costNanoUsd + BigInt(cost?.nano_usd ?? 0),
    inputTokens: spent.inputTokens + tokens('input_tokens'),
    outputTokens: spent.outputTokens + tokens('output_tokens'),
    cacheReadInputTokens: spent.cacheReadInputTokens + tokens('cache_read_input_tokens'),
    cacheCreationInputTokens: spent.cacheCreationInputTokens + tokens('cache_creation_input_tokens'),
    reasoningTokens: spent.reasoningTokens + tokens('reasoning_tokens'),
  };
}

const usageOf = (inputTokens: number) => ({
  inputTokens,
  outputTokens: 7,
  cacheReadInputTokens: 1,
  cacheCreationInputTokens: 2,
  reasoningTokens: 3,
});

type Samples = ReturnType<typeof createSamples>;

/** Gateway requests, some of which fail first, and spans resent with other token counts. */
function createSamples(seed: number) {
  const random = seeded(seed);
  const below = (end: number) => Math.floor(random() * end);
  let count = 0;
  const failed: string[] = [];
  const spans = Array.from({ length: 20 }, () => ({
    append: sampleAppend(),
    span: sampleSpan(),
    request: sampleRequest(),
  }));
  const labels = ['a', 'b', "it's", '😀', '"q"', ''];
  const oneOf = <T>(...values: readonly T[]): T => values[below(values.length)] as T;

  function record(status: 'success' | 'error', gatewayRequestId: string): ReportedRequest {
    const nanoUsd = below(1_000_000_000);
    return recordOf(status, {
      gatewayRequestId,
      content: {
        occurredAtMs: RECEIVED_AT_MS - below(SPAN_MS),
        model: oneOf('gpt-5', 'o3', 'größer', null),
        virtualKeyId: oneOf('', 'vk_1', 'vk_2'),
        principalUserId: oneOf(null, 'user_1', 'user_2'),
        endUserId: oneOf(null, `end-${below(300)}`, '__proto__', 'x'.repeat(256)),
        labelsJson: JSON.stringify(labels.filter(() => below(3) === 0)),
        metadataJson: below(3) === 0 ? JSON.stringify({ prompt_ids: oneOf(...LINKED).sent }) : '{}',
        usage: below(5) === 0 ? null : usageOf(below(10_000)),
      },
      cost: below(5) === 0 ? null : { nanoUsd, rateVersion: null },
    });
  }

  return {
    report: (size: number) =>
      reportOf(
        Array.from({ length: size }, () => {
          count += 1;
          if (below(4) > 0) return record('success', `gw-${count}`);
          failed.push(`gw-${count}`);
          return record('error', `gw-${count}`);
        }),
      ),
    /** Corrections of random failed requests. */
    corrections: (size: number) =>
      reportOf(
        Array.from({ length: Math.min(size, failed.length) }, () => {
          const [gatewayRequestId = ''] = failed.splice(below(failed.length), 1);
          return record('success', gatewayRequestId);
        }),
      ),
    spans: (round: number) =>
      spans.map(({ append, span, request }) => ({
        ...append,
        spans: [{ ...span, promptTokens: round, costNanoUsd: round * 1000 }],
        requests: [request],
      })),
    query(): Partial<SpendQuery> {
      const [one, other] = [below(SPAN_MS), below(SPAN_MS)];
      const filter = oneOf<SpendQuery['filters']>(
        {},
        {},
        { model: oneOf('gpt-5', '') },
        { label: oneOf('a', ''), virtual_key: oneOf('vk_1', '') },
        { prompt_id: oneOf(...PROMPT_NAMES, '') },
        { prompt_version: oneOf('help/greeting:3', 'version_3', 'nothing') },
        { end_user: oneOf('end-7', '__proto__', 'nobody'), principal: 'user_1' },
      );
      return {
        ...(below(4) === 0
          ? {}
          : { fromMs: RECEIVED_AT_MS - Math.max(one, other), toMs: RECEIVED_AT_MS - Math.min(one, other) }),
        groupBy: oneOf<SpendDimension | null>(null, ...SPEND_DIMENSIONS),
        filters: filter,
        order: oneOf('cost', 'requests'),
        limit: oneOf(3, FOR_EVER),
      };
    },
  };
}
