/**
 * Moves long texts of spans to ClickHouse once their trace has not changed for a while. They are copied after half of that time,
 * and leave the database after all of it, if what ClickHouse has then is what the database has, and was written half of that
 * time ago: a ClickHouse that is put back to a backup younger than that loses nothing. One process at a time does it.
 */

import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Upkeep } from '../../../domain/store.ts';
import type { TextStore, WrittenText } from '../../clickhouse/texts.ts';
import { messageOf } from '../../errors.ts';
import { MOVED_MIN_BYTES } from '../../rows/moved-text.ts';
import type { StoreLog } from '../../store.ts';
import { isCancelled, toFault } from './failures.ts';
import type { Pool } from './pool.ts';
import {
  BYTES_AT_ONCE,
  choosePlaces,
  createCopies,
  cutByBytes,
  readAgain,
  readDigests,
  readTexts,
} from './text-copies.ts';
import {
  advance,
  BEGIN,
  BEGIN_PROJECT,
  CLOCK,
  COLUMNS,
  LIST_LEAVING,
  LOCK_TRACES,
  MOVER_LOCK,
  NOTE_MOVED,
  type Owner,
  SET_REFERENCES,
  type SizedSpan,
  type Trace,
} from './text-moves.ts';
import { conveyRemoved, findTextOwner, refuseOlder, removeSurplus } from './text-owner.ts';
import { createTextWalk, type WalkTurn } from './text-walk.ts';
import { createTextWrites } from './text-writes.ts';
import { whileLocked } from './transaction.ts';

export type TextMoverDeps = {
  readonly pool: Pool;
  readonly texts: TextStore;
  /** Null: texts stay where they are, and those of removed traces are removed. */
  readonly moving: TextMoving | null;
  readonly log: StoreLog;
};

export type TextMoving = {
  /** How long a trace has not changed before its texts are moved. */
  readonly afterMs: number;
  /** Shorter texts stay. */
  readonly minBytes?: number;
};

const STEP_MAX_MS = 2_000;
const PURGE_INTERVAL_MS = 3_600_000;
/** Looking for work in many projects takes a while. */
const IDLE_MAX_MS = 60_000;
const IDLE_SHARE = 100;
/** A project waits for so many looks when one of its texts has to stay. */
const WAITED_LOOKS = 5;
/** Of text in a page that is moved, of a project whose pages took too long. */
const BYTES_MIN = 64 * 1024;
const NEVER: TextMoving = { afterMs: Number.POSITIVE_INFINITY };

type Turn = WalkTurn & { readonly owner: Owner };
type Page = {
  readonly projectNumber: number;
  readonly traces: readonly Trace[];
  readonly page: readonly SizedSpan[];
  readonly written: readonly WrittenText[];
};

