import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import type { Span } from '../../src/domain/traces/trace.ts';
import { type ClickHouse, openClickHouse } from '../../src/storage/clickhouse/client.ts';
import { openTextStore } from '../../src/storage/clickhouse/texts.ts';
import { returnTexts } from '../../src/storage/open.ts';
import { runCli } from '../cli/run-cli.ts';
import { PROJECT, randomHex, sampleAppend, sampleSpan } from '../storage/conformance/samples.ts';
import { traceConformance } from '../storage/conformance/store.ts';
import { until } from '../support/temp.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { type ClickHouseSubject, moveTexts, openMoved, openPostgres } from './subjects.ts';

describe('PostgreSQL with every text in ClickHouse', () => {
  let moved = 0;
  traceConformance(() =>
    openMoved((texts) => {
      moved += texts;
    }),
  );
  afterAll(() => {
    expect(moved).toBeGreaterThan(5_000);
  });
});

const NO_TEXTS = { inputJson: null, outputJson: null, contextsJson: null };
const AFTER_MS = 10_000;
/** A mover that found nothing to do looks again after a hundredth, and at a project that had to wait after five of them. */
const LOOKS_AGAIN_MS = (6 * AFTER_MS) / 100;

describe('the move of texts', () => {
  const withSubject = (body: (subject: ClickHouseSubject, clickHouse: ClickHouse) => Promise<void>) => async () => {
    const subject = await openPostgres({ moveTexts: { afterMs: AFTER_MS } });
    const clickHouse = openClickHouse(subject.telemetry.url);
    const [clock] = await subject.read(`SELECT pg_get_functiondef('clock_ms'::regproc) AS text`);
    const reopen: ClickHouseSubject['reopen'] = async (...address) => {
      // A store opens no database with another clock.
      await subject.execute(String(clock?.text));
      return await subject.reopen(...address);
    };
    try {
      await body({ ...subject, reopen }, clickHouse);
    } finally {
      await clickHouse.close();
      await subject.dispose();
    }
  };

  it(
    'copies texts first, and takes them out of the database once the copies have been there for a while',
    withSubject(async (subject, clickHouse) => {
      const append = longAppend();
      await subject.store.traces.append(append);
      await moveTexts(subject.store);
      expect([await countMoved(subject), await countCopies(clickHouse)]).toEqual([0, 3]);
      await pass(subject, AFTER_MS);
      expect([await countMoved(subject), await countCopies(clickHouse)]).toEqual([3, 3]);
      expect(await spansOf(subject.store, append.traceId)).toEqual(append.spans);
      const bytes = await subject.read('SELECT sum(octet_length(input) + octet_length(output)) AS bytes FROM spans');
      expect(Number(bytes[0]?.bytes)).toBeLessThan(400);
    }),
  );

  it(
    'leaves short texts, and texts of traces that have changed meanwhile',
    withSubject(async (subject) => {
      const append = longAppend();
      const { traceId } = append;
      await subject.store.traces.append(append);
      await subject.store.traces.append(sampleAppend());
      await moveTexts(subject.store);
      const [nowMs] = await subject.read('SELECT clock_ms() AS now');
      await subject.store.traces.append(sampleAppend({ traceId, receivedAtMs: Number(nowMs?.now) }));
      await pass(subject, AFTER_MS / 2);
      expect(await countMoved(subject)).toBe(0);
      await pass(subject, AFTER_MS);
      expect(await countMoved(subject)).toBe(3);
    }),
  );

  it.each([[['span_texts']], [['span_texts', 'removed_span_texts', 'span_texts_owner']]])(
    'copies texts again that ClickHouse lost before they were moved: %j',
    (lost) =>
      withSubject(async (subject, clickHouse) => {
        const append = longAppend();
        await subject.store.traces.append(append);
        await moveTexts(subject.store);
        for (const table of lost) await clickHouse.command(`DROP TABLE ${table} SYNC`);
        await expect(pass(subject, AFTER_MS)).rejects.toMatchObject({ code: 'unavailable' });
        await pass(subject, 0);
        expect([await countMoved(subject), await countCopies(clickHouse)]).toEqual([0, 3]);
        await pass(subject, AFTER_MS);
        expect(await countMoved(subject)).toBe(3);
        expect(await spansOf(subject.store, append.traceId)).toEqual(append.spans);
      })(),
  );

  it(
    'refuses to read texts while ClickHouse is away or lacks them, moves none then, and does without them where it is told to',
    withSubject(async (subject, clickHouse) => {
      const append = longAppend();
      await subject.store.traces.append(append);
      await moveTexts(subject.store);
      await pass(subject, AFTER_MS);
      await subject.store.close();
      const away = await subject.reopen('clickhouse://127.0.0.1:9/nowhere');
      await expect(spansOf(away, append.traceId)).rejects.toMatchObject({ code: 'unavailable' });
      expect(await away.traces.find(PROJECT.number, append.traceId)).not.toBeNull();
      await away.close();
      await expect(subject.reopen(null)).rejects.toThrow(/set SPANDREL_TELEMETRY_URL/);

      for (const table of ['span_texts', 'span_texts_owner']) await clickHouse.command(`TRUNCATE TABLE ${table}`);
      const store = await subject.reopen();
      await expect(spansOf(store, append.traceId)).rejects.toMatchObject({ code: 'unavailable' });
      await store.traces.append({ ...longAppend(), receivedAtMs: append.receivedAtMs + 1 });
      await moveTexts(store);
      expect(await countCopies(clickHouse)).toBe(0);
      const asked = { url: subject.url, telemetryUrl: subject.telemetry.url };
      for (const drops of ['none', 'missing'] as const)
        await expect(returnTexts({ ...asked, drops })).rejects.toThrow(/has no texts: correct SPANDREL_TELEMETRY_URL/);
      expect(await countMoved(subject)).toBe(3);
      expect(await returnTexts({ ...asked, drops: 'all' })).toEqual({ returned: 0, dropped: 3 });
      expect(await spansOf(store, append.traceId)).toEqual(append.spans.map((span) => ({ ...span, ...NO_TEXTS })));
      await store.close();
    }),
  );

  it(
    'does not touch the texts of another database',
    withSubject(async (subject, clickHouse) => {
      await clickHouse.command('CREATE TABLE span_texts_owner (owner String) ENGINE = MergeTree ORDER BY owner');
      await clickHouse.insert('span_texts_owner', [{ owner: 'another' }]);
      await subject.store.traces.append(longAppend());
      await moveTexts(subject.store);
      await pass(subject, AFTER_MS);
      expect([await countMoved(subject), await countCopies(clickHouse)]).toEqual([0, 0]);
    }),
  );

  it(
    'never refers to a text that is on its way out',
    withSubject(async (subject) => {
      const append = longAppend();
      await subject.store.traces.append(append);
      await moveTexts(subject.store);
      await pass(subject, AFTER_MS);
      await subject.execute(
        `INSERT INTO removed_texts (place) SELECT 'other ' || n FROM generate_series(1, 6000) AS n`,
      );
      await subject.store.traces.append({ ...append, receivedAtMs: append.receivedAtMs + 1 });
      expect(await countMoved(subject)).toBe(0);
      await pass(subject, AFTER_MS);
      await pass(subject, AFTER_MS);
      expect(await countMoved(subject)).toBe(3);
      await purgeNow(subject, 'removed_span_texts');
      expect(await spansOf(subject.store, append.traceId)).toEqual(append.spans);
    }),
  );

  it(
    'removes a removed trace from ClickHouse at once, copied or moved, and some days later what a span no longer has',
    withSubject(async (subject, clickHouse) => {
      const { store } = subject;
      const [replaced, removed, kept] = [longAppend(), longAppend(), longAppend()];
      for (const append of [replaced, removed, kept]) await store.traces.append(append);
      await moveTexts(store);
      await pass(subject, AFTER_MS);
      expect(await countMoved(subject)).toBe(9);
      const copied = { ...longAppend(), receivedAtMs: kept.receivedAtMs + 1 };
      await store.traces.append(copied);
      await pass(subject, 0);
      expect(await countCopies(clickHouse)).toBe(12);
      await store.traces.append({ ...replaced, spans: replaced.spans.map((span) => ({ ...span, ...NO_TEXTS })) });
      for (const { traceId } of [removed, copied]) {
        await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId, expiredBeforeMs: null });
      }
      await pass(subject, 0);
      const left = () => clickHouse.rows<{ id: string }>('SELECT DISTINCT span_id AS id FROM span_texts ORDER BY id');
      await purgeNow(subject, null);
      expect((await left()).map(({ id }) => id)).toEqual(
        [...replaced.spans, ...kept.spans].map((each) => each.spanId).sort(),
      );
      await purgeNow(subject, 'removed_span_texts');
      expect((await left()).map(({ id }) => id)).toEqual(kept.spans.map(({ spanId }) => spanId));
    }),
  );

  it(
    'keeps texts that a database refers to again which was put back to yesterday',
    withSubject(async (subject) => {
      const append = longAppend();
      await subject.store.traces.append(append);
      await moveTexts(subject.store);
      await pass(subject, AFTER_MS);
      expect(await countMoved(subject)).toBe(3);
      const tables = ['spans', 'text_owner', 'text_moves'];
      for (const table of tables) await subject.execute(`CREATE TABLE yesterday_${table} AS SELECT * FROM ${table}`);
      await subject.store.traces.append({ ...append, spans: append.spans.map((span) => ({ ...span, ...NO_TEXTS })) });
      await pass(subject, 0);
      await subject.execute('ALTER TABLE spans DISABLE TRIGGER USER');
      for (const table of tables)
        await subject.execute(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM yesterday_${table}`);
      await pass(subject, 0);
      await purgeNow(subject, 'removed_span_texts');
      expect(await spansOf(subject.store, append.traceId)).toEqual(append.spans);
    }),
  );

  it(
    'removes very many texts at once',
    withSubject(async (subject, clickHouse) => {
      const texts = openTextStore(subject.telemetry.url);
      const places = Array.from({ length: 12_000 }, (_, item) => `mfk3l2a9-0123456789abcdef ${item}`);
      await texts.remove(places, 1);
      const [row] = await clickHouse.rows<{ count: number }>(
        'SELECT toUInt32(count()) AS count FROM removed_span_texts',
      );
      expect(row?.count).toBe(12_000);
      await texts.close();
    }),
  );

  it(
    'is undone by a command, which takes every text back',
    withSubject(async (subject, clickHouse) => {
      const appends = Array.from({ length: 20 }, longAppend);
      for (const append of appends) await subject.store.traces.append(append);
      await moveTexts(subject.store);
      await pass(subject, AFTER_MS);
      expect(await countMoved(subject)).toBe(60);
      await subject.store.close();
      const environment = {
        SPANDREL_DATABASE_URL: subject.url,
        SPANDREL_TELEMETRY_URL: subject.telemetry.url,
        SPANDREL_SECRET: TEST_SECRET,
      };
      const moving = await runCli(['return-texts'], { ...environment, SPANDREL_TELEMETRY_MOVE_AFTER_HOURS: '48' });
      expect(moving).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('unset SPANDREL_TELEMETRY_MOVE_AFTER_HOURS'),
      });
      const returned = await runCli(['return-texts'], environment);
      expect(returned).toEqual({ code: 0, stdout: '60 texts are back in the database\n', stderr: '' });
      expect(await countMoved(subject)).toBe(0);
      await clickHouse.command('DROP TABLE span_texts SYNC');
      const store = await subject.reopen(null);
      for (const { traceId, spans } of appends) expect(await spansOf(store, traceId)).toEqual(spans);
      await store.close();
    }),
  );

  it('loses and mixes up nothing, whatever fails between its steps', { timeout: 240_000 }, async () => {
    const subject = await openPostgres({ moveTexts: { afterMs: 0 } });
    await subject.store.close();
    const proxy = await startFaultyProxy(subject.telemetry.url);
    const store = await subject.reopen(proxy.url);
    const stored = new Map<string, readonly Span[]>();
    let failures = 0;
    for (let round = 0; round < 200; round += 1) {
      const append = longAppend();
      const [known] = [...stored.keys()].slice(round % 7);
      const traceId = round % 3 === 0 && known !== undefined ? known : append.traceId;
      const old = stored.get(traceId) ?? [];
      const resent = old.slice(0, 1).map((span) => ({ ...span, outputJson: longText('json') }));
      const receivedAtMs = append.receivedAtMs + round;
      await store.traces.append({ ...append, traceId, receivedAtMs, spans: [...resent, ...append.spans] });
      stored.set(traceId, [...resent, ...old.slice(1), ...append.spans]);
      proxy.failNext(round);
      if (round % 5 === 4) void killMover(subject);
      await moveTexts(store).catch(() => {
        failures += 1;
      });
    }
    proxy.failNext(null);
    await delay(100);
    await moveTexts(store);
    expect(failures).toBeGreaterThan(50);
    const [left] = await subject.read('SELECT count(*) AS count FROM spans WHERE octet_length(input) > 512');
    expect(Number(left?.count)).toBe(0);
    for (const [traceId, spans] of stored) {
      const found = await spansOf(store, traceId);
      expect(new Map(found.map((span) => [span.spanId, span]))).toEqual(
        new Map(spans.map((span) => [span.spanId, span])),
      );
    }
    await store.close();
    proxy.close();
    await subject.dispose();
  });
});

function longText(type: 'text' | 'json'): string {
  const value = `${randomHex(8)} "\\ 😀 ${'word '.repeat(200)}`;
  return type === 'text' ? JSON.stringify({ type, value }) : JSON.stringify({ type, value: { value } });
}

function longAppend() {
  const span = sampleSpan({
    inputJson: longText('text'),
    outputJson: longText('json'),
    contextsJson: JSON.stringify([{ document_id: 'd', chunk_id: null, content: longText('text') }]),
  });
  return sampleAppend({ spans: [span], requests: [] });
}

async function spansOf(store: Store, traceId: string): Promise<readonly Span[]> {
  const trace = await store.traces.find(PROJECT.number, traceId);
  if (trace === null) throw new Error('the trace is not there');
  const stored = { ...trace, projectNumber: PROJECT.number };
  const order = await store.traces.spanOrder(stored, { after: null, limit: 1_000 });
  return await store.traces.spans(
    stored,
    order.map(({ id }) => id),
  );
}

async function countMoved(subject: ClickHouseSubject): Promise<number> {
  const [row] = await subject.read(
    'SELECT count(moved_place(input)) + count(moved_place(output)) + count(moved_place(contexts)) AS count FROM spans',
  );
  return Number(row?.count);
}

async function countCopies(clickHouse: ClickHouse): Promise<number> {
  const [row] = await clickHouse.rows<{ count: number }>('SELECT toUInt32(count()) AS count FROM span_texts');
  return row?.count ?? 0;
}

/** Purges, all that is in a table whatever its time is. */
async function purgeNow({ telemetry }: ClickHouseSubject, due: string | null): Promise<void> {
  const [clickHouse, texts] = [openClickHouse(telemetry.url), openTextStore(telemetry.url, { purgeHours: 0 })];
  const settle = () =>
    until(async () => (await clickHouse.rows('SELECT 1 FROM system.mutations WHERE NOT is_done')).length === 0);
  if (due !== null) await clickHouse.command(`ALTER TABLE ${due} UPDATE purge_after = now64(3, 'UTC') WHERE true`);
  await settle();
  // Instants of mutations are whole seconds.
  await delay(1_100);
  await texts.purge();
  await settle();
  await Promise.all([clickHouse.close(), texts.close()]);
}

/** Sets the clock of the database ahead, and lets the mover work. */
async function pass(subject: ClickHouseSubject, aheadMs: number): Promise<void> {
  if (aheadMs > 0) {
    const [now] = await subject.read(
      'SELECT clock_ms() - floor(extract(epoch FROM clock_timestamp()) * 1000) AS ahead',
    );
    const ahead = Math.round(Number(now?.ahead) / 1_000) * 1_000 + aheadMs;
    await subject.execute(`CREATE OR REPLACE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql AS $$
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${ahead} $$`);
  }
  await delay(LOOKS_AGAIN_MS);
  await moveTexts(subject.store);
}

/** Ends the connection of the mover, wherever it is. */
async function killMover(subject: ClickHouseSubject): Promise<void> {
  await delay(Math.random() * 20);
  await subject.read(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = ${0x5350_4d56}`,
  );
}

/** Fails one of the next requests, before or after ClickHouse has served it. */
async function startFaultyProxy(url: string) {
  const target = new URL(url.replace(/^clickhouse/, 'http'));
  let left: number | null = null;
  let isLate = false;
  const server = createServer((incoming, answer) => {
    const fails = left !== null && left-- === 0;
    if (fails && !isLate) return void incoming.socket.destroy();
    const { method, headers, url: path } = incoming;
    const passed = request({ host: target.hostname, port: target.port, method, headers, path }, (found) => {
      if (fails) return void found.resume().on('end', () => incoming.socket.destroy());
      answer.writeHead(found.statusCode ?? 500, found.headers);
      found.pipe(answer);
    });
    passed.on('error', () => incoming.socket.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `clickhouse://127.0.0.1:${port}${target.pathname}`,
    /** Null: none. */
    failNext(round: number | null): void {
      left = round === null ? null : Math.floor(round / 2) % 6;
      isLate = round !== null && round % 2 === 1;
    },
    close: () => void server.close(() => undefined).closeAllConnections(),
  };
}
