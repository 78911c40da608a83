import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextRequestState, type RequestSignal, type RequestState } from '../../../src/domain/events/request-state.ts';

const none: RequestState = { status: 'none' };
const admitted: RequestState = { status: 'admitted' };
const settled: RequestState = { status: 'settled' };
const overdue: RequestSignal = { status: 'overdue' };
const success = { status: 'success', source: 'report' } as const;
const error = { status: 'error', source: 'report' } as const;
const spanSuccess = { status: 'success', source: 'span' } as const;
const resentSuccess = { status: 'success', source: 'resent_span' } as const;
const resentError = { status: 'error', source: 'resent_span' } as const;
const spanError = { status: 'error', source: 'span' } as const;

describe('a request', () => {
  it.each<[string, RequestState, RequestSignal, RequestState, string | null, string]>([
    ['is stored quietly when admitted', none, { status: 'admitted' }, admitted, null, 'stored'],
    ['completes at its first outcome', none, success, success, 'completed', 'emitted'],
    ['completes at its first outcome', none, spanError, spanError, 'completed', 'emitted'],
    ['is admitted once', admitted, { status: 'admitted' }, admitted, null, 'duplicate'],
    ['completes after admission', admitted, error, error, 'completed', 'emitted'],
    ['settles when its outcome is overdue', admitted, overdue, settled, 'settled', 'emitted'],
    ['cannot be admitted once settled', settled, { status: 'admitted' }, settled, null, 'superseded'],
    ['completes after settlement', settled, spanSuccess, spanSuccess, 'completed', 'emitted'],
    ['settles once', settled, overdue, settled, null, 'superseded'],
    ['cannot be admitted after its outcome', error, { status: 'admitted' }, error, null, 'superseded'],
    ['never settles after its outcome', success, overdue, success, null, 'superseded'],
    ['fails once', error, error, error, null, 'duplicate'],
    ['succeeds once', success, spanSuccess, success, null, 'duplicate'],
    ['is corrected by report after report', error, success, success, 'correction', 'emitted'],
    ['is not corrected by a span', error, spanSuccess, error, null, 'superseded'],
    ['is not corrected when a span reported it', spanError, success, spanError, null, 'superseded'],
    ['cannot fail by report after a reported success', success, error, success, null, 'rejected'],
    ['keeps its success when a span fails later', success, spanError, success, null, 'superseded'],
    ['keeps the success of a span', spanSuccess, error, spanSuccess, null, 'superseded'],
    ['is corrected by the span that reported it', spanSuccess, resentSuccess, spanSuccess, 'correction', 'emitted'],
    ['is corrected by the span that reported it', spanSuccess, resentError, spanError, 'correction', 'emitted'],
    ['keeps the reported outcome when a span is sent again', success, resentSuccess, success, null, 'duplicate'],
    ['keeps the reported outcome when a span is sent again', error, resentSuccess, error, null, 'superseded'],
  ])('%s', (_title, current, signal, state, emits, result) => {
    expect(nextRequestState(current, signal)).toEqual({ state, emits, result });
  });

  it('emits each kind of event at most once, for any signals in any order', () => {
    const signals = fc.constantFrom<RequestSignal>(
      { status: 'admitted' },
      overdue,
      success,
      error,
      spanSuccess,
      spanError,
    );
    fc.assert(
      fc.property(fc.array(signals, { maxLength: 12 }), (sequence) => {
        let state: RequestState = none;
        const emitted: string[] = [];
        for (const item of sequence) {
          const next = nextRequestState(state, item);
          if (next.emits !== null) emitted.push(next.emits);
          else expect(next.state).toEqual(next.result === 'stored' ? admitted : state);
          state = next.state;
        }
        expect(new Set(emitted).size).toBe(emitted.length);
        expect(emitted).toEqual(['settled', 'completed', 'correction'].filter((kind) => emitted.includes(kind)));
      }),
    );
  });
});
