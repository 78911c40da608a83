import { performance } from 'node:perf_hooks';
import { median } from '../machine.ts';
import type { Program } from '../program.ts';
import { type RequestSource, runHttpLoad } from './http.ts';
import { type PageCase, pageEvents } from './log-pages.ts';

/** A program that serves pages, and its response times. */
export type PageSide = {
  readonly program: Program;
  /** Requests pages of each kind; throws unless each is full. */
  warmUp(): Promise<void>;
  /** Starts the next round. */
  beginRound(): void;
  /** Requests `samples` pages of each kind in turn over `connections` connections. */
  yieldToEventLoop(connections: number, samples: number): Promise<void>;
  /** The median of the rounds. */
  percentileMs(name: PageCase['name'], connections: number, percent: number): number;
  /** A line per round, kind and number of connections. */
  describe(): string[];
};

const warmUpSamples = 100;

type Case = Pick<PageCase, 'name' | 'requests'>;
type Note = (name: PageCase['name'], tookMs: number, body: Buffer) => void;

export function createPageSide(title: string, cases: readonly Case[], program: Program): PageSide {
  const rounds: Map<string, number[]>[] = [];

  async function ask(connections: number, samples: number, note: Note): Promise<void> {
    await runHttpLoad({
      ports: [program.port],
      connections,
      stop: { requests: samples * cases.length },
      expectedStatus: 200,
      createRequests: interleave(cases, note),
    });
  }

  return {
    program,
    warmUp: () => ask(1, warmUpSamples, (name, _tookMs, body) => checkPage(`${title} ${name}`, body)),
    beginRound: () => void rounds.push(new Map()),
    yieldToEventLoop: (connections, samples) =>
      ask(connections, samples, (name, tookMs) => {
        const key = `${name}-${connections}`;
        const times = rounds.at(-1)?.get(key) ?? [];
        rounds.at(-1)?.set(key, times);
        times.push(tookMs);
      }),
    percentileMs: (name, connections, percent) =>
      median(rounds.map((round) => percentile(round.get(`${name}-${connections}`) ?? [], percent))),
    describe: () =>
      rounds.flatMap((round, index) =>
        [...round].map(([key, times]) => {
          const [p50, p99] = [50, 99].map((percent) => percentile(times, percent).toFixed(2));
          return `round ${index + 1} ${title} ${key}: ${times.length} pages, p50 ${p50} ms, p99 ${p99} ms`;
        }),
      ),
  };
}

/** Alternates the kinds with every request, so that disturbances affect all kinds equally. */
function interleave(cases: readonly Case[], note: Note): () => RequestSource {
  let sentCount = 0;
  return () => {
    let current: PageCase['name'] = 'first';
    let sentAt = 0;
    return {
      next() {
        const { name, requests } = cases[sentCount % cases.length] ?? { name: 'first', requests: [] };
        const request = requests[Math.floor(sentCount / cases.length) % requests.length];
        sentCount += 1;
        current = name;
        sentAt = performance.now();
        return request ?? Buffer.alloc(0);
      },
      read: (body) => note(current, performance.now() - sentAt, body),
    };
  };
}

/** A short page would cost less. */
function checkPage(what: string, body: Buffer): void {
  const { data }: { data: unknown[] } = JSON.parse(body.toString('utf8'));
  if (data.length !== pageEvents) throw new Error(`A page of ${what} has ${data.length} events, not ${pageEvents}.`);
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? Number.NaN;
}
