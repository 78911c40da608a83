import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import type { TraceAppend } from '../../src/domain/trace.ts';
import { openStore } from '../../src/storage/open.ts';

const input =
  '{"type":"chat_messages","value":[{"role":"system","content":"You are a helpful assistant that answers briefly and precisely."},{"role":"user","content":"Explain in two sentences why write-ahead logging makes a database durable and fast, please."}]}';
const output =
  '{"type":"chat_messages","value":[{"role":"assistant","content":"The log is appended sequentially and synced before data pages are touched, so a crash never loses an acknowledged change."}]}';
const make = (i: number): TraceAppend => ({
  projectId: 'project_abcdefghijklmnopqrstu',
  projectNumber: 1,
  organizationId: 'organization_abcdefghijklmnopqrstu',
  organizationNumber: 1,
  traceId: randomBytes(16).toString('hex'),
  receivedAtMs: 1790000000000 + i,
  metadataJson: '{"user_id":"user-42","thread_id":"thread-7","labels":["production","chat"]}',
  expectedOutput: undefined,
  spans: [
    {
      promptTokens: 123,
      completionTokens: 45,
      reasoningTokens: null,
      cacheReadInputTokens: null,
      cacheCreationInputTokens: null,
      costNanoUsd: 123456,
      tokensEstimated: false,
      spanId: randomBytes(8).toString('hex'),
      parentId: null,
      type: 'llm',
      name: 'chat completion',
      vendor: 'openai',
      model: 'gpt-4o-mini',
      startedAtMs: 1790000000000,
      finishedAtMs: 1790000001000,
      firstTokenAtMs: 1790000000300,
      inputJson: input,
      outputJson: output,
      paramsJson: '{"temperature":0.2,"max_tokens":256}',
      cachedTokensInPrompt: null,
      otherMetricsJson: null,
      costSource: 'registry',
      errorJson: null,
      contextsJson: null,
    },
  ],
  evaluations: [],
  requests: [
    {
      spanIndex: 0,
      gatewayRequestId: 'req_' + randomBytes(15).toString('hex'),
      requestType: 'chat',
      errorClass: null,
      httpStatus: null,
      rateVersion: 'registry@2026-07-01',
    },
  ],
});
const bodyBytes = 911;
const url = process.argv[2] ?? 'sqlite:/tmp/spike/b.db';
const file = url.slice(7);
const N = Number(process.argv[3] ?? 100000),
  C = Number(process.argv[4] ?? 64);
for (const s of ['', '-wal', '-shm', '.lock']) rmSync(file + s, { force: true });
const log = { warn: console.warn, error: console.error };
const t0 = performance.now();
const store = await openStore({ url, queueMaxBytes: 64 << 20, log });
console.log('open ms', (performance.now() - t0).toFixed(0), 'rss', (process.memoryUsage().rss / 1048576).toFixed(0));
const items = Array.from({ length: N }, (_, i) => make(i));
const lat: number[] = [];
const cpu0 = process.threadCpuUsage();
const all0 = process.cpuUsage();
const t = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: C }, async () => {
    while (next < N) {
      const item = items[next++]!;
      const s = performance.now();
      await store.traces.append(item);
      lat.push(performance.now() - s);
    }
  }),
);
const dt = performance.now() - t;
const cpu = process.threadCpuUsage(cpu0);
const all = process.cpuUsage(all0);
lat.sort((a, b) => a - b);
console.log(
  `C=${C} ${((N / dt) * 1000).toFixed(0)}/s p50 ${lat[N >> 1]!.toFixed(2)} p99 ${lat[Math.floor(N * 0.99)]!.toFixed(2)} max ${lat[N - 1]!.toFixed(1)} main cpu us/append ${((cpu.user + cpu.system) / N).toFixed(1)} all cpu us/append ${((all.user + all.system) / N).toFixed(1)} rss ${(process.memoryUsage().rss / 1048576).toFixed(0)}`,
);
await store.close();
if (file !== ':memory:') {
  const size = statSync(file).size;
  console.log('bytes/trace', (size / N).toFixed(0), 'ratio to 911', (size / N / bodyBytes).toFixed(3));
}
