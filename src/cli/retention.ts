/** Tells whether deletions by age wait for the clock to be confirmed, and confirms it. */

import { JUMP_MAX_MS } from '../domain/management/retention-clock.ts';
import { withDatabase } from './database.ts';
import type { CommandIo } from './io.ts';

/** Resolves with what to print. Rejects with one line for the operator. */
export function retention(io: CommandIo, { isRelease }: { readonly isRelease: boolean }): Promise<string> {
  return withDatabase(io, async ({ store: { clock } }) => {
    const nowMs = Math.min(Date.now(), (await clock.nowMs()) ?? Number.POSITIVE_INFINITY);
    const { trustedAtMs, newestAtMs } = await clock.instants();
    const certainMs = trustedAtMs ?? newestAtMs ?? nowMs;
    const isAhead = nowMs - certainMs > JUMP_MAX_MS;
    const lines = [`the clock: ${toText(nowMs)}`, `certain:   ${toText(certainMs)}`];
    if (isRelease) {
      await clock.trust(nowMs);
      lines.push('the clock is confirmed; servers delete by it within a minute, or once they start');
    } else {
      lines.push(
        isAhead
          ? 'deletions by age wait: correct the clock, or confirm it with spandrel retention --release'
          : 'deletions by age follow the clock',
      );
    }
    return `${lines.join('\n')}\n`;
  });
}

function toText(atMs: number): string {
  return new Date(atMs).toISOString();
}
