import { describe, expect, it } from 'vitest';
import type { DeliveryState, Verdict } from '../../../src/domain/delivery/delivery.ts';
import {
  type DeliveryEvent,
  disableFailing,
  type EndpointLifecycle,
  isDue,
  RETRY_WINDOW_MS,
  type Stepped,
  stepDelivery,
} from '../../../src/domain/delivery/delivery-step.ts';
import {
  disabledByHand,
  enabledAgain,
  LEASE_MS,
  moved,
  newDelivery,
  newEndpoint,
  verdict,
} from '../../support/deliveries.ts';

const T0 = Date.UTC(2026, 6, 27);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STEPS_MS = [1, 5, 30, 120, 360, 720, 720, 720, 720, 720].map((minutes) => minutes * MINUTE_MS);
const ALMOST_ONE = 1 - Number.EPSILON;

type State = { readonly delivery: DeliveryState; readonly endpoint: EndpointLifecycle };

function step(state: State, event: DeliveryEvent, nowMs: number, random = 0.5): Stepped {
  return stepDelivery(state.delivery, state.endpoint, event, { nowMs, random: () => random });
}

function claim(state: State, nowMs: number): Stepped {
  return step(state, { kind: 'claim', leaseMs: LEASE_MS }, nowMs);
}

function finish(state: State, of: Verdict, nowMs: number, random = 0.5): Stepped {
  const { destinationVersion } = state.endpoint;
  return step(state, { kind: 'finish', verdict: of, destinationVersion }, nowMs, random);
}

function sendingAt(nowMs: number, parts: Partial<DeliveryState> = {}, endpoint = newEndpoint()): State {
  return claim({ delivery: newDelivery(nowMs, { run: endpoint.run, ...parts }), endpoint }, nowMs);
}

/** Claims when due and fails at once, until it is not tried any more. Returns the delays between attempts. */
function failThrough(start: State, random = 0.5): { readonly end: Stepped; readonly delaysMs: readonly number[] } {
  const delaysMs: number[] = [];
  let nowMs = T0;
  let state: Stepped = finish(claim(start, nowMs), verdict('failure'), nowMs, random);
  while (state.delivery.dueAtMs !== null) {
    delaysMs.push(state.delivery.dueAtMs - nowMs);
    nowMs = state.delivery.dueAtMs;
    // After this long the endpoint of another delivery would be disabled; this test is about the backoff.
    state = finish(claim({ ...state, endpoint: newEndpoint() }, nowMs), verdict('failure'), nowMs, random);
  }
  return { end: state, delaysMs };
}

describe('a claim', () => {
  it('begins the next attempt, its lease and, with the first one, the ladder', () => {
    const { delivery, outcome } = claim({ delivery: newDelivery(T0), endpoint: newEndpoint() }, T0 + 5);
    expect(outcome).toBeNull();
    expect(delivery).toEqual(
      newDelivery(T0, {
        status: 'sending',
        attempt: 1,
        fence: 1,
        backoffStartedAtMs: T0 + 5,
        dueAtMs: T0 + 5 + LEASE_MS,
      }),
    );
  });

  it('keeps the instant at which the ladder began', () => {
    const waiting = newDelivery(T0, {
      status: 'retrying',
      attempt: 1,
      failures: 1,
      fence: 1,
      backoffStartedAtMs: T0 - 7,
    });
    const { delivery } = claim({ delivery: waiting, endpoint: newEndpoint() }, T0);
    expect(delivery).toMatchObject({ attempt: 2, fence: 2, failures: 1, backoffStartedAtMs: T0 - 7 });
  });

  it('is impossible before the delivery is due, and in any state but waiting', () => {
    const endpoint = newEndpoint();
    expect(() => claim({ delivery: newDelivery(T0), endpoint }, T0 - 1)).toThrow('not due');
    for (const status of ['sending', 'delivered', 'dead', 'cancelled'] as const) {
      const delivery = newDelivery(T0, { status });
      expect(isDue(delivery, endpoint, T0)).toBe(false);
      expect(() => claim({ delivery, endpoint }, T0)).toThrow(status);
    }
  });
});

