import { describe, expect, it } from 'vitest';
import {
  LAG_MS,
  nextEvaluationMs,
  type Observation,
  stepMetric,
  windowAt,
} from '../../../src/domain/triggers/metric-state.ts';
import { beginningState, type MetricRule, type TriggerState } from '../../../src/domain/triggers/trigger.ts';

const MINUTE_MS = 60_000;
const RULE: MetricRule = {
  series: { metric: 'errors', aggregation: 'share', groupBy: 'none' },
  operator: 'GT',
  warning: null,
  alert: 5,
  windowMinutes: 5,
  recoveryWindows: 1,
  noData: 'KEEP',
  renotifyMinutes: null,
};
const START_MS = Date.UTC(2026, 10, 28);
const value = (number: number): Observation => ({ kind: 'value', value: number, group: null });
const NO_DATA: Observation = { kind: 'no_data' };
const REFUSED: Observation = { kind: 'refused', reason: 'too much' };

/** Runs one evaluation a minute, and tells each as "<status>" with "!" where it was announced. */
function play(rule: Partial<MetricRule>, observations: readonly Observation[]) {
  let state = beginningState({ active: true, kind: 'METRIC' }, START_MS);
  const told = observations.map((observation, index) => {
    const { next, notice } = stepMetric({ ...RULE, ...rule }, state, {
      observation,
      nowMs: START_MS + (index + 1) * MINUTE_MS,
    });
    state = next;
    const mark = notice?.kind === 'fired' ? '!' : notice?.kind === 'resolved' ? ' resolved' : '';
    return `${next.status}${mark}`;
  });
  return { told, state };
}

describe('the state of a trigger on a metric', () => {
  it('announces an alert once and its end once', () => {
    const { told } = play({}, [value(1), value(7), value(9), value(2), value(1)]);
    expect(told).toEqual(['OK', 'ALERT!', 'ALERT', 'OK resolved', 'OK']);
  });

  it.each([
    ['GT', 5, false],
    ['GTE', 5, true],
    ['LT', 5, false],
    ['LTE', 5, true],
    ['GT', 6, true],
    ['LT', 4, true],
  ] as const)('compares by %s: %s is bad: %s', (operator, number, isBad) => {
    expect(play({ operator }, [value(number)]).told).toEqual([isBad ? 'ALERT!' : 'OK']);
  });

  it('ends an alert only after enough good windows in a row', () => {
    const { told } = play({ recoveryWindows: 3 }, [8, 1, 1, 8, 1, 1, 1].map(value));
    expect(told).toEqual(['ALERT!', 'ALERT', 'ALERT', 'ALERT', 'ALERT', 'ALERT', 'OK resolved']);
  });

  it('announces a warning and then an alert, and not what falls back between the two', () => {
    const { told } = play({ warning: 3 }, [4, 6, 4, 6, 4, 1].map(value));
    expect(told).toEqual(['WARNING!', 'ALERT!', 'WARNING', 'ALERT', 'WARNING', 'OK resolved']);
  });

  it('announces an alert that goes on again after the given time only', () => {
    const { told } = play(
      { renotifyMinutes: 5 },
      Array.from({ length: 12 }, () => value(9)),
    );
    expect(told.flatMap((each, index) => (each.endsWith('!') ? [index] : []))).toEqual([0, 5, 10]);
  });

  it('ends an alert after enough good windows, however often it is announced again meanwhile', () => {
    const seen = [9, ...Array.from({ length: 7 }, () => 1)].map(value);
    const { told } = play({ recoveryWindows: 7, renotifyMinutes: 2 }, seen);
    expect(told).toEqual(['ALERT!', 'ALERT', 'ALERT!', 'ALERT', 'ALERT!', 'ALERT', 'ALERT!', 'OK resolved']);
  });

  it('keeps its state without data, alerts, or counts the window as good, as the rule says', () => {
    const seen = [value(9), NO_DATA, NO_DATA, value(1)];
    expect(play({ noData: 'KEEP' }, seen).told).toEqual(['ALERT!', 'ALERT', 'ALERT', 'OK resolved']);
    expect(play({ noData: 'ALERT' }, seen).told).toEqual(['ALERT!', 'NO_DATA!', 'NO_DATA', 'OK resolved']);
    expect(play({ noData: 'OK' }, seen).told).toEqual(['ALERT!', 'OK resolved', 'OK', 'OK']);
    expect(play({ noData: 'KEEP' }, [NO_DATA, NO_DATA, value(1)]).told).toEqual(['NO_DATA', 'NO_DATA', 'OK']);
  });

  it('shows that the metric could not be computed, and neither ends nor repeats an alert by that', () => {
    const { told, state } = play({}, [value(9), REFUSED, value(9), REFUSED, value(1)]);
    expect(told).toEqual(['ALERT!', 'ERROR', 'ALERT', 'ERROR', 'OK resolved']);
    expect(state.reason).toBeNull();
    expect(play({}, [REFUSED]).state.reason).toBe('too much');
  });

  it('looks at whole minutes that have passed, a day only every quarter of an hour', () => {
    const nowMs = START_MS + 7 * MINUTE_MS + LAG_MS;
    expect(windowAt(RULE, nowMs)).toEqual({
      fromMs: START_MS + 2 * MINUTE_MS,
      toMs: START_MS + 7 * MINUTE_MS - 1,
    });
    expect(nextEvaluationMs(RULE, nowMs)).toBe(nowMs + MINUTE_MS);
    expect(nextEvaluationMs({ windowMinutes: 1_440 }, nowMs)).toBe(START_MS + 15 * MINUTE_MS + LAG_MS);
    expect(nextEvaluationMs(RULE, nowMs - 1)).toBe(nowMs);
  });
});

