/**
 * A healthy client beside an attack: it sends and reads traces at a steady rate, and perhaps searches them and calls a guardrail,
 * and measures latencies and the server's process. It is a process of its own, started by attack-observing.ts, so that attacks do not slow its clock.
 */

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { ObserverMessage, ObserverOrders, ObserverReport } from './attack-observing.ts';
import { readTurns, slowdown, type Turns } from './turns.ts';

const ASK_EVERY_MS = 15;
const CONNECTIONS_MAX = 32;
const LOOK_EVERY_MS = 20;
const SCRAPE_EVERY_MS = 300;
const ANSWER_MAX_MS = 15_000;
const FAILURES_SHOWN = 5;
const DAY_MS = 86_400_000;
/** Appends and reads before each long read. */
const ROUNDS = 5;
const DELAY = 'spandrel_event_loop_delay_seconds';

const { address, pid, key, guardrailKey, searches }: ObserverOrders = JSON.parse(process.argv[2] ?? '{}');
const agents = {
  traces: new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX }),
  metrics: new Agent({ keepAlive: true }),
};

type What = 'send' | 'read' | 'guard' | 'search' | 'sum';

type Window = {
  requests: number;
  readonly latencies: { readonly what: What; readonly ms: number }[];
  readonly failures: string[];
  rssMaxBytes: number;
  stallMs: number;
  readonly openedAt: Turns;
  readonly ownAt: Turns;
};
type Scraped = { readonly sumMs: number; readonly periods: number; readonly turns: Turns };

let current: Window = openWindow();
let requests = 0;
/** Sends nothing between attacks, so that all the server holds is the attackers'. */
let isSending = true;
let readable: string | null = null;
let scraped: Scraped | null = null;

/** Long reads are rarer: they must wait for their turn, and not for each other. */
const WHAT: readonly What[] = searches
  ? [...rounds('search'), ...rounds('sum')]
  : ['send', 'read', ...(guardrailKey === null ? [] : (['guard'] as const))];

function rounds(last: What): readonly What[] {
  return [...Array.from({ length: ROUNDS }, () => ['send', 'read'] as const).flat(), last];
}

setInterval(ask, ASK_EVERY_MS);
setInterval(readMemory, LOOK_EVERY_MS);
void scrapeForEver();
process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  if (message === 'begin') void begin();
  else void end();
});

/** The full tier's limits leave no room for stalls from before the attack: it waits for the next metrics period. */
async function begin(): Promise<void> {
  isSending = true;
  await nextPeriod();
  current = openWindow();
  post({ kind: 'begun' });
}

async function nextPeriod(): Promise<void> {
  const periods = scraped?.periods ?? 0;
  const latestMs = performance.now() + ANSWER_MAX_MS;
  while ((scraped?.periods ?? 0) <= periods && performance.now() < latestMs) await pause(10);
}

function openWindow(): Window {
  return {
    requests: 0,
    latencies: [],
    failures: [],
    rssMaxBytes: 0,
    stallMs: 0,
    openedAt: readTurns(pid),
    ownAt: readTurns(process.pid),
  };
}

/** Sends and reads in turn, without waiting for answers, so a stall delays every request due during it. */
function ask(): void {
  if (!isSending) return;
  const window = current;
  const dueMs = performance.now();
  const id = `healthy-${pid}-${requests}`;
  const what = WHAT[requests % WHAT.length] ?? 'send';
  requests += 1;
  window.requests += 1;
  ASKING[readable === null ? 'send' : what](id)
    .catch((error: Error) => window.failures.push(`${what}: ${error.message}`))
    .finally(() => {
      window.latencies.push({ what, ms: performance.now() - dueMs });
      post({ kind: 'served' });
    });
}

const ASKING: { readonly [Kind in What]: (id: string) => Promise<void> } = {
  async send(id: string): Promise<void> {
    await expectAnswer({ method: 'POST', path: '/api/collector', body: JSON.stringify(trace(id)) });
    readable = id;
  },
  async read(): Promise<void> {
    await expectAnswer({ method: 'GET', path: `/api/traces/${readable}` });
  },
  /** The text is long enough for a thread. */
  async guard(): Promise<void> {
    const data = { output: `${'Say hi. '.repeat(500)} AKIAIOSFODNN7EXAMPLE` };
    const path = '/api/guardrails/langwatch/api_keys_and_secrets_detection/evaluate';
    const body = JSON.stringify({ data, on_error: 'pass' });
    const text = await expectAnswer({ method: 'POST', path, body, from: guardrailKey ?? key });
    if (JSON.parse(text).passed !== false) throw new Error(`a secret passed: ${text}`);
  },
  async search(): Promise<void> {
    const body = JSON.stringify({ query: 'say hi', filters: { 'spans.model': ['gpt-5'] } });
    const found = JSON.parse(await expectAnswer({ method: 'POST', path: '/api/traces/search', body }));
    if (found.traces.length === 0) throw new Error('a search found nothing');
  },
  async sum(): Promise<void> {
    const toMs = Date.now() + DAY_MS;
    const path = `/api/analytics?from=${toMs - 30 * DAY_MS}&to=${toMs}&group_by=label`;
    await expectAnswer({ method: 'GET', path });
  },
};