describe('a success', () => {
  it('delivers, and clears the streak of the endpoint', () => {
    const failing = newEndpoint({ failingSinceMs: T0 - HOUR_MS, consecutiveFailures: 4, lastFailureAtMs: T0 - 1 });
    const { delivery, endpoint, outcome } = finish(sendingAt(T0, { lost: 2 }, failing), verdict('success'), T0 + 9);
    expect(outcome).toBe('success');
    expect(delivery).toMatchObject({
      status: 'delivered',
      dueAtMs: null,
      endedAtMs: T0 + 9,
      deadReason: null,
      lost: 0,
    });
    expect(endpoint).toEqual({ ...failing, failingSinceMs: null, consecutiveFailures: 0, lastSuccessAtMs: T0 + 9 });
  });

  it('clears the streak of an endpoint that was disabled meanwhile, and leaves it disabled', () => {
    const state = sendingAt(T0, {}, newEndpoint({ failingSinceMs: T0 - 1, consecutiveFailures: 1 }));
    const endpoint = disabledByHand(state.endpoint, T0 + 1);
    const after = finish({ ...state, endpoint }, verdict('success'), T0 + 2).endpoint;
    expect(after).toMatchObject({ status: 'disabled', disabledReason: 'manual', failingSinceMs: null });
    expect(after.consecutiveFailures).toBe(0);
  });
});

describe('the ladder', () => {
  it('waits 1 m, 5 m, 30 m, 2 h, 6 h and five times 12 h, and is dead with the 11th failure', () => {
    const { end, delaysMs } = failThrough({ delivery: newDelivery(T0), endpoint: newEndpoint() });
    expect(delaysMs).toEqual(STEPS_MS);
    expect(end.outcome).toBe('terminal');
    expect(end.delivery).toMatchObject({ status: 'dead', deadReason: 'exhausted', attempt: 11, failures: 11 });
  });

  it.each([
    [0, 0.9],
    [0.5, 1],
    [ALMOST_ONE, 1.1],
  ])('stretches each delay by chance: %d gives a factor of %d', (random, factor) => {
    for (const [failures, stepMs] of STEPS_MS.entries()) {
      const { delivery } = finish(sendingAt(T0, { failures }), verdict('failure'), T0, random);
      expect(delivery.dueAtMs).toBe(T0 + Math.round(stepMs * factor));
    }
  });

  it('plans nothing for later than 72 h after its first attempt, and tries once more at that instant', () => {
    const { end, delaysMs } = failThrough({ delivery: newDelivery(T0), endpoint: newEndpoint() }, ALMOST_ONE);
    expect(delaysMs.reduce((sum, delayMs) => sum + delayMs)).toBe(RETRY_WINDOW_MS);
    expect(delaysMs).toHaveLength(10);
    expect(end.delivery).toMatchObject({ status: 'dead', deadReason: 'exhausted', endedAtMs: T0 + RETRY_WINDOW_MS });
  });

  it('ends with a failure 72 h after its first attempt, at any step, and not a millisecond earlier', () => {
    const state = sendingAt(T0);
    const early = finish(state, verdict('failure'), T0 + RETRY_WINDOW_MS - 1);
    expect(early.delivery).toMatchObject({ status: 'retrying', failures: 1, dueAtMs: T0 + RETRY_WINDOW_MS });
    const late = finish(state, verdict('failure'), T0 + RETRY_WINDOW_MS);
    expect(late.delivery).toMatchObject({ status: 'dead', deadReason: 'exhausted', failures: 1 });
  });

  it('gives a delivery that is overdue after a long stop one more attempt', () => {
    const waiting = finish(sendingAt(T0), verdict('failure'), T0);
    const nowMs = T0 + 2 * RETRY_WINDOW_MS;
    expect(isDue(waiting.delivery, waiting.endpoint, nowMs)).toBe(true);
    expect(finish(claim(waiting, nowMs), verdict('success'), nowMs).delivery.status).toBe('delivered');
  });
});

describe('Retry-After', () => {
  const dueAfter = (retryAfterMs: number, failures = 0, random = 0.5) => {
    const failed = finish(sendingAt(T0, { failures }), verdict('failure', { retryAfterMs }), T0, random);
    return (failed.delivery.dueAtMs ?? 0) - T0;
  };

  it('is a minimum for the step', () => {
    expect(dueAfter(HOUR_MS)).toBe(HOUR_MS);
    expect(dueAfter(59_000)).toBe(MINUTE_MS);
    expect(dueAfter(59_000, 0, 0)).toBe(59_000);
    expect(dueAfter(HOUR_MS, 3)).toBe(2 * HOUR_MS);
  });

  it('never plans further ahead than 24 h', () => {
    expect(dueAfter(1_000 * HOUR_MS)).toBe(24 * HOUR_MS);
  });

  it('never plans for after the 72 h', () => {
    const state = sendingAt(T0);
    const nowMs = T0 + RETRY_WINDOW_MS - MINUTE_MS;
    const { delivery } = finish(state, verdict('failure', { retryAfterMs: HOUR_MS }), nowMs);
    expect(delivery.dueAtMs).toBe(T0 + RETRY_WINDOW_MS);
  });
});

