/** Live traces in the console: reconnecting, the buffer, and the order. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import {
  type TailTracesResponse,
  TailTracesResponseSchema,
  type Trace,
  TraceSchema,
} from '../../gen/spandrel/v1/traces_pb.js';
import { followTraces } from '../../src/console/traces/follow.ts';
import { createLiveTraces, mergeLive } from '../../src/console/traces/live-traces.ts';

const trace = (traceId: string, startedAtMs = 0): Trace =>
  create(TraceSchema, { traceId, timestamps: { startedAt: timestampFromMs(startedAtMs) } });

const told = (id: string, traceId: string) =>
  create(TailTracesResponseSchema, {
    id,
    change: { case: 'trace', value: { view: { case: 'trace', value: trace(traceId) } } },
  });
const begun = create(TailTracesResponseSchema);
const lagged = create(TailTracesResponseSchema, { change: { case: 'lagged', value: { dropped: 12n } } });

type Stream = readonly (TailTracesResponse | ConnectError | 'silence')[];

/** Plays the streams one after another, then ends. */
async function follow(streams: readonly Stream[]) {
  const ended = new AbortController();
  const seen = {
    asked: [] as string[],
    told: [] as string[],
    begun: 0,
    leftOut: 0,
    states: [] as string[],
    delays: [] as number[],
  };
  const silent = new Set<() => void>();
  await followTraces(
    {
      async *open(lastEventId, signal) {
        const stream = streams[seen.asked.length] ?? [];
        seen.asked.push(lastEventId);
        for (const each of stream) {
          if (each instanceof ConnectError) throw each;
          if (each !== 'silence') yield each;
          else {
            for (const end of silent) end();
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          }
        }
        if (seen.asked.length === streams.length) ended.abort();
      },
      wait(delayMs, signal) {
        if (delayMs < 40_000) {
          seen.delays.push(delayMs);
          return Promise.resolve();
        }
        return new Promise((resolve, reject) => {
          silent.add(resolve);
          signal.addEventListener('abort', () => {
            silent.delete(resolve);
            reject(signal.reason);
          });
        });
      },
      random: () => 1,
      onBegin() {
        seen.begun += 1;
      },
      onTrace: ({ traceId }) => void seen.told.push(traceId),
      onLeftOut(count) {
        seen.leftOut += count;
      },
      onState: (state) => void seen.states.push(state),
    },
    ended.signal,
  );
  return seen;
}

const lost = new ConnectError('gone', Code.Unavailable);

describe('following', () => {
  it('goes on behind the last change after a break, and waits longer each time nothing came', async () => {
    const seen = await follow([[begun, told('7', 'a'), lost], [lost], [lost], [begun, told('9', 'b'), lost], [begun]]);
    expect(seen.asked).toEqual(['', '7', '7', '7', '9']);
    expect(seen.told).toEqual(['a', 'b']);
    expect(seen.delays).toEqual([1_000, 2_000, 4_000, 1_000]);
    expect(seen.begun).toBe(3);
  });

  it('waits half a minute at most', async () => {
    const seen = await follow([...Array.from({ length: 8 }, () => [lost]), [begun]]);
    expect(Math.max(...seen.delays)).toBe(30_000);
  });

  it('says how many changes the server left out', async () => {
    expect((await follow([[begun, lagged, lagged]])).leftOut).toBe(24);
  });

  it('takes a server that says nothing for one that is gone', async () => {
    const seen = await follow([[begun, 'silence'], [begun]]);
    expect(seen.states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'live']);
  });

  it('ends where the server refuses', async () => {
    const seen = await follow([[new ConnectError('no', Code.PermissionDenied)], [begun]]);
    expect(seen.states).toEqual(['connecting', 'refused']);
    expect(seen.asked).toHaveLength(1);
  });
});

describe('what live told', () => {
  it('is kept up to a bound, and what is left out is counted', () => {
    const live = createLiveTraces(2);
    for (const id of ['a', 'b', 'a', 'c']) live.add(trace(id));
    live.leaveOut(3);
    const news = live.readChanged();
    expect([...(news?.traces.keys() ?? [])]).toEqual(['a', 'c']);
    expect(news?.leftOut).toBe(4);
    expect(live.readChanged()).toBeNull();
  });

  const ids = (traces: readonly Trace[]) => traces.map(({ traceId }) => traceId);
  const place = { fromMs: 10, toMs: 100, isComplete: false };
  const live = (...traces: Trace[]) => new Map(traces.map((each) => [each.traceId, each]));

  it('stands in the order of the list, each trace once and as it is now', () => {
    const changed = create(TraceSchema, { ...trace('b', 50), name: 'changed' });
    const merged = mergeLive([trace('c', 60), trace('b', 50)], live(trace('d', 70), changed), place);
    expect(ids(merged)).toEqual(['d', 'c', 'b']);
    expect(merged[2]?.name).toBe('changed');
  });

  it('shows nothing beyond the range, nor what a later page has', () => {
    const told = live(trace('early', 5), trace('late', 101), trace('later page', 20));
    expect(ids(mergeLive([trace('a', 50)], told, place))).toEqual(['a']);
    expect(ids(mergeLive([trace('a', 50)], told, { ...place, isComplete: true }))).toEqual(['a', 'later page']);
  });
});
