import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { createOpenLoop } from '../load/open-loop.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { median, readMemory } from '../machine.ts';
import { mintKeys, startServer } from '../sides.ts';

const connections = 64;
const minutes = 10;
/** Of --seconds: a minute by default. */
const roundsPerMinute = 12;
const paceMs = 10;
const sampleMs = 500;
/** The share of a minute, at its end, in which the memory is read. */
const sampledShare = 0.2;

export const steady: Row = {
  name: 'steady',
  about: `resident memory after ${minutes} minutes of one-span traces at half of the full rate, against after one minute`,
  secondsMax: 1_200,
  async run(bench) {
    if (bench.calibrate) return [];
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    const server = await startServer(bench, keys);
    const load = { ports: [server.port], connections, expectedStatus: 200, createRequests };
    const full = await runHttpLoad({ ...load, stop: { seconds: bench.secondsPerRound } });
    const minuteMs = bench.secondsPerRound * roundsPerMinute * 1_000;
    const samples: { readonly minute: number; readonly rssMib: number }[] = [];
    const sent = await sendEvenly(server.port, createRequests(), {
      perSecond: full.perSecond / 2,
      durationMs: minutes * minuteMs,
      onSample: (elapsedMs) => {
        const minute = Math.floor(elapsedMs / minuteMs);
        if (elapsedMs / minuteMs - minute < 1 - sampledShare) return;
        samples.push({ minute, rssMib: readMemory(server.pids).rssMib });
      },
    });
    await server.stop();
    const after = (minute: number) =>
      median(samples.filter((sample) => sample.minute === minute - 1).map(({ rssMib }) => rssMib));
    const each = Array.from({ length: minutes }, (_, index) => after(index + 1).toFixed(0));
    bench.say(
      `  ${Math.round(full.perSecond)}/s in full, then ${sent.requests} requests; MiB by minute: ${each.join(' ')}`,
    );
    if (sent.late > 0)
      bench.say(`  WARNING: ${sent.late} requests were not sent, because ${connections} waited already.`);
    const measured = { name: 'steady', value: after(minutes), unit: 'MiB', reference: after(1) };
    return [
      judge(measured, { of: 'ratio', atMost: 1.2 }),
      judge({ ...measured, name: 'steady-rss', reference: null }, { of: 'value', atMost: 400 }),
    ];
  },
};

type Pace = {
  readonly perSecond: number;
  readonly durationMs: number;
  onSample(elapsedMs: number): void;
};

/** Sends at an even rate, over at most as many connections as the full load has. */
async function sendEvenly(
  port: number,
  source: ReturnType<ReturnType<typeof collectorRequests>>,
  { perSecond, durationMs, onSample }: Pace,
): Promise<{ readonly requests: number; readonly late: number }> {
  const loop = createOpenLoop(port, source);
  const failed = new AbortController();
  const startedAt = performance.now();
  let [requests, late, waiting, sampledAtMs] = [0, 0, 0, 0];
  const send = async (): Promise<void> => {
    waiting += 1;
    await loop.send().catch((error: unknown) => failed.abort(error));
    waiting -= 1;
  };
  for (;;) {
    failed.signal.throwIfAborted();
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs >= durationMs) break;
    for (const due = Math.floor((elapsedMs / 1_000) * perSecond); requests + late < due; ) {
      if (waiting === connections) late += 1;
      else {
        requests += 1;
        void send();
      }
    }
    if (elapsedMs - sampledAtMs >= sampleMs) {
      sampledAtMs = elapsedMs;
      onSample(elapsedMs);
    }
    await delay(paceMs);
  }
  while (waiting > 0) await delay(paceMs);
  loop.close();
  return { requests, late };
}
