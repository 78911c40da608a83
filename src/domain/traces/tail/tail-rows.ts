/** Reads changed traces to send: each once for all subscribers of a change, and only a limited number per tick. */

import type { Project } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import { type Row, readRow } from '../trace-row.ts';
import type { Traces } from '../traces.ts';
import type { Change } from './subscriber.ts';

type TailRowsDeps = { readonly traces: Pick<Traces, 'get'>; readonly clock: Clock };

/** Reads compete with collecting traces, so most changes of a busy second wait or are dropped. */
const READ_PER_TICK = 60;
const KEPT_MAX_BYTES = 8 * 1024 * 1024;
const KEPT_TICKS = 8;

type Kept = { readonly row: Promise<Row | null>; readonly tick: number; bytes: number };

export function createTailRows({ traces, clock }: TailRowsDeps) {
  const kept = new Map<string, Kept>();
  const waiting: (() => void)[] = [];
  let left = READ_PER_TICK;
  let now = 0;
  let keptBytes = 0;

  async function load(project: Project, traceId: string, spansLimit: number): Promise<Row | null> {
    if (left > 0) left -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return await readRow(traces, { project, traceId, spansLimit, nowMs: clock() });
  }

  function drop(key: string, { bytes }: Kept): void {
    if (!kept.delete(key)) return;
    keptBytes -= bytes;
  }

  return {
    /** Null when the trace is erased. */
    read(project: Project, { traceId, readId }: Change, spansLimit: number): Promise<Row | null> {
      const key = JSON.stringify([project.number, traceId, readId, spansLimit]);
      const found = kept.get(key);
      if (found !== undefined) return found.row;
      const row = load(project, traceId, spansLimit);
      const entry: Kept = { row, tick: now, bytes: 0 };
      kept.set(key, entry);
      row.then(
        (loaded) => {
          if (kept.get(key) !== entry) return;
          entry.bytes = loaded?.bytes ?? 0;
          keptBytes += entry.bytes;
          if (keptBytes > KEPT_MAX_BYTES) drop(key, entry);
        },
        () => drop(key, entry),
      );
      return row;
    },
    /** Lets waiting reads start, and drops rows read KEPT_TICKS ago. */
    tick(): void {
      now += 1;
      left = READ_PER_TICK;
      for (; left > 0 && waiting.length > 0; left -= 1) waiting.shift()?.();
      for (const [key, entry] of kept) {
        if (entry.tick + KEPT_TICKS > now) break;
        drop(key, entry);
      }
    },
  };
}
