/** Takes texts back from ClickHouse into the database, for an installation that leaves it. */

import pg from 'pg';
import { openTextStore, type TextStore } from '../../clickhouse/texts.ts';
import { messageOf, StartError } from '../../errors.ts';
import { placeOf } from '../../rows/moved-text.ts';
import { connectionOf, settleEncryption } from './address.ts';
import { cutByBytes } from './text-copies.ts';
import {
  BY_KEY,
  COLUMNS,
  type Column,
  FIND_OWNER,
  FORGET_COPIES,
  FORGET_OWNER,
  HOLD_LOCK,
  LIST_REFERENCES,
  LOCK_ALL,
  type Owner,
  type References,
  SET_RETURNED,
} from './text-moves.ts';

type ReturnOptions = {
  readonly url: string;
  readonly telemetryUrl: string;
  /** The texts that spans lose for ever: those that ClickHouse lacks, or all of a ClickHouse that lost everything. */
  readonly drops: 'none' | 'missing' | 'all';
};
export type Returned = { readonly returned: number; readonly dropped: number };

/** Hidden traces have negative numbers of projects. */
const BEFORE_ALL = [-(2 ** 31), 0, ''];

/**
 * Other processes may run; none moves texts meanwhile. Continues where it was interrupted. Throws StartError, also if ClickHouse
 * lacks texts: all others are back then.
 */
export async function returnTexts({ url, telemetryUrl, drops }: ReturnOptions): Promise<Returned> {
  const client = new pg.Client(connectionOf(await settleEncryption(url)));
  // Its statements fail.
  client.on('error', () => undefined);
  const texts = openTextStore(telemetryUrl);
  try {
    await client.connect();
    // Ends with the connection.
    await client.query(HOLD_LOCK);
    await client.query(BY_KEY);
    await refuseOther(client, texts, drops);
    return await returnAll(client, texts, drops !== 'none');
  } catch (error) {
    if (error instanceof StartError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new StartError(`texts are not all back: ${messageOf(cause)}; run the same command again to continue`, {
      cause,
    });
  } finally {
    await client.end();
    await texts.close();
  }
}

async function refuseOther(client: pg.Client, texts: TextStore, drops: ReturnOptions['drops']): Promise<void> {
  const own = (await client.query<Owner>(FIND_OWNER)).rows[0]?.owner ?? null;
  const stored = await texts.readOwner();
  if (own === stored || (stored === null && drops === 'all')) return;
  const what =
    stored === null
      ? 'has no texts: correct SPANDREL_TELEMETRY_URL, or do without all of them for ever with --drop-all'
      : 'has the texts of another database: correct SPANDREL_TELEMETRY_URL';
  throw new StartError(`ClickHouse ${what}`);
}

async function returnAll(client: pg.Client, texts: TextStore, dropsMissing: boolean): Promise<Returned> {
  let [returned, missing] = [0, 0];
  let position: readonly unknown[] = BEFORE_ALL;
  for (;;) {
    const { rows } = await client.query<References>(LIST_REFERENCES, [...position]);
    for (const page of cutByBytes(rows)) {
      const found = await texts.read(page.flatMap((row) => COLUMNS.flatMap((column) => placesIn(row, column))));
      const replacementOf = (row: References, column: Column) => {
        const [place] = placesIn(row, column);
        if (place === undefined) return null;
        const text = found.get(place);
        if (text === undefined) missing += 1;
        else returned += 1;
        return text ?? (dropsMissing ? null : row[column]);
      };
      const replaced = COLUMNS.map((column) => page.map((row) => replacementOf(row, column)));
      await client.query('BEGIN');
      await client.query(LOCK_ALL, [page.map(({ sequence }) => sequence)]);
      await client.query(SET_RETURNED, [
        ...[page.map(({ projectNumber }) => projectNumber), page.map(({ sequence }) => sequence)],
        page.map(({ spanId }) => spanId),
        ...COLUMNS.flatMap((column, index) => [page.map((row) => row[column]), replaced[index]]),
      ]);
      await client.query('COMMIT');
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    position = [last.projectNumber, last.sequence, last.spanId];
  }
  if (missing > 0 && !dropsMissing) {
    throw new StartError(
      `ClickHouse lacks ${missing} texts: restore its backup and run the same command again, or with --drop-missing to do without them for ever`,
    );
  }
  // A move after this one begins with another ClickHouse, because this one has copies of traces that are removed meanwhile.
  await client.query(FORGET_COPIES);
  await client.query(FORGET_OWNER);
  return { returned, dropped: missing };
}

function placesIn(row: References, column: Column): readonly string[] {
  const reference = row[column];
  const place = reference === null ? null : placeOf(reference);
  return place === null ? [] : [place];
}
