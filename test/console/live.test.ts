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

const tailed = (id: string, traceId: string) =>
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
    openedAfter: [] as string[],
    traces: [] as string[],
    begun: 0,
    leftOut: 0,
    states: [] as string[],
    delays: [] as number[],
  };
  const silent = new Set<() => void>();
  await followTraces(
    {
      async *open(lastEventId, signal) {
        const stream = streams[seen.openedAfter.length] ?? [];
        seen.openedAfter.push(lastEventId);
        for (const each of stream) {
          if (each instanceof ConnectError) throw each;
          if (each !== 'silence') yield each;
          else {
            for (const end of silent) end();
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          }
        }
        if (seen.openedAfter.length === streams.length) ended.abort();
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
      onTrace: ({ traceId }) => void seen.traces.push(traceId),
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
  it('resumes after the last change when the connection breaks, and waits longer after each empty stream', async () => {
    const seen = await follow([
      [begun, tailed('7', 'a'), lost],
      [lost],
      [lost],
      [begun, tailed('9', 'b'), lost],
      [begun],
    ]);
    expect(seen.openedAfter).toEqual(['', '7', '7', '7', '9']);
    expect(seen.traces).toEqual(['a', 'b']);
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

  it('treats a silent server as a lost connection', async () => {
    const seen = await follow([[begun, 'silence'], [begun]]);
    expect(seen.states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'live']);
  });

  it('ends where the server refuses', async () => {
    const seen = await follow([[new ConnectError('no', Code.PermissionDenied)], [begun]]);
    expect(seen.states).toEqual(['connecting', 'refused']);
    expect(seen.openedAfter).toHaveLength(1);
  });
});

describe('live traces', () => {
  it('are kept up to a limit, and dropped changes are counted', () => {
    const live = createLiveTraces(2);
    for (const id of ['a', 'b', 'a', 'c']) live.add(trace(id));
    live.leaveOut(3);
    const changed = live.readChanged();
    expect([...(changed?.traces.keys() ?? [])]).toEqual(['a', 'c']);
    expect(changed?.leftOut).toBe(4);
    expect(live.readChanged()).toBeNull();
  });

  const ids = (traces: readonly Trace[]) => traces.map(({ traceId }) => traceId);
  const range = { fromMs: 10, toMs: 100, isComplete: false };
  const live = (...traces: Trace[]) => new Map(traces.map((each) => [each.traceId, each]));

  it('are merged in the order of the list, each trace once in its newest version', () => {
    const changed = create(TraceSchema, { ...trace('b', 50), name: 'changed' });
    const merged = mergeLive([trace('c', 60), trace('b', 50)], live(trace('d', 70), changed), range);
    expect(ids(merged)).toEqual(['d', 'c', 'b']);
    expect(merged[2]?.name).toBe('changed');
  });

  it('omit traces outside the range and those of a later page', () => {
    const liveTraces = live(trace('early', 5), trace('late', 101), trace('later page', 20));
    expect(ids(mergeLive([trace('a', 50)], liveTraces, range))).toEqual(['a']);
    expect(ids(mergeLive([trace('a', 50)], liveTraces, { ...range, isComplete: true }))).toEqual(['a', 'later page']);
  });
});