/** A generator of numbers from 0 to 1 that a seed determines. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);

describe.each(SEEDS)('any course of a metric, seed %i', (seed) => {
  const random = createRandom(seed);
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const rule: MetricRule = {
    ...RULE,
    warning: pick([null, 3]),
    recoveryWindows: pick([1, 2, 5, 10]),
    noData: pick(['KEEP', 'ALERT', 'OK'] as const),
    renotifyMinutes: pick([null, 5, 17]),
  };
  const steps = () => {
    let state = beginningState({ active: true, kind: 'METRIC' }, START_MS);
    return Array.from({ length: 120 }, (_, index) => {
      const kind = random();
      const observation = kind < 0.1 ? NO_DATA : kind < 0.15 ? REFUSED : value(Math.floor(random() * 8));
      const before: TriggerState = state;
      const nowMs = START_MS + (index + 1) * MINUTE_MS;
      const { next, notice } = stepMetric(rule, before, { observation, nowMs });
      state = next;
      return { before, next, notice, nowMs, observation };
    });
  };

  it('ends nothing that was not announced, repeats nothing too early, and is never silent about the first alert', () => {
    let announced = false;
    let notifiedAtMs = 0;
    let worst: string | null = null;
    let good = 0;
    for (const { before, next, notice, nowMs, observation } of steps()) {
      expect(next.evaluatedAtMs).toBe(nowMs);
      const isGood = observation.kind === 'value' && observation.value <= (rule.warning ?? rule.alert);
      good = isGood ? good + 1 : 0;
      if (good >= rule.recoveryWindows) expect(next.announced).toBeNull();
      if (notice?.kind === 'resolved') {
        expect(announced).toBe(true);
        expect(next.status).toBe('OK');
        announced = false;
        worst = null;
      }
      if (notice?.kind === 'fired') {
        const isRepeated = announced && next.announced === worst;
        if (isRepeated)
          expect(nowMs - notifiedAtMs).toBeGreaterThanOrEqual((rule.renotifyMinutes ?? Infinity) * MINUTE_MS);
        announced = true;
        notifiedAtMs = nowMs;
        worst = next.announced;
      }
      if (observation.kind === 'value' && observation.value > rule.alert) expect(announced).toBe(true);
      expect(next.announced !== null).toBe(announced);
      if (notice === null) expect(next.status).toBe(before.status);
    }
  });
});
