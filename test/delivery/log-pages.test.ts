import { expect, it } from 'vitest';
import { createLogPages } from '../../src/delivery/log-pages.ts';
import type { LogEntry } from '../../src/domain/delivery/webhook-store.ts';

const entryOf = (seq: number, id: string): LogEntry => ({
  ...{ seq, id, type: 'gateway.request.completed', createdAtMs: 0, envelope: '{}' },
});

it('pages of a log that was replaced are read again, and answers on their way are ignored', () => {
  const pages = createLogPages();
  expect(pages.find(1, 1, 1)).toBeNull();
  const [late] = pages.takeRequests();
  pages.clear();
  expect(pages.find(1, 1, 1)).toBeNull();
  const [again] = pages.takeRequests();
  if (late === undefined || again === undefined) throw new Error('nothing is read');
  pages.add(late, [entryOf(1, 'lost')]);
  expect(pages.find(1, 1, 1)).toBeNull();
  pages.add(again, [entryOf(1, 'kept')]);
  expect(pages.find(1, 1, 1)?.entries.map(({ id }) => id)).toEqual(['kept']);
});
