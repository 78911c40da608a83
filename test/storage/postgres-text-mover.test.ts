import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import type { SpanText, TextStore, WrittenText } from '../../src/storage/clickhouse/texts.ts';
import { closePools, openPools, type Pools } from '../../src/storage/engine/postgres/pool.ts';
import { createTextMover } from '../../src/storage/engine/postgres/text-mover.ts';
import { openStore } from '../../src/storage/open.ts';
import { packTyped, unpackTyped } from '../../src/storage/rows/codes.ts';
import { MOVED_MIN_BYTES, placeOf, referenceTo, startOfStored } from '../../src/storage/rows/moved-text.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { PROJECT, sampleAppend, sampleSpan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const LONG = JSON.stringify({ type: 'text', value: 'long '.repeat(200) });
const NO_TEXTS = { inputJson: null, outputJson: null, contextsJson: null };

const HOUR_MS = 3_600_000;
const PLACE = 'mfk3l2a9-0123456789abcdef 12345';
const STARTS = [
  '{"type":"text","value":"😀😀',
  '{"type":"chat_messages","value":[{"role":"user"',
  '[{"a":1},',
  '"text"',
];

let database: Awaited<ReturnType<typeof createPostgresTestDatabase>>;
let [store, pools]: [Store, Pools] = [] as never;
let texts: ReturnType<typeof keepTexts>;
let warnings: string[];

beforeEach(async () => {
  database = await createPostgresTestDatabase();
  const { url } = database;
  store = await openStore({ url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  pools = openPools({ url, connectionsMax: 2, mayLoseWrites: false });
  texts = keepTexts();
  warnings = [];
});
afterEach(async () => {
  await store.close();
  await closePools(pools);
  await database.remove();
});

describe('the mover of texts', () => {
  it('leaves every text where it is while it may not be read elsewhere, or differs there', async () => {
    await append(LONG);
    await move({ afterMs: 0 }, { list: async () => [] });
    expect(await storedTexts()).toEqual([{ isMoved: false, bytes: expect.any(Number) }]);
    expect(warnings).toEqual(['ClickHouse lacks texts that it had: they are copied again']);
    for (const [place, text] of texts.kept) texts.kept.set(place, { ...text, text: `${text.text} ` });
    await move();
    expect(await storedTexts()).toEqual([{ isMoved: false, bytes: expect.any(Number) }]);
  });

  it('moves a text once, removes the copies that nothing needs, and all of a trace that is removed', async () => {
    const { traceId } = await append(LONG);
    await move({ afterMs: 0 }, { list: async () => [] });
    expect(texts.count()).toBeGreaterThan(1);
    await query(database.url, 'DELETE FROM text_moves');
    await move();
    expect(await storedTexts()).toEqual([{ isMoved: true, bytes: expect.any(Number) }]);
    expect(texts.count()).toBe(1);
    await move();
    expect(texts.count()).toBe(1);
    await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, traceId, expiredBeforeMs: null });
    await move();
    expect(texts.count()).toBe(0);
  });

  it('never refers to a copy that a span gave up a moment ago', async () => {
    await append(LONG);
    await move({ afterMs: 0 }, { list: async () => [] });
    const list: TextStore['list'] = async (spans) => {
      const found = await texts.store.list(spans);
      const places = found.map(({ place }) => `('${place}')`).join(', ');
      // As if an append had just noted them.
      if (found.length > 0) await query(database.url, `INSERT INTO removed_texts (place) VALUES ${places}`);
      return found;
    };
    await query(database.url, `UPDATE text_moves SET moved_to = ${Number.MIN_SAFE_INTEGER}, moved_id = ''`);
    await moveOnce({ list });
    expect(await storedTexts()).toEqual([{ isMoved: false, bytes: expect.any(Number) }]);
    await move();
    expect(await storedTexts()).toEqual([{ isMoved: true, bytes: expect.any(Number) }]);
    expect(texts.count()).toBe(1);
  });

  it('lets a text go whose span is sent again with another', async () => {
    const sent = await append(LONG);
    await move();
    expect(texts.count()).toBe(1);
    await store.traces.append({ ...sent, receivedAtMs: sent.receivedAtMs + 1 });
    await move();
    expect([texts.count(), await storedTexts()]).toEqual([1, [{ isMoved: true, bytes: expect.any(Number) }]]);
    await store.traces.append({ ...sent, spans: sent.spans.map((span) => ({ ...span, inputJson: null })) });
    await move();
    expect(texts.count()).toBe(0);
  });

  it('moves fewer texts at once where the database takes too long for all of them', async () => {
    const longer = JSON.stringify({ type: 'text', value: 'long '.repeat(15_000) });
    const spans = Array.from({ length: 3 }, () => sampleSpan({ ...NO_TEXTS, inputJson: longer }));
    await store.traces.append(sampleAppend({ spans }));
    await query(
      database.url,
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.2); RETURN NEW; END $$;
       CREATE TRIGGER slow BEFORE UPDATE ON spans FOR EACH ROW EXECUTE FUNCTION slow()`,
    );
    const { step } = createTextMover({ pool: pools.index, texts: texts.store, moving: { afterMs: 0 }, log: quietLog });
    await expect(step()).rejects.toMatchObject({ code: 'unavailable' });
    while ((await step()) === 'more');
    expect((await storedTexts()).map(({ isMoved }) => isMoved)).toEqual([true, true, true]);
  });

  it('says for how long texts have been due to be copied', async () => {
    await append(LONG);
    await query(database.url, `UPDATE traces SET updated_at = clock_ms() - ${7 * HOUR_MS}`);
    const lateHours = async (afterHours: number) => {
      const telemetryUrl = 'clickhouse://127.0.0.1:9/away';
      const moving = { url: database.url, telemetryUrl, moveTexts: { afterMs: afterHours * HOUR_MS } };
      const opened = await openStore({ ...moving, queueMaxBytes: 1_024, log: quietLog });
      const ms = await opened.upkeep.find(({ name }) => name === 'moving texts')?.lateMs?.();
      await opened.close();
      return Math.floor((ms ?? Number.NaN) / HOUR_MS);
    };
    expect([await lateHours(2), await lateHours(10), await lateHours(20)]).toEqual([6, 2, 0]);
    await query(database.url, `UPDATE traces SET updated_at = clock_ms() - ${7 * HOUR_MS}`);
    await move();
    expect(await lateHours(2)).toBe(0);
  });

  it('leaves a reference that has the place and the beginning of the text, and is shorter than any text that moves', async () => {
    for (const start of STARTS) {
      const text = packTyped(`${start}${'😀'.repeat(MOVED_MIN_BYTES)}"}`) ?? '';
      const sql = referenceTo(quote(PLACE), quote(text));
      const [row] = await query(database.url, `SELECT ${sql} AS reference, moved_place(${sql}) AS place`);
      const reference = String(row?.reference);
      expect([row?.place, placeOf(reference)]).toEqual([PLACE, PLACE]);
      expect(Buffer.byteLength(reference)).toBeLessThan(MOVED_MIN_BYTES);
      const beginning = startOfStored(reference.slice(0, 128));
      expect(unpackTyped(beginning)?.slice(0, 24)).toBe(unpackTyped(text)?.slice(0, 24));
    }
  });

  it('is not opened without the address of the texts', async () => {
    await append(LONG);
    await move();
    await expect(openStore({ url: database.url, queueMaxBytes: 1_024, log: quietLog })).rejects.toThrow(
      /set SPANDREL_TELEMETRY_URL/,
    );
  });
});

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

