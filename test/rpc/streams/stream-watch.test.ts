import { expect, it } from 'vitest';
import { Fault } from '../../../src/domain/fault.ts';
import { createStreamWatch, type UnreadResponse } from '../../../src/rpc/streams/stream-watch.ts';
import { until } from '../../support/port.ts';

function createFixture() {
  let nowMs = 0;
  let accepting = true;
  const ticks: (() => void)[] = [];
  const watch = createStreamWatch({
    monotonicMs: () => nowMs,
    accepting: () => accepting,
    wait: () => new Promise((resolve) => ticks.push(resolve)),
  });
  const seen = { proofs: 0, ends: [] as unknown[], cuts: 0 };
  const open = (prove: () => Promise<void>, untaken: () => UnreadResponse | null = () => null) =>
    watch.watch({
      recheck: () => {
        seen.proofs += 1;
        return prove();
      },
      end: (error) => seen.ends.push(error),
      cut: () => {
        seen.cuts += 1;
      },
      unread: untaken,
    });
  const pass = async (ms: number) => {
    await until(() => ticks.length > 0, 'it waits');
    nowMs += ms;
    ticks.shift()?.();
    await until(() => ticks.length > 0 || watch.open() === 0, 'it waits again');
  };
  return { watch, open, pass, seen, drain: () => (accepting = false) };
}

it('a credential is proven again every few seconds, and the stream ends with the refusal', async () => {
  const { open, pass, seen } = createFixture();
  let isRevoked = false;
  open(async () => {
    if (isRevoked) throw new Fault('invalid_credentials', 'The credential is not valid.');
  });
  await pass(3_900);
  expect(seen.proofs).toBe(0);
  await pass(200);
  expect(seen).toEqual({ proofs: 1, ends: [], cuts: 0 });
  isRevoked = true;
  await pass(4_100);
  expect(seen.ends).toMatchObject([{ code: 'invalid_credentials' }]);
});

it('a stream whose credential cannot be checked ends before the proof is ten seconds old', async () => {
  const { open, pass, seen } = createFixture();
  open(() => new Promise(() => {}));
  await pass(4_100);
  await pass(5_000);
  expect(seen).toMatchObject({ proofs: 1, ends: [{ code: 'unavailable' }] });
});

it('an answer that is not taken cuts the stream after the time its size needs', async () => {
  const { open, pass, seen } = createFixture();
  open(
    async () => {},
    () => ({ sinceMs: 0, bytes: 131_072 * 10 }),
  );
  for (let second = 0; second < 39; second += 1) await pass(1_000);
  expect(seen.cuts).toBe(0);
  await pass(2_000);
  expect(seen.cuts).toBe(1);
});

it('streams end with the drain, and no timer runs once none is open', async () => {
  const { watch, open, pass, seen, drain } = createFixture();
  const close = open(async () => {});
  drain();
  await pass(250);
  expect(seen.ends).toMatchObject([{ code: 'unavailable' }]);
  close();
  await pass(250);
  expect(watch.open()).toBe(0);
});
