import { createCursorCodec } from '../../src/domain/cursor.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { createdAtMs, type FillPlan } from '../fill/plan.ts';
import type { Filled } from '../filled.ts';
import { bearer, getRequest } from './requests.ts';

/** One way of asking a filled log for a page. */
export type PageCase = {
  readonly name: 'first' | 'deep' | 'day';
  /** Requests for full pages, each of another place in the log. */
  readonly requests: readonly Buffer[];
  /** For the limit program: the newest event of each of those pages. */
  readonly bareRequests: readonly Buffer[];
};

export const pageEvents = 200;

const places = 2_000;
const dayMs = 86_400_000;
const everything = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const path = '/api/webhooks/v1/events';

type Range = { readonly fromMs: number; readonly toMs: number };

/** The newest page, pages in the older half of a walk, and the first pages of single days. */
export function createPageCases(filled: Filled): readonly PageCase[] {
  const { plan, keys } = filled;
  const deep = drawSeqs(2 * pageEvents, plan.events / 2);
  const perDay = (plan.events * dayMs) / (plan.toMs - plan.fromMs);
  const days = drawSeqs(perDay + 2 * pageEvents, plan.events);
  const seal = createSealer(filled);
  const ask = (range: Range, cursor: string): Buffer =>
    getRequest(
      `${path}?from=${range.fromMs}&to=${range.toMs}&limit=${pageEvents}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      bearer(keys.adminKey),
    );
  return [
    { name: 'first', requests: [ask(everything, '')], bareRequests: askBare(plan, [plan.events]) },
    {
      name: 'deep',
      requests: deep.map((seq) => ask(everything, seal(createdAtMs(plan, seq)))),
      bareRequests: askBare(
        plan,
        deep.map((seq) => seq - 1),
      ),
    },
    { name: 'day', requests: days.map((seq) => ask(dayUntil(plan, seq), '')), bareRequests: askBare(plan, days) },
  ];
}

/** Cursors as the server seals them: to be handed one of half-way down it would take a walk of minutes. */
function createSealer({ keys, organizationId }: Filled): (afterMs: number) => string {
  const cursors = createCursorCodec(deriveRootKeys(keys.secret).cursorKey);
  const binding = ['events', organizationId, String(everything.fromMs), String(everything.toMs), '*'];
  // No id comes before the empty one, so the page begins with the instant before.
  return (afterMs) => cursors.seal(binding, [afterMs, '']);
}

function dayUntil(plan: FillPlan, seq: number): Range {
  const toMs = createdAtMs(plan, seq);
  return { fromMs: toMs - dayMs, toMs };
}

function askBare(plan: FillPlan, seqs: readonly number[]): Buffer[] {
  return seqs.map((seq) => getRequest(`/page?seq=${seq}&to=${createdAtMs(plan, seq)}`, 'Accept: application/json'));
}

/** Numbers of events, the same in every run, spread over the range without an order. */
function drawSeqs(from: number, to: number): number[] {
  if (to <= from) throw new Error('There are too few events for full pages.');
  return Array.from({ length: places }, (_, index) =>
    Math.floor(from + ((index * 0.618_033_988_75) % 1) * (to - from)),
  );
}