async function append(inputJson: string) {
  const sent = sampleAppend({ spans: [sampleSpan({ ...NO_TEXTS, inputJson })] });
  await store.traces.append(sent);
  return sent;
}

async function moveOnce(broken: Partial<TextStore>): Promise<void> {
  const log = { warn: () => undefined, error: () => undefined };
  await createTextMover({
    pool: pools.index,
    texts: { ...texts.store, ...broken },
    moving: { afterMs: 0 },
    log,
  }).step();
}

/** Does what there is to do. */
async function move(moving = { afterMs: 0 }, broken: Partial<TextStore> = {}): Promise<void> {
  const log = { warn: (_: object, message: string) => warnings.push(message), error: () => undefined };
  const { step } = createTextMover({ pool: pools.index, texts: { ...texts.store, ...broken }, moving, log });
  while ((await step()) === 'more');
}

async function storedTexts() {
  return await query(
    database.url,
    'SELECT moved_place(input) IS NOT NULL AS "isMoved", octet_length(input) AS bytes FROM spans',
  );
}

type Kept = Omit<WrittenText, 'digest'> & SpanText;

/** Texts as ClickHouse would have them. */
function keepTexts() {
  const kept = new Map<string, Kept>();
  const removed = new Set<string>();
  let last = 0;
  let owner: string | null = null;
  const drop = (places: readonly string[]) => {
    for (const place of places) removed.add(place);
  };
  const store: TextStore = {
    readOwner: async () => owner,
    storeOwner: async (given) => {
      owner = given;
    },
    read: async (places) => new Map(places.flatMap((place) => [[place, kept.get(place)?.text ?? '']])),
    write: async (written, writtenAtMs) => {
      for (const text of written) {
        last += 1;
        kept.set(`batch ${last}`, { ...text, writtenAtMs, place: `batch ${last}` });
      }
    },
    list: async (spans) =>
      [...kept.values()]
        .filter(({ place }) => !removed.has(place))
        .filter((each) => spans.some(({ sequence, spanId }) => each.sequence === sequence && each.spanId === spanId))
        .map(({ text, ...each }) => ({ ...each, digest: hash('sha256', text) })),
    forgetRemovals: async () => undefined,
    remove: async (places) => drop(places),
    removeTraces: async (traces) =>
      drop(
        [...kept.values()]
          .filter((each) => traces.some(({ sequence }) => sequence === each.sequence))
          .map(({ place }) => place),
      ),
    purge: async () => undefined,
    close: async () => undefined,
  };
  return { kept, store, count: () => [...kept.keys()].filter((place) => !removed.has(place)).length };
}
