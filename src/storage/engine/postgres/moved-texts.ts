/** Texts that lie in ClickHouse: they are read where a row refers to one, and moved in the background. */

import { unavailableFault } from '../../../domain/fault.ts';
import type { Upkeep } from '../../../domain/store.ts';
import type { TextStore } from '../../clickhouse/texts.ts';
import { StartError } from '../../errors.ts';
import { placeOf } from '../../rows/moved-text.ts';
import type { StoreLog } from '../../store.ts';
import type { Pool, Statement } from './pool.ts';
import { createTextMover, type TextMoving } from './text-mover.ts';
import { IS_ANY_MOVED, READ_LATE } from './text-moves.ts';

/** The names under which queries select the columns that may have a reference, or the beginning of one. */
const TEXTS = ['inputJson', 'outputJson', 'contextsJson', 'slice'] as const;
/** Only whole spans have it. */
const WHOLE = 'contextsJson';
const NO_ADDRESS = 'Texts of older traces are in ClickHouse, which this server has no address of.';
const LOST = 'Texts of this trace were moved to ClickHouse, and are not there. An operator must restore them.';
const PLACES_AT_ONCE = 1_000;
const RETRY_AFTER_SECONDS = 60;
const WARNED_EVERY_MS = 60_000;

type Row = { [Name in (typeof TEXTS)[number]]?: unknown };
type Reference = { readonly row: Row; readonly name: (typeof TEXTS)[number]; readonly place: string };

export type MovedTexts = {
  /** The same pool, but its rows have the texts themselves. */
  readWith(pool: Pool): Pool;
  readonly upkeepWith: (pool: Pool) => readonly Upkeep[];
  close(): Promise<void>;
};

type MovedTextsOptions = {
  readonly telemetryUrl: string | null;
  /** Null: no further texts are moved. */
  readonly moving: TextMoving | null;
  readonly log: StoreLog;
};

/** Throws StartError where texts were moved and no ClickHouse is set. */
export async function openMovedTexts(
  control: Pool,
  { telemetryUrl, moving, log }: MovedTextsOptions,
): Promise<MovedTexts> {
  if (telemetryUrl === null) {
    if ((await control.runStatement(MOVED, [])).length > 0) throw new StartError(NO_TELEMETRY);
    return { readWith: (pool) => withTexts(pool, null, log), upkeepWith: () => [], close: async () => undefined };
  }
  const texts = (await import('../../clickhouse/texts.ts')).openTextStore(telemetryUrl);
  return {
    readWith: (pool) => withTexts(pool, texts, log),
    upkeepWith(pool) {
      const mover = createTextMover({ pool, texts, moving, log });
      return [moving === null ? mover : { ...mover, lateMs: () => readLateMs(control, moving) }];
    },
    close: texts.close,
  };
}

const MOVED: Statement = { name: 'any-moved-text', text: IS_ANY_MOVED };
const NO_TELEMETRY =
  'texts of traces were moved to ClickHouse: set SPANDREL_TELEMETRY_URL to its address; with it, spandrel return-texts takes them back';

const LATE: Statement = { name: 'late-texts', text: READ_LATE };

async function readLateMs(control: Pool, { afterMs }: TextMoving): Promise<number> {
  const [row] = await control.runStatement<{ lateMs: number }>(LATE, [Math.round(afterMs / 2)]);
  return row?.lateMs ?? 0;
}

/** `texts` null: no ClickHouse is set, and none was when the process started. */
function withTexts(pool: Pool, texts: Pick<TextStore, 'read'> | null, log: StoreLog): Pool {
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  function warn(missing: number): void {
    if (performance.now() - warnedAtMs < WARNED_EVERY_MS) return;
    warnedAtMs = performance.now();
    log.error(
      { missing },
      'ClickHouse lacks texts that were moved there: correct SPANDREL_TELEMETRY_URL, or restore its backup',
    );
  }

  /** Lists and searches do without a text. What reads whole spans may write them again, or judge them. */
  async function fill(references: readonly Reference[], isWhole: boolean): Promise<void> {
    if (texts === null) throw unavailableFault(NO_ADDRESS, RETRY_AFTER_SECONDS);
    let missing = 0;
    for (let start = 0; start < references.length; start += PLACES_AT_ONCE) {
      const some = references.slice(start, start + PLACES_AT_ONCE);
      const found = await texts.read([...new Set(some.map(({ place }) => place))]);
      for (const { row, name, place } of some) {
        const text = found.get(place);
        if (text === undefined) missing += 1;
        row[name] = text ?? null;
      }
    }
    if (missing > 0) warn(missing);
    if (missing > 0 && isWhole) throw unavailableFault(LOST, RETRY_AFTER_SECONDS);
  }

  return {
    ...pool,
    runStatement: async <Found>(...asked: Parameters<Pool['runStatement']>) => {
      const rows = await pool.runStatement<Found>(...asked);
      const references = referencesIn(rows as readonly Row[]);
      if (references.length > 0) await fill(references, WHOLE in (rows[0] ?? {}));
      return rows;
    },
  };
}

/** Every row has the columns of the first one. */
function referencesIn(rows: readonly Row[]): readonly Reference[] {
  const [first] = rows;
  const names = first === undefined ? [] : TEXTS.filter((name) => name in first);
  if (names.length === 0) return [];
  return rows.flatMap((row) =>
    names.flatMap((name) => {
      const stored = row[name];
      const place = typeof stored === 'string' ? placeOf(stored) : null;
      return place === null ? [] : [{ row, name, place }];
    }),
  );
}