describe('410', () => {
  it('ends the delivery and disables the endpoint at once', () => {
    const { delivery, endpoint, outcome } = finish(sendingAt(T0), verdict('gone'), T0 + 3);
    expect(outcome).toBe('terminal');
    expect(delivery).toMatchObject({ status: 'dead', deadReason: 'receiver_gone', endedAtMs: T0 + 3, dueAtMs: null });
    expect(endpoint).toMatchObject({ status: 'disabled', disabledReason: 'receiver_gone', disabledAtMs: T0 + 3 });
    expect(endpoint).toMatchObject({ failingSinceMs: T0 + 3, lastFailureAtMs: T0 + 3, consecutiveFailures: 1 });
  });

  it('is the reason even when 72 h of failure end with it', () => {
    const failing = newEndpoint({ failingSinceMs: T0 - RETRY_WINDOW_MS });
    expect(finish(sendingAt(T0, {}, failing), verdict('gone'), T0).endpoint.disabledReason).toBe('receiver_gone');
  });

  it('leaves the reason of an endpoint that is disabled already', () => {
    const state = sendingAt(T0);
    const endpoint = disabledByHand(state.endpoint, T0);
    const after = finish({ ...state, endpoint }, verdict('gone'), T0 + 3);
    expect(after.delivery.deadReason).toBe('receiver_gone');
    expect(after.endpoint).toMatchObject({ disabledReason: 'manual', disabledAtMs: T0 });
  });
});

it('a message that is too large for its destination is dead at once, and says nothing about the endpoint', () => {
  const state = sendingAt(T0);
  const { delivery, endpoint, outcome } = finish(state, verdict('too_large'), T0 + 3);
  expect(delivery).toMatchObject({ status: 'dead', deadReason: 'too_large', failures: 0, dueAtMs: null });
  expect(endpoint).toEqual(state.endpoint);
  expect(outcome).toBe('terminal');
});

describe('a verdict of an attempt that went to an earlier destination', () => {
  const state = sendingAt(T0, {}, newEndpoint({ failingSinceMs: T0 - RETRY_WINDOW_MS, consecutiveFailures: 9 }));
  const elsewhere = moved(state.endpoint);
  const late = (of: Verdict, endpoint = elsewhere) =>
    step({ ...state, endpoint }, { kind: 'finish', verdict: of, destinationVersion: 1 }, T0 + 3);

  it.each(['success', 'failure', 'gone', 'sender_fault', 'too_large'] as const)(
    'says nothing about the endpoint: %s',
    (kind) => {
      expect(late(verdict(kind)).endpoint).toEqual(elsewhere);
    },
  );

  it('does not end a streak of the new destination either', () => {
    const failing = { ...elsewhere, failingSinceMs: T0 - 2 * RETRY_WINDOW_MS };
    expect(late(verdict('failure'), failing).endpoint).toEqual(failing);
  });

  it('counts for the delivery, which continues to the new destination', () => {
    expect(late(verdict('success')).delivery.status).toBe('delivered');
    expect(late(verdict('failure')).delivery).toMatchObject({ status: 'retrying', failures: 1 });
    expect(late(verdict('gone')).delivery).toMatchObject({ status: 'retrying', failures: 1, deadReason: null });
    expect(late(verdict('too_large')).delivery).toMatchObject({ status: 'queued', failures: 0, deadReason: null });
  });
});

describe('the streak', () => {
  it('begins with the first failure and counts the others', () => {
    const first = finish(sendingAt(T0), verdict('failure'), T0 + 1).endpoint;
    expect(first).toMatchObject({ failingSinceMs: T0 + 1, lastFailureAtMs: T0 + 1, consecutiveFailures: 1 });
    const second = finish(sendingAt(T0 + 2, {}, first), verdict('failure'), T0 + 3).endpoint;
    expect(second).toMatchObject({ failingSinceMs: T0 + 1, lastFailureAtMs: T0 + 3, consecutiveFailures: 2 });
  });

  it.each([
    [
      'a failure',
      (endpoint: EndpointLifecycle, nowMs: number) =>
        finish(sendingAt(nowMs, {}, endpoint), verdict('failure'), nowMs).endpoint,
    ],
    ['maintenance', disableFailing],
  ])('disables after 72 h, exactly: %s', (_who, observe) => {
    const failing = newEndpoint({ failingSinceMs: T0, consecutiveFailures: 1 });
    expect(observe(failing, T0 + RETRY_WINDOW_MS - 1).status).toBe('active');
    const disabled = observe(failing, T0 + RETRY_WINDOW_MS);
    expect(disabled).toMatchObject({ status: 'disabled', disabledReason: 'auto_failures_72h', failingSinceMs: T0 });
    expect(disabled.disabledAtMs).toBe(T0 + RETRY_WINDOW_MS);
    expect(observe(disabled, T0 + RETRY_WINDOW_MS + 1).disabledAtMs).toBe(T0 + RETRY_WINDOW_MS);
  });

  it('is ignored by maintenance when it is null or the endpoint is archived', () => {
    expect(disableFailing(newEndpoint(), T0).status).toBe('active');
    expect(disableFailing(newEndpoint({ failingSinceMs: 0, isArchived: true }), T0).status).toBe('active');
  });
});

