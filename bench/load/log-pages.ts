import { createCursorCodec } from '../../src/domain/cursor.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { createdAtMs, type FillPlan } from '../fill/plan.ts';
import type { Filled } from '../filled.ts';
import { bearer, getRequest } from './requests.ts';

/** One kind of page request to a filled log. */
export type PageCase = {
  readonly name: 'first' | 'deep' | 'day';
  /** Requests for full pages at different positions in the log. */
  readonly requests: readonly Buffer[];
  /** Requests to the limit program for the same pages. */
  readonly bareRequests: readonly Buffer[];
};

export const pageEvents = 200;

const starts = 2_000;
const dayMs = 86_400_000;
const everything = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const path = '/api/webhooks/v1/events';

type Range = { readonly fromMs: number; readonly toMs: number };

/** Requests for the newest page, for pages in the older half, and for single days. */
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

/** Seals cursors like the server: a walk to the middle of the log would take minutes. */
function createSealer({ keys, organizationId }: Filled): (afterMs: number) => string {
  const cursors = createCursorCodec(deriveRootKeys(keys.secret).cursorKey);
  const binding = ['events', organizationId, String(everything.fromMs), String(everything.toMs), '*'];
  // No id sorts before the empty one, so the page begins at the instant before.
  return (afterMs) => cursors.seal(binding, [afterMs, '']);
}

function dayUntil(plan: FillPlan, seq: number): Range {
  const toMs = createdAtMs(plan, seq);
  return { fromMs: toMs - dayMs, toMs };
}

function askBare(plan: FillPlan, seqs: readonly number[]): Buffer[] {
  return seqs.map((seq) => getRequest(`/page?seq=${seq}&to=${createdAtMs(plan, seq)}`, 'Accept: application/json'));
}

/** Sequence numbers, spread over the range in no order, the same in every run. */
function drawSeqs(from: number, to: number): number[] {
  if (to <= from) throw new Error('There are too few events for full pages.');
  return Array.from({ length: starts }, (_, index) =>
    Math.floor(from + ((index * 0.618_033_988_75) % 1) * (to - from)),
  );
}