async function expectAnswer(asked: Asked): Promise<string> {
  const { status, text } = await send(asked);
  if (status !== 200) throw new Error(`status ${status}: ${text.slice(0, 200)}`);
  return text;
}

function trace(id: string): object {
  const nowMs = Date.now();
  const value = { type: 'text', value: 'Say hi.' };
  const timestamps = { started_at: nowMs, finished_at: nowMs + 5 };
  return {
    trace_id: id,
    spans: [{ span_id: 's', type: 'llm', model: 'gpt-5', input: value, output: value, timestamps }],
  };
}

type Asked = { readonly method: string; readonly path: string; readonly body?: string; readonly from?: string };
type Answered = { readonly status: number; readonly text: string };

function send({ method, path, body, from = key }: Asked): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-auth-token': from, 'content-type': 'application/json' };
    const sent = request(address + path, { method, headers, agent: agents.traces, timeout: ANSWER_MAX_MS });
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body);
  });
}

function readMemory(): void {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    current.rssMaxBytes = Math.max(current.rssMaxBytes, Number(kibibytes ?? 0) * 1024);
  } catch {
    // The process has ended; its test reports that.
  }
}

/** /metrics sums the longest delay of each second; scrapes are more frequent, so each rise is one delay. */
async function scrapeForEver(): Promise<never> {
  for (;;) {
    try {
      noteRise(await scrape());
    } catch (error) {
      current.failures.push(`metrics: ${error instanceof Error ? error.message : error}`);
    }
    await pause(SCRAPE_EVERY_MS);
  }
}

function noteRise(now: Scraped): void {
  if (scraped !== null && now.periods > scraped.periods) {
    const stallMs = (now.sumMs - scraped.sumMs) / slowdown(scraped.turns, now.turns);
    current.stallMs = Math.max(current.stallMs, stallMs);
  }
  if (now.periods !== scraped?.periods) scraped = now;
}

async function scrape(): Promise<Scraped> {
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${address}/metrics`, { agent: agents.metrics, timeout: ANSWER_MAX_MS }, async (response) => {
      try {
        resolve((await response.setEncoding('utf8').toArray()).join(''));
      } catch (error) {
        reject(error);
      }
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end();
  });
  const figure = (suffix: string) => Number(new RegExp(`^${DELAY}_${suffix} (\\S+)$`, 'm').exec(text)?.[1]);
  return { sumMs: figure('sum') * 1_000, periods: figure('count'), turns: readTurns(pid) };
}

/** Waits for answers to all requests, and for the metrics period of the end. */
async function end(): Promise<void> {
  const window = current;
  isSending = false;
  const periods = scraped?.periods ?? 0;
  const isOver = () => window.latencies.length >= window.requests && (scraped?.periods ?? 0) > periods;
  const latestMs = performance.now() + ANSWER_MAX_MS;
  while (!isOver() && window.failures.length === 0 && performance.now() < latestMs) await pause(10);
  const guards = window.latencies.filter(({ what }) => what === 'guard');
  const report: ObserverReport = {
    n: window.latencies.length,
    // Quick sends and reads must not hide slow guardrails.
    p99Ms: Math.max(p99Of(window.latencies), guards.length === 0 ? 0 : p99Of(guards)),
    failures: window.failures.slice(0, FAILURES_SHOWN),
    rssMaxBytes: window.rssMaxBytes,
    stallMs: window.stallMs,
    slowdown: Math.max(slowdown(window.openedAt, readTurns(pid)), slowdown(window.ownAt, readTurns(process.pid))),
  };
  current = openWindow();
  post({ kind: 'report', report });
}

function p99Of(latencies: Window['latencies']): number {
  const sorted = latencies.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? ANSWER_MAX_MS;
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

function post(message: ObserverMessage): void {
  process.send?.(message);
}