describe('a fault of our own', () => {
  const ways: [string, (state: State, nowMs: number) => Stepped, number][] = [
    ['a lost sender', (state, nowMs) => step(state, { kind: 'lose' }, nowMs), 0],
    ['an attempt that could not be made', (state, nowMs) => finish(state, verdict('sender_fault'), nowMs), 5_000],
  ];

  it.each(ways)('says nothing about the receiver and uses no rung: %s', (_what, fault, delayMs) => {
    const state = sendingAt(T0, { attempt: 3, failures: 2, status: 'retrying' });
    const { delivery, endpoint, outcome } = fault(state, T0 + 9);
    expect(endpoint).toEqual(state.endpoint);
    expect(outcome).toBe('retryable');
    expect(delivery).toMatchObject({ status: 'retrying', failures: 2, lost: 1, dueAtMs: T0 + 9 + delayMs });
  });

  it.each(ways)('leaves what nobody ever judged in the queue: %s', (_what, fault) => {
    const { delivery } = fault(sendingAt(T0), T0 + 9);
    expect(delivery).toMatchObject({ status: 'queued', attempt: 1, lost: 1, endedAtMs: null });
  });

  it.each(ways)('uses a rung from the fourth in a row on: %s', (_what, fault) => {
    let state: State = { delivery: newDelivery(T0), endpoint: newEndpoint() };
    const used = Array.from({ length: 6 }, () => {
      const { dueAtMs } = state.delivery;
      state = fault(claim(state, dueAtMs ?? 0), dueAtMs ?? 0);
      return state.delivery.failures;
    });
    expect(used).toEqual([0, 0, 0, 1, 2, 3]);
    expect(state.delivery.status).toBe('retrying');
    expect(state.endpoint).toEqual(newEndpoint());
  });

  it.each(ways)('ends the delivery when there is no rung left for it: %s', (_what, fault) => {
    const after = fault(sendingAt(T0, { lost: 3, failures: 10, attempt: 13 }), T0);
    expect(after).toMatchObject({ outcome: 'terminal', delivery: { status: 'dead', deadReason: 'exhausted' } });
  });

  it('is reset by the first attempt with an outcome', () => {
    const failed = finish(sendingAt(T0, { lost: 3, attempt: 3 }), verdict('failure'), T0);
    expect(failed.delivery).toMatchObject({ lost: 0, failures: 1 });
  });

  it('voids what the lost sender may still report', () => {
    const state = sendingAt(T0);
    expect(step(state, { kind: 'lose' }, T0).delivery.fence).toBe(state.delivery.fence + 1);
  });

  it('puts no attempt off until after the 72 h, and costs an overdue delivery nothing', () => {
    const state = sendingAt(T0);
    const nearly = T0 + RETRY_WINDOW_MS - 1_000;
    expect(finish(state, verdict('sender_fault'), nearly).delivery.dueAtMs).toBe(T0 + RETRY_WINDOW_MS);
    const over = T0 + RETRY_WINDOW_MS;
    expect(finish(state, verdict('sender_fault'), over).delivery).toMatchObject({
      endedAtMs: null,
      dueAtMs: over + 5_000,
    });
  });
});