export function createTextMover({ pool, texts, moving, log }: TextMoverDeps): Upkeep {
  const { afterMs, minBytes = MOVED_MIN_BYTES } = moving ?? NEVER;
  const halfMs = afterMs / 2;
  const idleMs = Math.min(IDLE_MAX_MS, afterMs / IDLE_SHARE);
  const walk = createTextWalk({ afterMs, minBytes });
  /** Of the pages of projects that the database took too long to move: appends wait for the locks of a page. */
  const pageBytes = new Map<number, number>();
  let idleUntilMs = Number.NEGATIVE_INFINITY;
  let purgedAtMs = Number.NEGATIVE_INFINITY;
  let areOlderRefused = false;
  /** When projects are looked at again of which a text had to stay. */
  const waiting = new Map<number, number>();

  async function step(client: pg.PoolClient): Promise<'more' | 'done'> {
    const owner = await findTextOwner(client, texts, { isNew: moving !== null, log });
    if (owner === null) return 'done';
    // First of all: what leaves must not be referred to anew.
    if (await conveyRemoved(client, texts, owner)) return 'more';
    await purgeWhenDue();
    if (moving === null) return 'done';
    const turn = { client, owner, nowMs: await readClock(client), endsAtMs: performance.now() + STEP_MAX_MS };
    let failure: unknown = null;
    const note = (error: unknown) => {
      failure ??= error;
      return true;
    };
    const isCopied = await copySome(turn).catch(note);
    const isMoved = await moveSome({ ...turn, endsAtMs: performance.now() + STEP_MAX_MS }).catch(note);
    if (failure !== null) throw failure;
    return isCopied && isMoved ? 'done' : 'more';
  }

  async function purgeWhenDue(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - purgedAtMs < PURGE_INTERVAL_MS) return;
    purgedAtMs = nowMs;
    await texts.purge().catch((error: unknown) => {
      log.warn({ reason: messageOf(error) }, 'ClickHouse did not begin to remove texts from its disk');
    });
  }

  /** Whether all that is due was copied. */
  async function copySome(turn: Turn): Promise<boolean> {
    const { client } = turn;
    const writes = createTextWrites({
      readClock: () => readClock(client),
      write: texts.write,
      remove: (places) => removeSurplus(turn, texts, places),
    });
    const isAll = walk.forEachProject(turn, 'copied', async (project) => {
      const { projectNumber } = project;
      await client.query(BEGIN_PROJECT, [projectNumber]);
      const { traces, spans, isAll: isWhole } = await walk.list(turn, 'copied', project);
      for (const page of cutByBytes(spans)) {
        const copies = createCopies(await listCopies(projectNumber, page));
        for (const text of await readTexts({ client, projectNumber, minBytes }, page)) {
          const { same, others } = copies.of({ ...text, digest: hash('sha256', text.text) });
          writes.removeLater(others.map(({ place }) => place));
          if (same.length === 0) writes.add(text);
        }
        await writes.sendWhenFull();
      }
      const last = traces.at(-1);
      if (last !== undefined) writes.thenDo(() => client.query(advance('copied'), [projectNumber, last.atMs, last.id]));
      return isWhole;
    });
    try {
      return await isAll;
    } finally {
      await writes.end();
    }
  }

  /** Whether all that is due was moved, or has to wait. */
  async function moveSome(turn: Turn): Promise<boolean> {
    const { client } = turn;
    return await walk.forEachProject(turn, 'moved', async (project) => {
      const { projectNumber } = project;
      if ((waiting.get(projectNumber) ?? 0) > performance.now()) return true;
      areOlderRefused ||= await refuseOlder(client, log);
      if (!areOlderRefused) return true;
      const { traces, spans, isAll } = await walk.list(turn, 'moved', project);
      const left = new Set<number>();
      const pages = cutByBytes(spans, pageBytes.get(projectNumber));
      const listOf = (page: readonly SizedSpan[] | undefined) => {
        const listing = page === undefined ? Promise.resolve([]) : listCopies(projectNumber, page);
        // Whoever moves the page is told.
        listing.catch(() => undefined);
        return listing;
      };
      let next = listOf(pages[0]);
      for (const [index, page] of pages.entries()) {
        const written = await next;
        next = listOf(pages[index + 1]);
        for (const sequence of await movePage(turn, { projectNumber, traces, page, written })) left.add(sequence);
      }
      const bytes = 2 * (pageBytes.get(projectNumber) ?? BYTES_AT_ONCE);
      if (bytes < BYTES_AT_ONCE) pageBytes.set(projectNumber, bytes);
      else pageBytes.delete(projectNumber);
      // Waits for the first one that could not be moved.
      const end = traces.findIndex(({ sequence }) => left.has(sequence));
      const last = end < 0 ? traces.at(-1) : traces[end - 1];
      if (last !== undefined) await client.query(advance('moved'), [projectNumber, last.atMs, last.id]);
      if (end >= 0) waiting.set(projectNumber, performance.now() + WAITED_LOOKS * idleMs);
      else waiting.delete(projectNumber);
      return isAll || end >= 0;
    });
  }

  async function movePage(turn: Turn, page: Page): Promise<readonly number[]> {
    try {
      return await move(turn, page);
    } catch (error) {
      const bytes = page.page.reduce((sum, each) => sum + each.bytes, 0) / 2;
      if (isCancelled(error))
        pageBytes.set(page.projectNumber, Math.max(BYTES_MIN, Math.min(bytes, BYTES_AT_ONCE / 2)));
      throw error;
    }
  }

  function listCopies(projectNumber: number, page: readonly SizedSpan[]): Promise<readonly WrittenText[]> {
    return texts.list(page.map(({ sequence, spanId }) => ({ projectNumber, sequence, spanId })));
  }

  /** Returns the traces of which some texts stay for now. */
  async function move(turn: Turn, { projectNumber, traces, page, written }: Page): Promise<readonly number[]> {
    const { client } = turn;
    const reading = { client, projectNumber, minBytes };
    const sequences = [...new Set(page.map(({ sequence }) => sequence))];
    const listed = new Map(traces.map(({ sequence, atMs }) => [sequence, atMs]));
    let chosen: ReturnType<typeof choosePlaces>;
    await client.query(BEGIN);
    try {
      const { rows: locked } = await client.query<Trace>(LOCK_TRACES, [projectNumber, sequences]);
      const { rows: noted } = await client.query<{ place: string }>(LIST_LEAVING, [written.map(({ place }) => place)]);
      const leaving = new Set(noted.map(({ place }) => place));
      const nowMs = await readClock(client);
      chosen = choosePlaces({
        ...{ copies: createCopies(written), leaving },
        ...{ nowMs, writtenToMs: nowMs - halfMs },
      });
      // One that has changed is met again, behind all others.
      const same = new Set(
        locked.filter((each) => each.atMs === listed.get(each.sequence)).map((each) => each.sequence),
      );
      const kept = page.filter(({ sequence }) => same.has(sequence));
      const rows = await readDigests(reading, kept);
      const places = rows.map(chosen.of);
      await client.query(SET_REFERENCES, [
        ...[projectNumber, rows.map(({ sequence }) => sequence), rows.map(({ spanId }) => spanId)],
        ...COLUMNS.map((column) => places.map((each) => each[column])),
      ]);
      if (places.some((each) => COLUMNS.some((column) => each[column] !== null)))
        await client.query(NOTE_MOVED, [projectNumber]);
      await client.query('COMMIT');
      for (const { sequence } of locked) listed.delete(sequence);
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
    const { missing, staying, surplus } = chosen;
    await removeSurplus(turn, texts, surplus);
    if (missing.length > 0) {
      log.warn({ texts: missing.length }, 'ClickHouse lacks texts that it had: they are copied again');
      await texts.write(await readAgain(reading, missing, page), await readClock(client));
    }
    // Those that are left in it were locked by others, or are gone.
    return [...staying, ...sequences.filter((sequence) => listed.has(sequence))];
  }

  return {
    name: 'moving texts',
    async step() {
      if (performance.now() < idleUntilMs) return 'done';
      try {
        if ((await pool.withConnection((client) => whileLocked(client, MOVER_LOCK, () => step(client)))) === 'more')
          return 'more';
      } catch (error) {
        throw toFault(error);
      }
      idleUntilMs = performance.now() + idleMs;
      return 'done';
    },
  };
}

/** Of the database. */
async function readClock(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ nowMs: number }>(CLOCK);
  return rows[0]?.nowMs ?? 0;
}