describe('redelivery', () => {
  it.each(['dead', 'delivered'] as const)('of a %s one begins the ladder afresh, at once', (status) => {
    const ended = newDelivery(T0, {
      status,
      attempt: 11,
      failures: 11,
      lost: 1,
      fence: 14,
      backoffStartedAtMs: T0 - RETRY_WINDOW_MS,
      dueAtMs: null,
      endedAtMs: T0 - 5,
      deadReason: status === 'dead' ? 'exhausted' : null,
    });
    const state = { delivery: ended, endpoint: newEndpoint({ run: 3 }) };
    const { delivery, outcome } = step(state, { kind: 'redeliver' }, T0);
    expect(outcome).toBeNull();
    expect(delivery).toEqual(newDelivery(T0, { status: 'retrying', attempt: 11, fence: 15, run: 3 }));
    const next = finish(claim({ ...state, delivery }, T0 + 2), verdict('failure'), T0 + 2).delivery;
    expect(next).toMatchObject({ attempt: 12, failures: 1, backoffStartedAtMs: T0 + 2, dueAtMs: T0 + 2 + MINUTE_MS });
  });

  it('of one that waits for its retry is due at once and keeps its step', () => {
    const waiting = finish(sendingAt(T0, { failures: 4, attempt: 4 }), verdict('failure'), T0);
    const { delivery } = step(waiting, { kind: 'redeliver' }, T0 + 1);
    expect(delivery).toEqual({ ...waiting.delivery, fence: waiting.delivery.fence + 1, dueAtMs: T0 + 1 });
  });

  it.each(['queued', 'sending', 'cancelled'] as const)('of a %s one is impossible', (status) => {
    const state = { delivery: newDelivery(T0, { status }), endpoint: newEndpoint() };
    expect(() => step(state, { kind: 'redeliver' }, T0)).toThrow(status);
  });
});

describe('an endpoint that is enabled again', () => {
  it('makes what waited due at once, with its ladder afresh', () => {
    const waiting = finish(sendingAt(T0, { failures: 7, lost: 0 }), verdict('failure'), T0);
    const endpoint = enabledAgain(disabledByHand(waiting.endpoint, T0 + 1));
    expect(isDue(waiting.delivery, waiting.endpoint, T0 + 2)).toBe(false);
    expect(isDue(waiting.delivery, endpoint, T0 + 2)).toBe(true);
    const { delivery } = claim({ delivery: { ...waiting.delivery, lost: 2 }, endpoint }, T0 + 2);
    expect(delivery).toMatchObject({ failures: 0, lost: 0, backoffStartedAtMs: T0 + 2, run: endpoint.run, attempt: 2 });
  });

  it('holds a failure that was recorded while it was disabled, and makes it due with the others', () => {
    const state = sendingAt(T0);
    const endpoint = disabledByHand(state.endpoint, T0);
    const held = finish({ ...state, endpoint }, verdict('failure'), T0 + 1);
    expect(held.delivery).toMatchObject({ status: 'retrying', failures: 1 });
    expect(isDue(held.delivery, enabledAgain(held.endpoint), T0 + 2)).toBe(true);
  });

  it.each([
    ['a failure', verdict('failure', { retryAfterMs: 2 * MINUTE_MS }), 2 * MINUTE_MS, 1],
    ['a fault of our own', verdict('sender_fault'), 5_000, 0],
  ])('lets an attempt that went on meanwhile wait its time: %s', (_what, of, delayMs, failures) => {
    const state = sendingAt(T0, { failures: 10, attempt: 10 });
    const endpoint = enabledAgain(disabledByHand(state.endpoint, T0 + 1));
    const { delivery } = finish({ ...state, endpoint }, of, T0 + 2);
    expect(delivery).toMatchObject({ status: 'retrying', run: endpoint.run, failures, dueAtMs: T0 + 2 + delayMs });
    expect(isDue(delivery, endpoint, T0 + 2 + delayMs - 1)).toBe(false);
  });
});

describe('an end from outside', () => {
  it.each([
    ['cancel', 'cancelled', null],
    ['expire', 'dead', 'expired'],
  ] as const)('%s ends what waits, and nothing else', (kind, status, deadReason) => {
    const endpoint = newEndpoint();
    for (const waiting of ['queued', 'retrying'] as const) {
      const { delivery, outcome } = step(
        { delivery: newDelivery(T0, { status: waiting }), endpoint },
        { kind },
        T0 + 8,
      );
      expect(delivery).toMatchObject({ status, deadReason, endedAtMs: T0 + 8, dueAtMs: null });
      expect(outcome).toBeNull();
    }
    for (const other of ['sending', 'delivered', 'dead', 'cancelled'] as const) {
      const state = { delivery: newDelivery(T0, { status: other }), endpoint };
      expect(() => step(state, { kind }, T0)).toThrow(other);
    }
  });
});

describe('what is not being sent', () => {
  it.each(['queued', 'retrying', 'delivered', 'dead', 'cancelled'] as const)('has no result: %s', (status) => {
    const state = { delivery: newDelivery(T0, { status }), endpoint: newEndpoint() };
    expect(() => finish(state, verdict('success'), T0)).toThrow(status);
    expect(() => step(state, { kind: 'lose' }, T0)).toThrow(status);
  });
});
